// Whether one surface shows all that another does.
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/mesh/locator.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/mesh/topology.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

/// How a component of the expected surface came out.
struct SurfaceDifference {
  enum class Kind {
    lost,     ///< nothing of it is there
    merged,   ///< it is part of a component that belongs to another one
    divided,  ///< it fell into several
    handles   ///< its Euler characteristic is another
  };
  Kind kind = Kind::lost;
  std::size_t component = 0;  ///< in the order of `surface_topology`
  double area = 0;            ///< of the expected component
  Vec3d place;                ///< one of its corners
  long expected_euler = 0;
  long found_euler = 0;  ///< of what came of it, or of what it is part of; 0 when lost
};

/// The surface that others are compared with.
class ExpectedSurface {
 public:
  /// Keeps a reference to the mesh, which must be closed and have triangles.
  ExpectedSurface(const TriangleMesh& mesh, int threads);

  /// Component by component: those that are nearest to each other belong together.
  [[nodiscard]] std::vector<SurfaceDifference> differences(const TriangleMesh& found) const;

  /// Removes the components that enclose less than `volume` and that no expected one belongs to: bubbles of the spline
  /// between the values it goes through. Returns how many.
  std::size_t drop_specks(TriangleMesh& found, double volume) const;

  /// Points of the field's surface near corners of the expected one that the found surface passes at a distance: more
  /// than a quarter of the size wanted there. `only`: of these components.
  [[nodiscard]] std::vector<Vec3d> uncovered(const TriangleMesh& found, const LabelField& field,
                                             const SizeView<double>& sizes) const;
  [[nodiscard]] std::vector<Vec3d> uncovered(const TriangleMesh& found, const LabelField& field,
                                             const SizeView<double>& sizes,
                                             const std::vector<SurfaceDifference>& only) const;

 private:
  [[nodiscard]] std::vector<Vec3d> uncovered(std::vector<Vec3d> points, const TriangleMesh& found,
                                             const LabelField& field, const SizeView<double>& sizes) const;

  const TriangleMesh& mesh_;
  int threads_;
  SurfaceTopology topology_;
  PointLocator<3> locator_;
};

}  // namespace isochron
