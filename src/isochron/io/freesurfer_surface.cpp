#include "isochron/io/freesurfer_surface.h"

#include <fstream>

#include <fmt/format.h>

#include "isochron/io/byte_reader.h"
#include "isochron/io/scalar_type.h"
#include "isochron/io/text_scanner.h"

namespace isochron {
namespace {

constexpr std::string_view triangle_magic = "\xff\xff\xfe";
constexpr std::string_view quad_magic = "\xff\xff\xff";

std::size_t read_count(ByteReader& reader, std::string_view what) {
  const auto count = read_value<std::int32_t>(reader, Encoding::big_endian);
  if (count < 0) reader.fail(fmt::format("a number of {} below zero ({})", what, count));
  reader.require_room(static_cast<std::size_t>(count), 12);
  return static_cast<std::size_t>(count);
}

/// The volume's centre, from the text that newer files have at their end.
void note_shift(ByteReader& reader, Dataset& dataset) {
  constexpr std::size_t longest = 1 << 16;
  const std::string footer(reader.peek(longest));
  TextScanner scanner(reader.path(), footer, {.hash_comments = false, .separators = "="});
  if (!scanner.skip_past("cras")) return;
  const double x = scanner.coordinate(), y = scanner.coordinate(), z = scanner.coordinate();
  if (x == 0 && y == 0 && z == 0) return;
  dataset.warnings.push_back(
      fmt::format("coordinates are FreeSurfer's surface RAS; scanner RAS is {} {} {} further", x, y, z));
}

}  // namespace

bool is_freesurfer_surface(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string front(3, '\0');
  return file.read(front.data(), 3) && front == triangle_magic;
}

Dataset read_freesurfer_surface(const std::filesystem::path& path) {
  ByteReader reader(path);
  if (reader.peek(3) == quad_magic)
    reader.fail("is a surface of quads (an old format)", "convert it with mris_convert");
  if (reader.peek(3) != triangle_magic) reader.fail("is no FreeSurfer surface (its magic number is missing)");
  reader.skip(3);
  for (int line = 0; line < 2; ++line) reader.line();  // who made it, and an empty line
  const std::size_t points = read_count(reader, "points");
  const std::size_t triangles = read_count(reader, "triangles");
  reader.require_room(points + triangles, 12);
  Dataset dataset;
  dataset.points.resize(points);
  for (Vec3d& p : dataset.points)
    for (int d = 0; d < 3; ++d) p[d] = static_cast<double>(read_value<float>(reader, Encoding::big_endian));
  dataset.triangles.cells.resize(triangles);
  for (auto& cell : dataset.triangles.cells) {
    for (VertexId& id : cell) {
      const auto corner = read_value<std::int32_t>(reader, Encoding::big_endian);
      if (corner < 0 || static_cast<std::size_t>(corner) >= points)
        reader.fail(fmt::format("vertex {} in a triangle (there are {} vertices)", corner, points));
      id = VertexId(static_cast<std::size_t>(corner));
    }
  }
  note_shift(reader, dataset);
  return dataset;
}

}  // namespace isochron
