// Cuts cells that are no simplices into triangles and tetrahedra, without new vertices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/types.h"

namespace isochron {

/// Solids with the corners in VTK's order: of a pyramid the base comes first; of the others one side, then the corners
/// of the opposite side in the same order.
enum class SolidShape : std::uint8_t { pyramid, prism, hexahedron };

/// Which corner counts as the first one. Ids are enough within one mesh; pieces of a mesh number the same vertices
/// differently, but have them at the same places.
enum class CornerOrder : std::uint8_t { ids, places };

/// Neighbouring cells are cut alike: the diagonal of a quadrilateral starts at its first corner, and so do all cuts of
/// a solid (J. Dompierre et al., How to subdivide pyramids, prisms and hexahedra into tetrahedra, 1999). What is
/// returned is valid until the next call.
class CellCutter {
 public:
  /// Polygons of more corners are not cut: that would take too long.
  static constexpr std::size_t max_corners = 10000;

  /// The points are read at each call and must outlive the cutter.
  explicit CellCutter(const std::vector<Vec3d>& points, CornerOrder order = CornerOrder::ids)
      : points_(&points), order_(order) {}

  /// The triangles of a polygon that is about flat and may be concave. A quadrilateral whose diagonal would lie outside
  /// gets the other one. None when it has no area, crosses itself or has too many corners.
  std::span<const std::array<VertexId, 3>> triangles(std::span<const VertexId> polygon);
  /// The tetrahedra of a convex solid, with positive volume whichever way its corners turn. Corners may be the same
  /// vertex; none when too few are left for a tetrahedron.
  std::span<const std::array<VertexId, 4>> tets(SolidShape shape, std::span<const VertexId> corners);

 private:
  /// A corner of the polygon in the plane, with its neighbours among the corners that are left.
  struct Corner {
    VertexId id;
    double x = 0, y = 0;
    std::size_t before = 0, after = 0;
  };

  [[nodiscard]] const Vec3d& point(VertexId v) const { return (*points_)[v.index()]; }
  [[nodiscard]] bool is_before(VertexId a, VertexId b) const;
  [[nodiscard]] bool lay_flat(std::span<const VertexId> polygon);
  [[nodiscard]] bool turns_left(std::size_t corner) const;
  [[nodiscard]] bool is_left_of(const Corner& from, const Corner& to, const Corner& p) const;
  [[nodiscard]] bool is_ear(std::size_t corner) const;
  void cut_off(std::size_t corner);
  void cut_quad();
  [[nodiscard]] bool cut_all(std::size_t left);
  void add_tets(VertexId first, std::span<const VertexId> face);
  void turn_positive();

  const std::vector<Vec3d>* points_;
  CornerOrder order_;
  double flatness_ = 0;
  std::vector<Corner> corners_;
  std::vector<std::size_t> not_convex_;
  std::vector<std::array<VertexId, 3>> triangles_;
  std::vector<std::array<VertexId, 4>> tets_;
};

}  // namespace isochron
