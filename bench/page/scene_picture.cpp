#include "bench/page/scene_picture.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "bench/page/png.h"
#include "isochron/draw/image_isosurface.h"

namespace isochron::bench {
namespace {

constexpr Color frame_color{190, 30, 45};

using SceneCanvas = Canvas<Color>;

/// How far a sample is from the sides of a triangle, in samples: of the nearest one.
class SideDistance {
 public:
  SideDistance(const Camera& camera, const std::array<Vec3d, 3>& corners) {
    std::array<Vec3d, 3> p;
    for (std::size_t c = 0; c < 3; ++c) p[c] = camera.place_of(corners[c]);
    const double area = std::abs((p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y));
    for (std::size_t c = 0; c < 3; ++c) {
      const Vec3d &a = p[(c + 1) % 3], &b = p[(c + 2) % 3];
      heights_[c] = area / std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-12);
    }
  }
  [[nodiscard]] double operator()(const Weights& w) const {
    return std::min({w[0] * heights_[0], w[1] * heights_[1], w[2] * heights_[2]});
  }

 private:
  std::array<double, 3> heights_{};
};

/// Whether the sides of a shape's triangles have some pixels on average.
bool shows_edges(const Shape& shape, const Camera& camera) {
  constexpr double least = 5;
  if (!shape.edges) return false;
  double sum = 0;
  for (const auto& [a, b, c] : shape.mesh.elements) sum += norm(shape.mesh.point(b) - shape.mesh.point(a));
  return sum * camera.scale() / samples_per_pixel >= least * static_cast<double>(shape.mesh.element_count());
}

void draw_shape(SceneCanvas& canvas, const Shape& shape) {
  constexpr double half_line = 0.45 * samples_per_pixel, line_light = 0.4;
  const bool edges = shows_edges(shape, canvas.camera());
  for (std::size_t e = 0; e < shape.mesh.element_count(); ++e) {
    const auto& element = shape.mesh.elements[e];
    std::array<Vec3d, 3> corners;
    for (std::size_t c = 0; c < 3; ++c) corners[c] = shape.mesh.point(element[c]);
    std::array<double, 3> lights{1, 1, 1};
    for (std::size_t c = 0; c < 3 && shape.light != Shape::Light::none; ++c) {
      const bool smooth = shape.light == Shape::Light::smooth;
      const Vec3f n = smooth ? shape.normals[element[c].index()] : Vec3f{};
      lights[c] = canvas.camera().light_of(smooth ? Vec3d{n.x, n.y, n.z}
                                                  : cross(corners[1] - corners[0], corners[2] - corners[0]));
    }
    const SideDistance distance(canvas.camera(), corners);
    canvas.draw(corners, [&](const Weights& w) {
      double light = w[0] * lights[0] + w[1] * lights[1] + w[2] * lights[2];
      if (edges && distance(w) < half_line) light *= line_light;
      return darkened(shape.color_at(e, w), std::clamp(light, 0.0, 1.0));
    });
  }
}

/// A value between voxels, of those around it that have one, and their share.
struct CloudSample {
  double value = 0, share = 0;
};

CloudSample sample_cloud(const Cloud& cloud, const Vec3d& point) {
  const Vec3d at = cloud.grid.index_of(point);
  std::array<long, 3> low{};
  for (int a = 0; a < 3; ++a) low[static_cast<std::size_t>(a)] = std::lround(std::floor(at[a]));
  CloudSample sample;
  for (unsigned corner = 0; corner < 8; ++corner) {
    std::array<std::uint32_t, 3> index{};
    double weight = 1;
    bool inside = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const long upper = corner >> a & 1U, i = low[a] + upper;
      const double over = at[static_cast<int>(a)] - static_cast<double>(low[a]);
      weight *= upper == 1 ? over : 1 - over;
      inside = inside && i >= 0 && i < static_cast<long>(cloud.grid.shape[a]);
      index[a] = static_cast<std::uint32_t>(i);
    }
    if (!inside) continue;
    const double value = cloud.values[cloud.grid.voxel(index[0], index[1], index[2]).index()];
    if (!std::isfinite(value)) continue;
    sample.value += weight * value;
    sample.share += weight;
  }
  if (sample.share > 0) sample.value /= sample.share;
  return sample;
}

/// Looks through a cloud, one ray a pixel, at what is behind.
class CloudLayer {
 public:
  CloudLayer(const Cloud& cloud, const Camera& camera) : cloud_(cloud), camera_(camera), map_(color_map(256)) {
    step_ = 0.25 * std::min({cloud.grid.spacing(0), cloud.grid.spacing(1), cloud.grid.spacing(2)});
    for (std::size_t v = 0; v < cloud.values.size(); ++v) {
      if (!(cloud.values[v] < cloud.high)) continue;
      const double depth = camera.place_of(cloud.grid.position(VertexId(v))).z;
      nearest_ = std::max(nearest_, depth + 4 * step_);
      farthest_ = std::min(farthest_, depth - 4 * step_);
    }
  }

  /// The colour of a pixel in front of another that lies at some depth.
  [[nodiscard]] Color over(const Color& behind, double depth, double x, double y) const {
    std::array<double, 3> sum{};
    double clear = 1;
    for (double z = nearest_; z > std::max(farthest_, depth) && clear > 0.01; z -= step_) {
      const CloudSample here = sample_cloud(cloud_, camera_.point_at({x, y, z}));
      if (here.share <= 0 || here.value >= cloud_.high) continue;
      const double share = std::clamp((here.value - cloud_.low) / (cloud_.high - cloud_.low), 0.0, 1.0);
      const double hidden = 1 - std::exp(-cloud_.density * here.share * (1 - share) * (1 - share) * step_);
      const Color& color = map_[static_cast<std::size_t>(std::lround(255 * share))];
      for (std::size_t c = 0; c < 3; ++c) sum[c] += clear * hidden * color[c];
      clear *= 1 - hidden;
    }
    Color result{};
    for (std::size_t c = 0; c < 3; ++c)
      result[c] = static_cast<std::uint8_t>(std::lround(std::min(sum[c] + clear * behind[c], 255.0)));
    return result;
  }

 private:
  const Cloud& cloud_;
  const Camera& camera_;
  std::vector<Color> map_;
  double step_ = 1;
  double nearest_ = -std::numeric_limits<double>::infinity(), farthest_ = std::numeric_limits<double>::infinity();
};

void add_cloud(const Cloud& cloud, const SceneCanvas& canvas, std::vector<Color>& pixels) {
  const CloudLayer layer(cloud, canvas.camera());
  constexpr int n = samples_per_pixel;
  for (int y = 0; y < canvas.camera().height(); ++y)
    for (int x = 0; x < canvas.camera().width(); ++x) {
      Color& pixel = pixels[static_cast<std::size_t>(y) * canvas.camera().width() + static_cast<std::size_t>(x)];
      const int column = n * x + n / 2, row = n * y + n / 2;
      pixel = layer.over(pixel, canvas.at(column, row).depth, column, row);
    }
}

/// A frame two pixels wide, inside the picture.
void draw_frame(Raster& raster, int left, int top, int right, int bottom) {
  constexpr int wide = 2;
  left = std::max(0, left), top = std::max(0, top);
  right = std::min(right, static_cast<int>(raster.width) - 1);
  bottom = std::min(bottom, static_cast<int>(raster.height()) - 1);
  for (int y = top; y <= bottom; ++y)
    for (int x = left; x <= right; ++x)
      if (x < left + wide || x > right - wide || y < top + wide || y > bottom - wide)
        raster.pixels[static_cast<std::size_t>(y) * raster.width + static_cast<std::size_t>(x)] = frame_color;
}

}  // namespace

Color Shape::color_at(std::size_t triangle, const Weights& weights) const {
  if (colors_of == ColorsOf::whole) return colors.front();
  if (colors_of == ColorsOf::triangles) return colors[triangle];
  Color mixed{};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t corner = 0; corner < 3; ++corner)
      sum += weights[corner] * colors[mesh.elements[triangle][corner].index()][c];
    mixed[c] = static_cast<std::uint8_t>(std::lround(std::clamp(sum, 0.0, 255.0)));
  }
  return mixed;
}

Shape smooth_shape(TriangleMesh mesh, Color color) {
  Shape shape{std::move(mesh), {color}, Shape::ColorsOf::whole, Shape::Light::smooth};
  shape.normals = vertex_normals(shape.mesh);
  return shape;
}

Shape shape_of(ShadedMesh mesh, std::optional<Color> color) {
  Shape shape{std::move(mesh.mesh), {}, Shape::ColorsOf::vertices, Shape::Light::smooth};
  shape.colors = color ? std::vector{*color} : std::move(mesh.colors);
  if (color) shape.colors_of = Shape::ColorsOf::whole;
  shape.normals = std::move(mesh.normals);
  return shape;
}

Shape grey_slice(const ImageGrid& grid, std::span<const double> values, std::span<const std::uint8_t> mask, int axis,
                 std::uint32_t index) {
  const auto across = static_cast<std::size_t>(axis);
  const std::size_t a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  Shape shape;
  shape.colors_of = Shape::ColorsOf::vertices;
  shape.light = Shape::Light::none;
  const auto voxel = [&](std::uint32_t i, std::uint32_t j) {
    std::array<std::uint32_t, 3> at{};
    at[a] = i, at[b] = j, at[across] = index;
    return grid.voxel(at[0], at[1], at[2]);
  };
  const std::uint32_t columns = grid.shape[a], rows = grid.shape[b];
  for (std::uint32_t j = 0; j < rows; ++j)
    for (std::uint32_t i = 0; i < columns; ++i) {
      const VertexId v = voxel(i, j);
      const double value = std::isfinite(values[v.index()]) ? std::clamp(values[v.index()], 0.0, 1.0) : 0;
      const auto grey = static_cast<std::uint8_t>(std::lround(255 * value));
      shape.mesh.points.push_back(grid.position(v));
      shape.colors.push_back({grey, grey, grey});
    }
  for (std::uint32_t j = 0; j + 1 < rows; ++j)
    for (std::uint32_t i = 0; i + 1 < columns; ++i) {
      const auto in = [&](std::uint32_t x, std::uint32_t y) { return mask[voxel(x, y).index()] != 0; };
      if (!in(i, j) || !in(i + 1, j) || !in(i, j + 1) || !in(i + 1, j + 1)) continue;
      const std::size_t at = i + std::size_t{columns} * j;
      const VertexId p(at), q(at + 1), r(at + columns + 1), s(at + columns);
      shape.mesh.elements.push_back({p, q, r});
      shape.mesh.elements.push_back({p, r, s});
    }
  return shape;
}

void Scene::add(Shape shape) {
  assert(shape.colors.size() == (shape.colors_of == Shape::ColorsOf::whole      ? 1
                                 : shape.colors_of == Shape::ColorsOf::vertices ? shape.mesh.vertex_count()
                                                                                : shape.mesh.element_count()));
  shapes_.push_back(std::move(shape));
}

std::size_t Scene::triangle_count() const {
  std::size_t count = 0;
  for (const Shape& shape : shapes_) count += shape.mesh.element_count();
  return count;
}

Camera Scene::camera_of(const SceneView& view) const {
  std::vector<Vec3d> points;
  for (const Shape& shape : shapes_)
    for (const auto& element : shape.mesh.elements)
      for (const VertexId v : element) points.push_back(shape.mesh.point(v));
  return {view.to_eye, view.size, points, view.zoom};
}

Raster Scene::drawn(const SceneView& view) const {
  SceneCanvas canvas(camera_of(view));
  for (const Shape& shape : shapes_) draw_shape(canvas, shape);
  Raster raster{static_cast<std::size_t>(canvas.camera().width()), canvas.pixels([&](int x, int y) {
                  const auto& sample = canvas.at(x, y);
                  return sample.seen() ? sample.shade : background;
                })};
  if (cloud_) add_cloud(*cloud_, canvas, raster.pixels);
  return raster;
}

Raster Scene::drawn_with_frame(const SceneView& view, const Zoom& zoom) const {
  Raster whole = drawn(view);
  const Camera camera = camera_of(view);
  const Vec3d at = camera.place_of(zoom.center);
  const double half = camera.scale() * zoom.half_side;
  const auto pixel = [](double sample) { return static_cast<int>(std::lround(sample / samples_per_pixel)); };
  draw_frame(whole, pixel(at.x - half), pixel(at.y - half), pixel(at.x + half), pixel(at.y + half));
  return whole;
}

Raster Scene::drawn_with_zoom(SceneView view, const Zoom& zoom) const {
  const Raster whole = drawn_with_frame(view, zoom);
  view.zoom = zoom;
  Raster near = drawn(view);
  draw_frame(near, 0, 0, static_cast<int>(near.width) - 1, static_cast<int>(near.height()) - 1);
  return side_by_side(whole, near);
}

Raster side_by_side(const Raster& left, const Raster& right) {
  constexpr std::size_t gap = 10;
  const std::size_t height = std::max(left.height(), right.height());
  Raster both{left.width + gap + right.width, {}};
  both.pixels.assign(both.width * height, background);
  const auto put = [&](const Raster& part, std::size_t column) {
    const std::size_t row = (height - part.height()) / 2;
    for (std::size_t y = 0; y < part.height(); ++y)
      std::copy_n(part.pixels.begin() + static_cast<std::ptrdiff_t>(y * part.width), part.width,
                  both.pixels.begin() + static_cast<std::ptrdiff_t>((row + y) * both.width + column));
  };
  put(left, 0);
  put(right, left.width + gap);
  return both;
}

Raster blended(const Raster& first, const Raster& second, double share) {
  assert(first.width == second.width && first.pixels.size() == second.pixels.size());
  Raster result = first;
  for (std::size_t i = 0; i < result.pixels.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      result.pixels[i][c] =
          static_cast<std::uint8_t>(std::lround((1 - share) * first.pixels[i][c] + share * second.pixels[i][c]));
  return result;
}

Picture picture_of(std::string name, std::string caption, const Raster& raster, PictureLegend legend) {
  return {std::move(name), std::move(caption), png_of(raster.pixels, raster.width), std::move(legend)};
}

}  // namespace isochron::bench
