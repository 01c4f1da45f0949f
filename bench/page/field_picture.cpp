#include "bench/page/field_picture.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "bench/page/png.h"
#include "isochron/draw/color_map.h"

namespace isochron::bench {
namespace {

constexpr int fine = 3;  // samples along each side of a pixel
constexpr double inf = std::numeric_limits<double>::infinity();

struct Sample {
  double depth = -inf;  ///< towards the eye; nothing is seen where it is −inf
  float value = 0;
  float light = 1;
};

/// The eye's axes: right, up and towards it.
std::array<Vec3d, 3> axes_of(const Vec3d& to_eye) {
  const Vec3d eye = to_eye / norm(to_eye);
  const Vec3d up = std::abs(eye.z) > 0.999 ? Vec3d{0, 1, 0} : Vec3d{0, 0, 1};
  const Vec3d across = cross(up, eye);
  const Vec3d right = across / norm(across);
  return {right, cross(eye, right), eye};
}

/// Samples of what the eye sees, without perspective.
class Canvas {
 public:
  Canvas(std::span<const Vec3d> points, const FieldView& view) : axes_(axes_of(view.to_eye)) {
    for (const Vec3d& p : points) {
      const Vec3d q = turned(p);
      for (int a = 0; a < 2; ++a) low_[a] = std::min(low_[a], q[a]), high_[a] = std::max(high_[a], q[a]);
    }
    const double extent = std::max(high_[0] - low_[0], high_[1] - low_[1]);
    const double margin = 4.0 * fine;
    scale_ = extent > 0 ? (fine * view.size - 2 * margin) / extent : 1;
    const auto pixels = [&](int a) {
      return std::max(1, static_cast<int>(std::ceil(((high_[a] - low_[a]) * scale_ + 2 * margin) / fine)));
    };
    width_ = pixels(0), height_ = pixels(1);
    margin_ = margin;
    samples_.resize(static_cast<std::size_t>(columns()) * rows());
  }

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] int columns() const { return fine * width_; }
  [[nodiscard]] int rows() const { return fine * height_; }
  [[nodiscard]] const Sample& at(int x, int y) const {
    return samples_[static_cast<std::size_t>(y) * columns() + static_cast<std::size_t>(x)];
  }

  void draw(const std::array<Vec3d, 3>& corners, const std::array<double, 3>& values) {
    std::array<Vec3d, 3> p;
    for (std::size_t c = 0; c < 3; ++c) p[c] = placed(corners[c]);
    const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
    if (!(std::abs(area) > 1e-12)) return;
    const float light = light_of(corners);
    const auto [left, right] = std::minmax({p[0].x, p[1].x, p[2].x});
    const auto [top, bottom] = std::minmax({p[0].y, p[1].y, p[2].y});
    for (int y = std::max(0, ceil_of(top)); y <= std::min(rows() - 1, floor_of(bottom)); ++y)
      for (int x = std::max(0, ceil_of(left)); x <= std::min(columns() - 1, floor_of(right)); ++x) {
        std::array<double, 3> w{};
        for (std::size_t c = 0; c < 3; ++c) {
          const Vec3d &a = p[(c + 1) % 3], &b = p[(c + 2) % 3];
          w[c] = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
        }
        if (w[0] < -1e-9 || w[1] < -1e-9 || w[2] < -1e-9) continue;
        const double depth = w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z;
        Sample& sample = samples_[static_cast<std::size_t>(y) * columns() + static_cast<std::size_t>(x)];
        if (depth <= sample.depth) continue;
        sample = {depth, static_cast<float>(w[0] * values[0] + w[1] * values[1] + w[2] * values[2]), light};
      }
  }

 private:
  static int ceil_of(double value) { return static_cast<int>(std::ceil(value)); }
  static int floor_of(double value) { return static_cast<int>(std::floor(value)); }
  [[nodiscard]] Vec3d turned(const Vec3d& p) const { return {dot(p, axes_[0]), dot(p, axes_[1]), dot(p, axes_[2])}; }
  [[nodiscard]] Vec3d placed(const Vec3d& point) const {
    const Vec3d q = turned(point);
    return {margin_ + (q.x - low_[0]) * scale_, margin_ + (high_[1] - q.y) * scale_, q.z};
  }
  /// From the eye's side and a little from above and the left: both sides of a triangle are lit.
  [[nodiscard]] float light_of(const std::array<Vec3d, 3>& corners) const {
    const Vec3d normal = turned(cross(corners[1] - corners[0], corners[2] - corners[0]));
    const double length = norm(normal);
    if (!(length > 0)) return 1;
    const Vec3d facing = (normal.z < 0 ? -1.0 : 1.0) / length * normal;
    return static_cast<float>(std::clamp(0.5 + 0.5 * dot(facing, {-0.25, 0.35, 0.9}), 0.45, 1.0));
  }

  std::array<Vec3d, 3> axes_;
  std::array<double, 2> low_{inf, inf}, high_{-inf, -inf};
  double scale_ = 1, margin_ = 0;
  int width_ = 1, height_ = 1;
  std::vector<Sample> samples_;
};

/// Colours of values, and on which side of which line they are.
class Colors {
 public:
  Colors(std::pair<double, double> range, double spacing) : range_(range), spacing_(spacing), map_(color_map(256)) {}

  [[nodiscard]] Color of(const Sample& sample) const {
    Color color = unreached_color;
    if (std::isfinite(sample.value)) {
      const double width = range_.second - range_.first;
      const double share = width > 0 ? (sample.value - range_.first) / width : 0;
      color = map_[static_cast<std::size_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)))];
    }
    for (std::uint8_t& c : color) c = static_cast<std::uint8_t>(std::lround(static_cast<double>(sample.light) * c));
    return color;
  }
  /// The same for values between two lines.
  [[nodiscard]] double band(const Sample& sample) const {
    return spacing_ > 0 && std::isfinite(sample.value) ? std::floor(sample.value / spacing_) : -1;
  }

 private:
  std::pair<double, double> range_;
  double spacing_;
  std::vector<Color> map_;
};

/// A line runs where neighbouring samples of one surface lie in different bands.
bool on_line(const Canvas& canvas, const Colors& colors, int x, int y) {
  const Sample& here = canvas.at(x, y);
  const double band = colors.band(here);
  for (const auto& [dx, dy] : {std::pair{1, 0}, {0, 1}, {1, 1}}) {
    if (x + dx >= canvas.columns() || y + dy >= canvas.rows()) continue;
    const Sample& next = canvas.at(x + dx, y + dy);
    if (std::isfinite(next.depth) && colors.band(next) != band) return true;
  }
  return false;
}

std::vector<Color> pixels_of(const Canvas& canvas, const Colors& colors) {
  constexpr Color line{25, 25, 25}, nothing{255, 255, 255};
  std::vector<Color> pixels;
  pixels.reserve(static_cast<std::size_t>(canvas.width()) * canvas.height());
  for (int y = 0; y < canvas.height(); ++y)
    for (int x = 0; x < canvas.width(); ++x) {
      std::array<int, 3> sum{};
      for (int s = 0; s < fine * fine; ++s) {
        const int fx = fine * x + s % fine, fy = fine * y + s / fine;
        const Sample& sample = canvas.at(fx, fy);
        const Color color = !std::isfinite(sample.depth)      ? nothing
                            : on_line(canvas, colors, fx, fy) ? line
                                                              : colors.of(sample);
        for (std::size_t c = 0; c < 3; ++c) sum[c] += color[c];
      }
      Color mean{};
      for (std::size_t c = 0; c < 3; ++c) mean[c] = static_cast<std::uint8_t>(sum[c] / (fine * fine));
      pixels.push_back(mean);
    }
  return pixels;
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
  Canvas canvas(mesh.points, view);
  for (const auto& element : mesh.elements) {
    std::array<Vec3d, 3> corners;
    std::array<double, 3> at{};
    for (std::size_t c = 0; c < 3; ++c) {
      corners[c] = mesh.points[element[c].index()];
      at[c] = values[element[c].index()];
    }
    canvas.draw(corners, at);
  }
  const std::vector<Color> pixels = pixels_of(canvas, Colors(range, spacing));
  Picture picture{std::move(name), std::move(caption), png_of(pixels, static_cast<std::size_t>(canvas.width()))};
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
