// --arrays: which arrays of its input a command writes, and which ones it has to read.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "apps/isochron/arguments.h"
#include "isochron/dataset.h"
#include "isochron/io.h"
#include "isochron/io/mesh/stored_mesh.h"

namespace isochron::cli {

struct SolveRequest;

/// --arrays; `what` says what the arrays are for.
void declare_arrays(Command& command, const std::string& what, ArrayNames& names);

/// The names of all arrays of a data set, each once.
std::vector<std::string> array_names(const Dataset& dataset);
/// Whether each of these names is there.
bool has_arrays(const ArrayNames& names, const std::vector<std::string>& there);
/// Throws InputError for a name of --arrays that is none of those there are.
void check_array_names(const ArrayNames& names, const std::vector<std::string>& there);
/// Leaves the arrays of these names alone; nothing means all.
void keep_arrays(const ArrayNames& names, DataArrays& data);
void keep_arrays(const ArrayNames& names, Dataset& dataset);

/// Reads a mesh with its `wanted` arrays, or with all when these are not `enough`: then a message can list them.
Dataset read_arrays(const std::filesystem::path& file, const ArrayNames& wanted,
                    const std::function<bool(const Dataset&)>& enough);

/// The same of a mesh that is written again.
MeshToKeep read_arrays(const std::filesystem::path& file, const std::filesystem::path& output, const ArrayUse& use,
                       const std::function<bool(const MeshToKeep&)>& enough);

/// The arrays of a mesh that a solve uses, and those that it writes.
ArrayUse array_use(const SolveRequest& request);
/// All of them.
inline ArrayNames wanted_arrays(const SolveRequest& request) { return array_use(request).names(); }
/// Whether a mesh that was read with these has all that the request names, and arrays of these names.
bool has_wanted_arrays(const SolveRequest& request, const Dataset& dataset, const std::vector<std::string>& there);
/// The names of --arrays that the input must have: results are written anyway.
ArrayNames kept_input_arrays(const SolveRequest& request);
/// Leaves the arrays of --arrays and the results alone.
void leave_out_arrays(const SolveRequest& request, DataArrays& data);

}  // namespace isochron::cli
