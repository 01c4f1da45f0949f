#include "isochron/mesh_quality.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "isochron/core/parallel.h"
#include "isochron/mesh/closest_point.h"

namespace isochron {

namespace {

/// In degrees, between 0 and 180; 0 when a vector has no length.
double angle_between(Vec3d a, Vec3d b) { return std::atan2(norm(cross(a, b)), dot(a, b)) * (180 / std::numbers::pi); }

/// The longest edge, by which coordinates are divided: products of several lengths would leave the range of a double.
template <int Corners>
double longest_edge(const std::array<Vec3d, Corners>& x) {
  double squared = 0;
  for (const auto& [a, b] : edge_corners<Corners>()) squared = std::max(squared, dot(x[b] - x[a], x[b] - x[a]));
  return std::sqrt(squared);
}

/// The element moved to the origin and scaled to a longest edge of 1. Empty for a point.
template <int Corners>
bool scaled(const std::array<Vec3d, Corners>& x, std::array<Vec3d, Corners>& unit) {
  const double longest = longest_edge<Corners>(x);
  if (!(longest > 0)) return false;
  for (int k = 0; k < Corners; ++k) unit[k] = (x[k] - x[0]) / longest;
  return true;
}

/// 0 for what is not a positive number: rounding leaves such from flat elements.
double ratio_or_zero(double above, double below) {
  const double ratio = above / below;
  return ratio > 0 ? std::min(ratio, 1.0) : 0.0;
}

/// What both measures of an element need.
template <int Corners>
struct Sizes;

template <>
struct Sizes<3> {
  double a, b, c;       // lengths opposite to the corners
  double doubled_area;  // twice the area

  explicit Sizes(const std::array<Vec3d, 3>& x)
      : a(norm(x[2] - x[1])),
        b(norm(x[2] - x[0])),
        c(norm(x[1] - x[0])),
        doubled_area(norm(cross(x[1] - x[0], x[2] - x[0]))) {}
  [[nodiscard]] double radius_ratio() const {
    const double half_perimeter = (a + b + c) / 2;
    return ratio_or_zero(2 * doubled_area * doubled_area, half_perimeter * a * b * c);
  }
  /// The longest edge is 1, and its height in an equilateral triangle √3/2.
  [[nodiscard]] double aspect() const { return ratio_or_zero(doubled_area, std::sqrt(0.75)); }
};

template <>
struct Sizes<4> {
  double volume6;            // six times the volume
  double faces2;             // twice the area of all faces
  double largest_face2 = 0;  // twice the area of the largest
  Vec3d center12v;           // from corner 0 to the circumcentre, times 12 volumes

  explicit Sizes(const std::array<Vec3d, 4>& x) {
    const Vec3d a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
    const Vec3d bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
    volume6 = std::abs(dot(a, bc));
    const double areas[4] = {norm(bc), norm(ca), norm(ab), norm(cross(b - a, c - a))};
    faces2 = std::accumulate(areas, areas + 4, 0.0);
    largest_face2 = *std::max_element(areas, areas + 4);
    center12v = dot(a, a) * bc + dot(b, b) * ca + dot(c, c) * ab;
  }
  /// r = 3V/ΣA and R = |center12v| / 12V.
  [[nodiscard]] double radius_ratio() const { return ratio_or_zero(6 * volume6 * volume6, faces2 * norm(center12v)); }
  /// The longest edge is 1, and a regular tetrahedron's height √(2/3).
  [[nodiscard]] double aspect() const { return ratio_or_zero(volume6, largest_face2 * std::sqrt(2.0 / 3.0)); }
};

std::array<double, 3> angles_of(const std::array<Vec3d, 3>& x) {
  return {angle_between(x[1] - x[0], x[2] - x[0]), angle_between(x[2] - x[1], x[0] - x[1]),
          angle_between(x[0] - x[2], x[1] - x[2])};
}

/// Between the faces at each edge: what is left of the other two corners when seen along the edge.
std::array<double, 6> angles_of(const std::array<Vec3d, 4>& x) {
  std::array<double, 6> angles{};
  for (std::size_t i = 0; i < 6; ++i) {
    const auto [a, b] = edge_corners<4>()[i];
    std::array<int, 2> others{};
    for (int k = 0, n = 0; k < 4; ++k)
      if (k != a && k != b) others[n++] = k;
    const Vec3d edge = x[b] - x[a];
    angles[i] = angle_between(cross(edge, x[others[0]] - x[a]), cross(edge, x[others[1]] - x[a]));
  }
  return angles;
}

template <int Corners>
ElementShape<Corners> measure_shape(const std::array<Vec3d, Corners>& x) {
  ElementShape<Corners> shape;
  std::array<Vec3d, Corners> unit;
  if (!scaled<Corners>(x, unit)) return shape;
  const Sizes<Corners> sizes(unit);
  shape.radius_ratio = sizes.radius_ratio();
  shape.aspect = sizes.aspect();
  shape.angles = angles_of(unit);
  return shape;
}

template <int Corners>
double measure_ratio(const std::array<Vec3d, Corners>& x) {
  std::array<Vec3d, Corners> unit;
  return scaled<Corners>(x, unit) ? Sizes<Corners>(unit).radius_ratio() : 0;
}

}  // namespace

ElementShape<3> shape_of(const std::array<Vec3d, 3>& corners) { return measure_shape<3>(corners); }
ElementShape<4> shape_of(const std::array<Vec3d, 4>& corners) { return measure_shape<4>(corners); }
double radius_ratio(const std::array<Vec3d, 3>& corners) { return measure_ratio<3>(corners); }
double radius_ratio(const std::array<Vec3d, 4>& corners) { return measure_ratio<4>(corners); }

void Distribution::add(double value) {
  min_ = count_ > 0 ? std::min(min_, value) : value;
  max_ = count_ > 0 ? std::max(max_, value) : value;
  sum_ += value;
  ++count_;
  const double share = (value - low_) / (high_ - low_);
  const double step = share > 0 ? std::min(share, 1.0) * steps : 0;  // of no number, too
  ++counts_[std::min(static_cast<std::size_t>(step), steps - 1)];
}

void Distribution::merge(const Distribution& other) {
  if (other.count_ == 0) return;
  min_ = count_ > 0 ? std::min(min_, other.min_) : other.min_;
  max_ = count_ > 0 ? std::max(max_, other.max_) : other.max_;
  sum_ += other.sum_;
  count_ += other.count_;
  for (std::size_t i = 0; i < steps; ++i) counts_[i] += other.counts_[i];
}

double Distribution::percentile(double share) const {
  const double wanted = share * static_cast<double>(count_);
  std::size_t below = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    below += counts_[i];
    if (below == 0 || static_cast<double>(below) < wanted) continue;
    const double middle = low_ + (high_ - low_) * (static_cast<double>(i) + 0.5) / steps;
    return std::clamp(middle, min_, max_);
  }
  return max();
}

std::vector<std::size_t> Distribution::histogram(std::size_t bins) const {
  std::vector<std::size_t> result(bins, 0);
  for (std::size_t i = 0; i < steps; ++i) result[i * bins / steps] += counts_[i];
  return result;
}

template <int Corners>
ShapeStatistics shape_statistics(const SimplexMesh<Corners>& mesh, int threads) {
  // A fixed number of parts, added in order: the sums do not depend on the number of threads.
  constexpr std::size_t part_count = 64;
  const std::size_t count = mesh.element_count();
  std::vector<ShapeStatistics> parts(std::min(part_count, 1 + count / 4096));
  parallel_region(std::max(1, threads), [&](int thread, int team) {
    for (std::size_t part = thread; part < parts.size(); part += team)
      for (std::size_t e = count * part / parts.size(); e < count * (part + 1) / parts.size(); ++e) {
        const ElementShape<Corners> shape = shape_of(corner_points(mesh, ElementId(e)));
        ShapeStatistics& mine = parts[part];
        mine.radius_ratio.add(shape.radius_ratio);
        mine.aspect.add(shape.aspect);
        for (const double angle : shape.angles) mine.angles.add(angle);
        const auto [smallest, largest] = std::minmax_element(shape.angles.begin(), shape.angles.end());
        mine.smallest_angle.add(*smallest);
        mine.largest_angle.add(*largest);
      }
  });
  ShapeStatistics all;
  for (const ShapeStatistics& part : parts) {
    all.radius_ratio.merge(part.radius_ratio);
    all.aspect.merge(part.aspect);
    all.angles.merge(part.angles);
    all.smallest_angle.merge(part.smallest_angle);
    all.largest_angle.merge(part.largest_angle);
  }
  return all;
}

template <int Corners>
std::vector<double> radius_ratios(const SimplexMesh<Corners>& mesh, int threads) {
  std::vector<double> result(mesh.element_count());
  parallel_for(threads, result.size(),
               [&](std::size_t e) { result[e] = radius_ratio(corner_points(mesh, ElementId(e))); });
  return result;
}

template ShapeStatistics shape_statistics<3>(const TriangleMesh&, int);
template ShapeStatistics shape_statistics<4>(const TetMesh&, int);
template std::vector<double> radius_ratios<3>(const TriangleMesh&, int);
template std::vector<double> radius_ratios<4>(const TetMesh&, int);

}  // namespace isochron
