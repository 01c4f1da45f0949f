// How well shaped the elements of a mesh are, and how the triangles of a surface hang together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isochron/mesh.h"

namespace isochron {

// ---- How well shaped the elements of a mesh are. Everything is 1 (or equal angles) for equilateral elements and 0 for
// those without area or volume, never NaN.

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

// ---- How the triangles of a surface hang together: pieces, holes, handles, and where it is no surface at all.

using MeshEdge = std::array<VertexId, 2>;  ///< the smaller id first

/// A piece of a surface: triangles joined by shared edges. Pieces that share only a vertex are two.
struct SurfaceComponent {
  ElementId first;  ///< its triangle with the smallest id
  std::size_t vertices = 0, edges = 0, triangles = 0;
  std::size_t boundary_edges = 0;      ///< edges of one triangle
  std::size_t non_manifold_edges = 0;  ///< edges of more than two triangles
  std::size_t pinched_vertices = 0;    ///< vertices that hold this component together with itself or another
  std::size_t inconsistent_edges = 0;  ///< edges that both their triangles run through in the same direction
  bool orientable = true;              ///< its triangles can be turned to agree; only known without non-manifold edges
  double area = 0;                     ///< in the mesh's unit, squared
  double volume = 0;  ///< enclosed; negative when the triangles face inward, 0 unless closed and oriented

  [[nodiscard]] bool closed() const { return boundary_edges == 0 && non_manifold_edges == 0; }
  [[nodiscard]] bool oriented() const { return inconsistent_edges == 0; }
  [[nodiscard]] bool manifold() const { return non_manifold_edges == 0 && pinched_vertices == 0; }
  /// Vertices − edges + triangles: 2 for a sphere, 0 for a torus, 1 for a disc.
  [[nodiscard]] long euler_characteristic() const {
    return static_cast<long>(vertices) - static_cast<long>(edges) + static_cast<long>(triangles);
  }
  /// The number of handles; only closed, orientable surfaces have one.
  [[nodiscard]] std::optional<long> genus() const {
    if (!closed() || !manifold() || !orientable) return std::nullopt;
    return (2 - euler_characteristic()) / 2;
  }
};

struct SurfaceTopology {
  std::vector<SurfaceComponent> components;  ///< in the order of their first triangles
  std::vector<std::uint32_t> component_of;   ///< of each triangle; `no_component` for those that repeat a vertex
  std::vector<MeshEdge> boundary_edges;      ///< ascending, as all lists here
  std::vector<MeshEdge> non_manifold_edges;
  std::vector<VertexId> non_manifold_vertices;  ///< their triangles form several fans that no edge joins
  std::size_t repeating_triangles = 0;          ///< triangles that name a vertex twice; left out of everything else
  std::size_t inconsistent_edges = 0;           ///< as in the components
  double area = 0;
  double volume = 0;  ///< sum over the components: cavities, whose triangles face into them, are subtracted

  static constexpr std::uint32_t no_component = 0xffffffffU;

  [[nodiscard]] bool closed() const { return boundary_edges.empty() && non_manifold_edges.empty(); }
  [[nodiscard]] bool manifold() const { return non_manifold_edges.empty() && non_manifold_vertices.empty(); }
  [[nodiscard]] bool oriented() const { return inconsistent_edges == 0; }
  [[nodiscard]] long euler_characteristic() const;  ///< sum over the components
  /// Sum of the handles of all components, if each has a number of them.
  [[nodiscard]] std::optional<long> genus() const;
};

/// Examines a mesh that passes `check_mesh`. Needs some 40 bytes a triangle beside the mesh.
SurfaceTopology surface_topology(const TriangleMesh& mesh);

}  // namespace isochron
