// Small text files that go with a mesh: vertex lists, timed sources, probe points.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isochron/core/ids.h"
#include "isochron/core/vec.h"

namespace isochron {

/// One row of a source file.
struct SourceRow {
  VertexId vertex;
  std::optional<double> time;  ///< in the caller's unit; absent where the file does not give one
};

/// A CARP .vtx file: the number of ids, a line "intra" or "extra", then 0-based ids. Throws InputError.
std::vector<VertexId> read_vtx(const std::filesystem::path& path);

/// Rows "id [time]", 0-based, '#' comments; no time where it is not given. A .vtx file is read as such. Throws
/// InputError for a malformed row, a time that is not finite and a file without rows; ids are not checked against any
/// mesh.
std::vector<SourceRow> read_source_file(const std::filesystem::path& path);

/// Points and what they are called.
struct NamedPoints {
  std::vector<Vec3d> points;
  std::vector<std::string> names;  ///< one a point, empty where a row has none; no entry at all when no row has one
};

/// Rows "x y z" or "x y", separated by blanks, commas or semicolons, with '#' comments, one header line at most, and
/// optionally a name in front of each row or behind it. Of four numbers the first is the name, or the last when there
/// is a header that begins with x. Throws InputError.
NamedPoints read_points(const std::filesystem::path& path);

}  // namespace isochron
