// How large triangles may be: from curvature and the distance to the medial axis, changing slowly.
#pragma once

#include <vector>

#include "isochron/core/progress.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/redistance.h"
#include "isochron/surface/field/signed_distance.h"
#include "isochron/surface/field/size_brush.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// Lengths are those of the world.
struct SizingOptions {
  double epsilon = 0.5;  ///< edge length per radius of curvature, or per distance to the medial axis
  double delta = 0.3;    ///< most that sizes may change per length
  /// Most that the middle of a triangle may be off the curved surface; 0: 0.12 of the smallest voxel spacing; infinity:
  /// left to epsilon.
  double accuracy = 0;
  double smallest = 0;               ///< 0: three quarters of the smallest voxel spacing
  double largest = 0;                ///< 0: epsilon times the field's reach
  double uniform = 0;                ///< this size everywhere, whatever the shape; 0: adapted
  std::vector<SizeBrush> brushes{};  ///< applied to what comes out of all that
  int threads = 0;                   ///< 0: all cores
  Backend backend = Backend::automatic;
};

/// Edge lengths wanted: at the surface max(smallest, epsilon · min(1/κ, local feature size)), with κ the larger
/// principal curvature of the spline's zero set and the local feature size the distance to the medial axis on either
/// side; from there on growing by `delta` per length, which is an eikonal equation with those sizes as times. At most
/// `largest`. `field` is the spline of `surface`. Throws UsageError for options that make no sense, and Cancelled.
SizeField sizes(const SplineField& field, const ImplicitSurface& surface, const SizingOptions& options = {},
                const Progress& progress = {});

/// Lowers sizes until they change by no more than `delta` per length. One pass forward and one back settle it.
void limit_growth(double delta, SizeField& sizes);

/// How many particles a surface of triangles with these sizes asks for: the area in hexagonal cells, ∫ 2/(√3 h²).
double particle_estimate(const TriangleMesh& surface, const SizeField& sizes);

/// The distance of lattice points to the medial axis of a distance field, up to `farthest` (and the field's reach):
/// first arrivals from the points where the gradient is far from 1, because two or more parts of the surface are
/// equally near. Points deeper than `farthest` are left out.
std::vector<float> medial_distance(const ImplicitSurface& surface, double farthest, const MarchOptions& options,
                                   const Progress& progress = {});

}  // namespace isochron
