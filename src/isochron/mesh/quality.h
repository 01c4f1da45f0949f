// How well shaped the elements of a mesh are. Everything is 1 (or equal angles) for equilateral elements and 0 for
// those without area or volume, never NaN.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// Measures of one triangle or tetrahedron; the angles are dihedral angles for the latter. Inverted tetrahedra measure
/// as their mirror images.
template <int Corners>
struct ElementShape {
  /// Inscribed over circumscribed radius, times 2 (triangles: 8A²/(s·abc), s half the perimeter) or 3 (tetrahedra).
  double radius_ratio = 0;
  double aspect = 0;  ///< shortest height over longest edge, as a part of what the equilateral element has
  /// Degrees, at the corners (triangles) or at the edges in the order of `edge_corners` (tetrahedra).
  std::array<double, Corners == 3 ? 3 : 6> angles{};
};

ElementShape<3> shape_of(const std::array<Vec3d, 3>& corners);
ElementShape<4> shape_of(const std::array<Vec3d, 4>& corners);
/// The radius ratio alone.
double radius_ratio(const std::array<Vec3d, 3>& corners);
double radius_ratio(const std::array<Vec3d, 4>& corners);

/// Numbers of a known range, counted in fine steps: percentiles are exact to `steps`-ths of the range.
class Distribution {
 public:
  static constexpr std::size_t steps = 3600;

  Distribution(double low, double high) : low_(low), high_(high), counts_(steps, 0) {}
  void add(double value);  ///< values beyond the range count at its ends
  void merge(const Distribution& other);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// The smallest and largest value, and the mean; 0 when there is none.
  [[nodiscard]] double min() const { return count_ > 0 ? min_ : 0; }
  [[nodiscard]] double max() const { return count_ > 0 ? max_ : 0; }
  [[nodiscard]] double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  /// The value that this share (0 … 1) of all values lies at or below.
  [[nodiscard]] double percentile(double share) const;
  /// How many values lie in each of that many equal parts of the range; `bins` must divide `steps`.
  [[nodiscard]] std::vector<std::size_t> histogram(std::size_t bins) const;

 private:
  double low_, high_;
  double min_ = 0, max_ = 0, sum_ = 0;
  std::size_t count_ = 0;
  std::vector<std::size_t> counts_;
};

/// The shapes of all elements of a mesh.
struct ShapeStatistics {
  Distribution radius_ratio{0, 1};
  Distribution aspect{0, 1};
  Distribution angles{0, 180};          ///< all of them: three a triangle, six a tetrahedron
  Distribution smallest_angle{0, 180};  ///< one an element, as the next
  Distribution largest_angle{0, 180};
};

/// Measures a mesh that passes `check_mesh`.
template <int Corners>
ShapeStatistics shape_statistics(const SimplexMesh<Corners>& mesh, int threads = 1);

/// The radius ratio of every element.
template <int Corners>
std::vector<double> radius_ratios(const SimplexMesh<Corners>& mesh, int threads = 1);

}  // namespace isochron
