// Which element holds a point, or is nearest to it.
#pragma once

#include <array>
#include <optional>

#include "isochron/mesh.h"
#include "isochron/mesh/box_tree.h"

namespace isochron {

/// A point of a mesh: an element and non-negative weights of its corners that sum to 1.
template <int Corners>
struct Location {
  ElementId element;
  std::array<double, Corners> weights{};
  Vec3d point;          ///< the weighted corners: the query itself when inside, else the closest point of the mesh
  double distance = 0;  ///< from the query to `point`
};

/// Answers point queries on one mesh with a tree of boxes; construct it only when there is a point to find. Queries are
/// const and may come from several threads.
template <int Corners>
class PointLocator {
 public:
  /// Keeps a reference to the mesh, whose points must be finite.
  explicit PointLocator(const SimplexMesh<Corners>& mesh, int threads = 1);

  /// The element that contains p, else the nearest one no further than `tolerance` (in the mesh's unit); on a triangle
  /// mesh always the nearest within `tolerance`. Empty when there is none or p is not finite.
  [[nodiscard]] std::optional<Location<Corners>> locate(Vec3d p, double tolerance) const;

  /// The nearest point of the mesh. Throws InputError when p is not finite or the mesh has no elements.
  [[nodiscard]] Location<Corners> nearest(Vec3d p) const;

 private:
  struct Search;
  [[nodiscard]] std::optional<Location<Corners>> search(Vec3d p, double squared_limit) const;
  void descend(Search& state, std::size_t level, std::size_t index) const;
  void visit_leaf(Search& state, std::size_t index) const;

  const SimplexMesh<Corners>* mesh_;
  BoxTree tree_;
};

extern template class PointLocator<3>;
extern template class PointLocator<4>;

}  // namespace isochron
