#include "bench/page/field_picture.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "bench/page/canvas.h"
#include "bench/page/png.h"
#include "isochron/draw/color_map.h"

namespace isochron::bench {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// What a sample keeps of its triangle.
struct FieldShade {
  float value = 0;
  float light = 1;
};
using FieldCanvas = Canvas<FieldShade>;

/// Colours of values, and on which side of which line they are.
class Colors {
 public:
  Colors(std::pair<double, double> range, double spacing) : range_(range), spacing_(spacing), map_(color_map(256)) {}

  [[nodiscard]] Color of(const FieldShade& shade) const {
    Color color = unreached_color;
    if (std::isfinite(shade.value)) {
      const double width = range_.second - range_.first;
      const double share = width > 0 ? (shade.value - range_.first) / width : 0;
      color = map_[static_cast<std::size_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)))];
    }
    return darkened(color, shade.light);
  }
  /// The same for values between two lines.
  [[nodiscard]] double band(const FieldShade& shade) const {
    return spacing_ > 0 && std::isfinite(shade.value) ? std::floor(shade.value / spacing_) : -1;
  }

 private:
  std::pair<double, double> range_;
  double spacing_;
  std::vector<Color> map_;
};

/// A line runs where neighbouring samples of one surface lie in different bands.
bool on_line(const FieldCanvas& canvas, const Colors& colors, int x, int y) {
  const double band = colors.band(canvas.at(x, y).shade);
  for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}, {1, 1}}) {
    if (x + dx >= canvas.camera().columns() || y + dy >= canvas.camera().rows()) continue;
    const auto& next = canvas.at(x + dx, y + dy);
    if (next.seen() && colors.band(next.shade) != band) return true;
  }
  return false;
}

std::vector<Color> pixels_of(const FieldCanvas& canvas, const Colors& colors) {
  constexpr Color line{25, 25, 25};
  return canvas.pixels([&](int x, int y) {
    const auto& sample = canvas.at(x, y);
    if (!sample.seen()) return background;
    return on_line(canvas, colors, x, y) ? line : colors.of(sample.shade);
  });
}

std::pair<double, double> range_of(std::span<const double> values) {
  std::pair<double, double> range{inf, -inf};
  for (const double v : values)
    if (std::isfinite(v)) range = {std::min(range.first, v), std::max(range.second, v)};
  if (!(range.first < range.second))
    return std::isfinite(range.first) ? std::pair{range.first, range.first + 1} : std::pair{0.0, 1.0};
  return range;
}

}  // namespace

Picture surface_picture(std::string name, std::string caption, std::string label, const TriangleMesh& mesh,
                        std::span<const double> values, const FieldView& view) {
  assert(values.size() == mesh.vertex_count());
  const auto range = view.range.value_or(range_of(values));
  const double spacing = view.lines > 0 ? round_spacing(range.first, range.second, view.lines) : 0;
  FieldCanvas canvas(Camera(view.to_eye, view.size, mesh.points));
  for (const auto& element : mesh.elements) {
    std::array<Vec3d, 3> corners;
    std::array<double, 3> at{};
    for (std::size_t c = 0; c < 3; ++c) {
      corners[c] = mesh.points[element[c].index()];
      at[c] = values[element[c].index()];
    }
    const float light = canvas.camera().light_of(cross(corners[1] - corners[0], corners[2] - corners[0]));
    canvas.draw(corners, [&](const Weights& w) {
      return FieldShade{static_cast<float>(w[0] * at[0] + w[1] * at[1] + w[2] * at[2]), light};
    });
  }
  const std::vector<Color> pixels = pixels_of(canvas, Colors(range, spacing));
  Picture picture{std::move(name), std::move(caption),
                  png_of(pixels, static_cast<std::size_t>(canvas.camera().width()))};
  picture.legend = {std::move(label), range.first, range.second, spacing};
  return picture;
}

Picture volume_picture(std::string name, std::string caption, std::string label, const TetMesh& mesh,
                       std::span<const double> values, const std::optional<CutPlane>& cut, const FieldView& view) {
  Dataset volume;
  volume.points.assign(mesh.points.begin(), mesh.points.end());
  volume.tets.cells.assign(mesh.elements.begin(), mesh.elements.end());
  volume.point_data.set({"value", 1, std::vector<double>(values.begin(), values.end())});
  Dataset surface = boundary_surface(volume);
  if (cut) surface = merged_surfaces(clip_surface(surface, *cut), cut_face(volume, *cut));
  const auto& shown = std::get<std::vector<double>>(surface.point_data.require("value", "points").values);
  FieldView whole = view;
  if (!whole.range) whole.range = range_of(values);
  return surface_picture(std::move(name), std::move(caption), std::move(label),
                         {surface.points, surface.triangles.cells}, shown, whole);
}

Picture slice_picture(std::string name, std::string caption, std::string label, const ImageGrid& grid,
                      std::span<const double> values, std::span<const std::uint8_t> mask, const Slice& slice,
                      FieldView view) {
  const auto across = static_cast<std::size_t>(slice.axis);
  const std::size_t a = slice.axis == 0 ? 1 : 0, b = slice.axis == 2 ? 1 : 2;
  const std::size_t columns = grid.shape[a], rows = grid.shape[b];
  const auto voxel = [&](std::size_t i, std::size_t j) {
    std::array<std::uint32_t, 3> index{};
    index[a] = static_cast<std::uint32_t>(i), index[b] = static_cast<std::uint32_t>(j), index[across] = slice.index;
    return grid.voxel(index[0], index[1], index[2]);
  };
  const auto inside = [&](std::size_t i, std::size_t j) { return mask.empty() || mask[voxel(i, j).index()] != 0; };
  // Voxels as squares of one value, a little behind triangles between their centres, which have the lines.
  TriangleMesh mesh;
  std::vector<double> at;
  const auto step = [&](std::size_t axis) {  // an axis that runs against the world's is turned round
    const Vec3d& d = grid.axes[axis];
    const double largest = std::max({d.x, d.y, d.z, -d.x, -d.y, -d.z});
    return (std::max({d.x, d.y, d.z}) == largest ? 1 : -1) * grid.spacing(static_cast<int>(axis));
  };
  const double da = step(a), db = step(b), behind = -std::abs(da);
  const auto add_quad = [&](const std::array<std::array<double, 4>, 4>& corners) {  // position and value
    const auto first = static_cast<std::uint32_t>(mesh.points.size());
    for (const auto& [x, y, z, value] : corners) {
      mesh.points.push_back({x, y, z});
      at.push_back(value);
    }
    mesh.elements.push_back({VertexId(first), VertexId(first + 1), VertexId(first + 2)});
    mesh.elements.push_back({VertexId(first), VertexId(first + 2), VertexId(first + 3)});
  };
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns; ++i) {
      if (!inside(i, j)) continue;
      const double x = da * static_cast<double>(i), y = db * static_cast<double>(j);
      const double v = values[voxel(i, j).index()];
      add_quad({{{x - da / 2, y - db / 2, behind, v},
                 {x + da / 2, y - db / 2, behind, v},
                 {x + da / 2, y + db / 2, behind, v},
                 {x - da / 2, y + db / 2, behind, v}}});
      if (i + 1 == columns || j + 1 == rows || !inside(i + 1, j) || !inside(i, j + 1) || !inside(i + 1, j + 1))
        continue;
      add_quad({{{x, y, 0, v},
                 {x + da, y, 0, values[voxel(i + 1, j).index()]},
                 {x + da, y + db, 0, values[voxel(i + 1, j + 1).index()]},
                 {x, y + db, 0, values[voxel(i, j + 1).index()]}}});
    }
  if (mesh.points.empty()) add_quad({{{0, 0, 0, inf}, {1, 0, 0, inf}, {1, 1, 0, inf}, {0, 1, 0, inf}}});
  view.to_eye = {0, 0, 1};
  return surface_picture(std::move(name), std::move(caption), std::move(label), mesh, at, view);
}

}  // namespace isochron::bench
