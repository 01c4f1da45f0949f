// Whether one surface shows all that another does.
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/locator.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

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
