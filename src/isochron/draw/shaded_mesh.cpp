#include "isochron/draw/shaded_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {
namespace {

/// Where the path turns back on itself the plane that halves the angle runs along it; corners go no farther than this,
/// in radii.
constexpr double longest_mitre = 2;

/// The rotation about a × b that takes a to b, both unit vectors, for a vector across a.
Vec3d carried(const Vec3d& v, const Vec3d& a, const Vec3d& b) {
  const double sum = 1 + dot(a, b);
  return sum > 1e-12 ? v - (dot(v, b) / sum) * (a + b) : v;  // straight back: v lies across both
}

Vec3d across(const Vec3d& direction) {
  const Vec3d size{std::abs(direction.x), std::abs(direction.y), std::abs(direction.z)};
  const Vec3d far = size.x <= size.y && size.x <= size.z ? Vec3d{1, 0, 0}
                    : size.y <= size.z                   ? Vec3d{0, 1, 0}
                                                         : Vec3d{0, 0, 1};
  const Vec3d v = cross(direction, far);
  return v / norm(v);
}

/// The points of the path that differ from the one before.
std::vector<std::uint32_t> distinct_points(std::span<const Vec3d> path, double nearest) {
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (result.empty() || norm(path[i] - path[result.back()]) > nearest)
      result.push_back(static_cast<std::uint32_t>(i));
  return result;
}

class TubeMaker {
 public:
  TubeMaker(std::span<const Vec3d> path, const TubeOptions& options)
      : path_(path), radius_(options.radius), sides_(options.sides), cap_rings_(std::max(2, options.sides / 4)) {}

  Tube run() {
    const auto at = distinct_points(path_, 1e-6 * radius_);
    if (at.empty()) return {};
    const auto direction = [&](std::size_t piece) {
      const Vec3d step = path_[at[piece + 1]] - path_[at[piece]];
      return step / norm(step);
    };
    const std::size_t pieces = at.size() - 1;
    Vec3d along = pieces > 0 ? direction(0) : Vec3d{0, 0, 1};
    start_frame(along);
    add_vertex(at[0], path_[at[0]] - radius_ * along, -along);
    for (int ring = cap_rings_ - 1; ring >= 0; --ring) add_cap_ring(at[0], -along, ring);
    for (std::size_t i = 1; i < pieces; ++i) {
      const Vec3d next = direction(i);
      turn(at[i], along, next);
      along = next;
    }
    for (int ring = pieces > 0 ? 0 : 1; ring < cap_rings_; ++ring) add_cap_ring(at[pieces], along, ring);
    add_vertex(at[pieces], path_[at[pieces]] + radius_ * along, along);
    join_poles();
    return std::move(tube_);
  }

 private:
  /// Offsets of the corners from the path, across the first piece.
  void start_frame(const Vec3d& along) {
    const Vec3d u = across(along), v = cross(along, u);
    for (int s = 0; s < sides_; ++s) {
      const double angle = 2 * std::numbers::pi * s / sides_;
      corners_.push_back(radius_ * (std::cos(angle) * u + std::sin(angle) * v));
    }
  }

  /// Slides the corners along the piece into the plane that halves the angle to the next one.
  void turn(std::uint32_t at, const Vec3d& along, const Vec3d& next) {
    const Vec3d sum = along + next;
    const bool straight_back = norm(sum) < 1e-6;
    for (Vec3d& corner : corners_) {
      Vec3d mitred = corner;
      if (!straight_back) mitred -= (dot(corner, sum) / dot(along, sum)) * along;
      const double length = norm(mitred);
      if (length > longest_mitre * radius_) mitred = (longest_mitre * radius_ / length) * mitred;
      const Vec3d before = corner;
      corner = carried(corner, along, next);
      add_vertex(at, path_[at] + mitred, before + corner);
    }
    join_ring();
  }

  /// Of the half ball around an end of the path; ring 0 is its base.
  void add_cap_ring(std::uint32_t at, const Vec3d& outward, int ring) {
    const double angle = std::numbers::pi / 2 * ring / cap_rings_;
    for (const Vec3d& corner : corners_) {
      const Vec3d offset = std::cos(angle) * corner + (std::sin(angle) * radius_) * outward;
      add_vertex(at, path_[at] + offset, offset);
    }
    join_ring();
  }

  void add_vertex(std::uint32_t at, const Vec3d& position, const Vec3d& normal) {
    const Vec3d unit = normal / norm(normal);
    tube_.mesh.points.push_back(position);
    tube_.normals.push_back({static_cast<float>(unit.x), static_cast<float>(unit.y), static_cast<float>(unit.z)});
    tube_.point_of.push_back(at);
  }

  /// The band between the last ring and the one before, if there is one.
  void join_ring() {
    const std::size_t upper = tube_.mesh.points.size() - corners_.size(), lower = upper - corners_.size();
    if (upper == 1) return;
    for (std::size_t s = 0; s < corners_.size(); ++s) {
      const std::size_t next = (s + 1) % corners_.size();
      tube_.mesh.elements.push_back({VertexId(lower + s), VertexId(lower + next), VertexId(upper + next)});
      tube_.mesh.elements.push_back({VertexId(lower + s), VertexId(upper + next), VertexId(upper + s)});
    }
  }

  void join_poles() {
    const std::size_t pole = tube_.mesh.points.size() - 1, last = pole - corners_.size();
    for (std::size_t s = 0; s < corners_.size(); ++s) {
      const std::size_t next = (s + 1) % corners_.size();
      tube_.mesh.elements.push_back({VertexId(0), VertexId(1 + next), VertexId(1 + s)});
      tube_.mesh.elements.push_back({VertexId(last + s), VertexId(last + next), VertexId(pole)});
    }
  }

  std::span<const Vec3d> path_;
  double radius_;
  int sides_;
  int cap_rings_;
  std::vector<Vec3d> corners_;  // offsets from the path, across the current piece
  Tube tube_;
};

}  // namespace

Tube make_tube(std::span<const Vec3d> path, const TubeOptions& options) {
  if (!(options.radius > 0 && std::isfinite(options.radius)))
    throw UsageError(fmt::format("a tube of radius {} cannot be drawn; give a positive length", options.radius));
  if (options.sides < 3)
    throw UsageError(fmt::format("a tube of {} sides has no inside; give 3 or more", options.sides));
  for (const Vec3d& p : path)
    if (!(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)))
      throw UsageError("a path has a point that is not finite, so no tube can be drawn around it; leave it out");
  return TubeMaker(path, options).run();
}

namespace {

/// sign(x) |x|^e; rounding beside zero stays zero whatever the exponent.
double signed_power(double x, double e) { return std::abs(x) < 1e-9 ? 0 : std::copysign(std::pow(std::abs(x), e), x); }

/// Powers of the sine and cosine of an angle: a point of the curve |x|^(2/e) + |y|^(2/e) = 1 and its normal there.
struct CurvePoint {
  double x = 0, y = 0, normal_x = 0, normal_y = 0;
};

CurvePoint curve_point(double angle, double exponent) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {signed_power(c, exponent), signed_power(s, exponent), signed_power(c, 2 - exponent),
          signed_power(s, 2 - exponent)};
}

/// A glyph's half axes, the main one last, right-handed.
struct GlyphFrame {
  std::array<Vec3d, 3> direction;  // unit
  Vec3d length;
};

struct Glyph {
  Vec3d position;
  GlyphShape shape;
  GlyphFrame frame;
  Color color{};
};

/// What all glyphs of a mesh have in common: rings of vertices around the main axis between two poles.
struct Grid {
  int sides = 0, rings = 0;  // rings without the poles
  [[nodiscard]] std::size_t vertices() const { return static_cast<std::size_t>(sides * rings + 2); }
  [[nodiscard]] std::size_t triangles() const { return static_cast<std::size_t>(2 * sides * rings); }
};

Grid grid_of(int sides) { return {sides, sides / 2 - 1}; }

Vec3f single(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

class GlyphWriter {
 public:
  GlyphWriter(const Grid& grid, ShadedMesh& result) : grid_(grid), result_(result) {}

  void write(const Glyph& glyph, std::size_t index) {
    vertex_ = index * grid_.vertices();
    const std::size_t first = vertex_;
    around_.clear();
    for (int s = 0; s < grid_.sides; ++s)
      around_.push_back(curve_point(2 * std::numbers::pi * s / grid_.sides, glyph.shape.alpha));
    add(glyph, {0, 0, -1}, {0, 0, -1});
    for (int r = 1; r <= grid_.rings; ++r) {
      // From one pole to the other; x runs along the main axis.
      const CurvePoint up = curve_point(std::numbers::pi * (1 - static_cast<double>(r) / (grid_.rings + 1)),  //
                                        glyph.shape.beta);
      for (const CurvePoint& p : around_)
        add(glyph, {p.x * up.y, p.y * up.y, up.x}, {p.normal_x * up.normal_y, p.normal_y * up.normal_y, up.normal_x});
    }
    add(glyph, {0, 0, 1}, {0, 0, 1});
    write_triangles(first, index * grid_.triangles());
  }

 private:
  void add(const Glyph& glyph, const Vec3d& point, const Vec3d& normal) {
    Vec3d position = glyph.position, outward;
    for (int a = 0; a < 3; ++a) {
      const Vec3d& axis = glyph.frame.direction[static_cast<std::size_t>(a)];
      position += (point[a] * glyph.frame.length[a]) * axis;
      outward += (normal[a] / glyph.frame.length[a]) * axis;
    }
    result_.mesh.points[vertex_] = position;
    result_.normals[vertex_] = single(outward / norm(outward));
    result_.colors[vertex_] = glyph.color;
    ++vertex_;
  }

  void write_triangles(std::size_t pole, std::size_t element) {
    const auto sides = static_cast<std::size_t>(grid_.sides), rings = static_cast<std::size_t>(grid_.rings);
    const std::size_t other = pole + grid_.vertices() - 1;
    const auto put = [&](std::size_t a, std::size_t b, std::size_t c) {
      result_.mesh.elements[element++] = {VertexId(a), VertexId(b), VertexId(c)};
    };
    const auto id = [&](std::size_t ring, std::size_t side) { return pole + 1 + ring * sides + side % sides; };
    for (std::size_t s = 0; s < sides; ++s) {
      put(pole, id(0, s + 1), id(0, s));
      for (std::size_t r = 0; r + 1 < rings; ++r) {
        put(id(r, s), id(r, s + 1), id(r + 1, s + 1));
        put(id(r, s), id(r + 1, s + 1), id(r + 1, s));
      }
      put(id(rings - 1, s), id(rings - 1, s + 1), other);
    }
  }

  Grid grid_;
  ShadedMesh& result_;
  std::size_t vertex_ = 0;
  std::vector<CurvePoint> around_;
};

bool drawable(const Vec3d& values) {
  return values.x > 0 && std::isfinite(values.x) && std::isfinite(values.y) && std::isfinite(values.z);
}

Glyph glyph_of(const TensorAt& at, const EigenSystem3<double>& eigen, const GlyphOptions& options) {
  const double longest = eigen.values.x;
  const auto length = [&](double value) { return options.size * std::max(value / longest, options.min_thickness); };
  const Vec3d first = eigen.vectors[0], second = eigen.vectors[1], third = cross(first, second);
  const double l1 = length(eigen.values.x), l2 = length(eigen.values.y), l3 = length(eigen.values.z);
  Glyph glyph{at.position, glyph_shape(tensor_shape(eigen.values), options.sharpness), {}, direction_color(first)};
  if (glyph.shape.main == GlyphShape::Axis::largest) glyph.frame = {{second, third, first}, {l2, l3, l1}};
  else glyph.frame = {{first, second, third}, {l1, l2, l3}};
  return glyph;
}

void check(const GlyphOptions& options) {
  if (!(options.size > 0 && std::isfinite(options.size)))
    throw UsageError(fmt::format("glyphs of size {} cannot be drawn; give a positive length", options.size));
  if (!(options.sharpness >= 0 && std::isfinite(options.sharpness)))
    throw UsageError(fmt::format("a sharpness of {} makes no sense; give 0 or more, usually 3", options.sharpness));
  if (!(options.min_thickness > 0 && options.min_thickness <= 1))
    throw UsageError(fmt::format("a thickness of {} makes no sense (it is a share of the longest axis); give 0.05",
                                 options.min_thickness));
  if (options.sides != 0 && (options.sides < 4 || options.sides % 4 != 0))
    throw UsageError(fmt::format("glyphs of {} sides are not symmetric; give a multiple of 4", options.sides));
}

}  // namespace

TensorShape tensor_shape(const Vec3d& eigenvalues) {
  const double a = std::max(eigenvalues.x, 0.0), b = std::max(eigenvalues.y, 0.0), c = std::max(eigenvalues.z, 0.0);
  const double sum = a + b + c;
  if (!(sum > 0)) return {};
  return {(a - b) / sum, 2 * (b - c) / sum, 3 * c / sum};
}

GlyphShape glyph_shape(const TensorShape& shape, double sharpness) {
  const auto rounded = [&](double share) { return std::max(std::pow(std::max(1 - share, 0.0), sharpness), 0.02); };
  if (shape.linear >= shape.planar) return {rounded(shape.planar), rounded(shape.linear), GlyphShape::Axis::largest};
  return {rounded(shape.linear), rounded(shape.planar), GlyphShape::Axis::smallest};
}

int glyph_sides(std::size_t glyphs, std::size_t max_vertices) {
  for (const int sides : {32, 24, 16, 12})
    if (glyphs * grid_of(sides).vertices() <= max_vertices) return sides;
  return 8;
}

ShadedMesh superquadric_glyphs(std::span<const TensorAt> tensors, const GlyphOptions& options) {
  check(options);
  std::vector<Glyph> glyphs;
  for (const TensorAt& at : tensors) {
    const EigenSystem3<double> eigen = eigen_system(at.tensor);
    if (drawable(eigen.values)) glyphs.push_back(glyph_of(at, eigen, options));
  }
  const Grid grid = grid_of(options.sides > 0 ? options.sides : glyph_sides(glyphs.size(), options.max_vertices));
  const std::size_t vertices = glyphs.size() * grid.vertices();
  if (vertices >= VertexId::invalid_value)
    throw UsageError(fmt::format("{} glyphs have more vertices than can be numbered; draw fewer", glyphs.size()));
  ShadedMesh result;
  result.mesh.points.resize(vertices);
  result.normals.resize(vertices);
  result.colors.resize(vertices);
  result.mesh.elements.resize(glyphs.size() * grid.triangles());
  parallel_region(options.threads, [&](int thread, int team) {
    GlyphWriter writer(grid, result);
    const std::size_t from = glyphs.size() * static_cast<std::size_t>(thread) / static_cast<std::size_t>(team);
    const std::size_t to = glyphs.size() * static_cast<std::size_t>(thread + 1) / static_cast<std::size_t>(team);
    for (std::size_t g = from; g < to; ++g) writer.write(glyphs[g], g);
  });
  return result;
}

}  // namespace isochron
