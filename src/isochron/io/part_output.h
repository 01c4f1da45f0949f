// Sets of pieces written by several processes at once, each its own piece.
#pragma once

#include <filesystem>

#include "isochron/comm/collectives.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/io/io.h"

namespace isochron {

/// Before any work: throws UsageError unless the name is that of a set that can hold such elements (.pvtu, or .pvtp for
/// triangles), and like `check_output_file` for the index and the first piece.
void check_set_name(const std::filesystem::path& path, Overwrite overwrite);
template <int Corners>
void check_set_holds(const std::filesystem::path& path);

/// All processes together: each writes its part as the piece of its number, and one of them the index. The set is there
/// when all have succeeded; otherwise nothing of it is, and all throw the same RuntimeError. An old set of this name is
/// replaced.
template <int Corners>
void write_parts(Communicator& communicator, const std::filesystem::path& path, PartData<Corners> data);

}  // namespace isochron
