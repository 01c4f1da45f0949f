// The steps that commands on a mesh begin with.
#pragma once

#include <fmt/format.h>

#include "apps/isochron/solve.h"
#include "isochron/core/error.h"

namespace isochron::cli {

using Paths = std::vector<std::filesystem::path>;

/// Throws UsageError when `file` is one of `others`, however it is written.
void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why);

/// Reads the mesh and passes on the reader's warnings.
Dataset read_mesh(const SolveRequest& request, Console& console);

/// Corners of the elements to solve on.
int pick_elements(const SolveRequest& request, const Dataset& dataset);

/// Everything wrong with the data after it was read is still about that file.
template <class Work>
auto about_file(const std::filesystem::path& file, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.starts_with(file.string())) throw;
    throw InputError(fmt::format("{}: {}", file.string(), message));
  }
}

}  // namespace isochron::cli
