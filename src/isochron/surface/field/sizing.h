// How large triangles may be: from curvature and the distance to the medial axis, changing slowly, and by hand.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/progress.h"
#include "isochron/surface.h"
#include "isochron/surface/field/redistance.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {

/// The larger principal curvature, by magnitude, of the level set through a point. With n = ∇F/|∇F| and P = I − nnᵀ the
/// shape operator is G = PHP/|∇F|, and its larger eigenvalue ½(|tr G| + √(2‖G‖² − tr²G)). 0 where the gradient is.
template <class T>
ISOCHRON_HD T largest_curvature(const Jet<T>& jet) {
  const T slope = norm(jet.gradient);
  if (!(slope > 0)) return 0;
  const Vec3<T> n = jet.gradient / slope;
  const SymTensor3<T>& h = jet.hessian;
  // Traces of G and G² without G: PHP loses what H does along n.
  const Vec3<T> hn = h * n;
  const T along = dot(n, hn);
  const T trace = h.xx + h.yy + h.zz - along;
  const T squares = h.xx * h.xx + h.yy * h.yy + h.zz * h.zz + 2 * (h.xy * h.xy + h.xz * h.xz + h.yz * h.yz) -
                    2 * dot(hn, hn) + along * along;
  const T spread = 2 * squares - trace * trace;
  return (std::abs(trace) + std::sqrt(spread > 0 ? spread : T(0))) / (2 * slope);
}

/// Throws UsageError for a radius that is not positive or a factor out of range.
void check_brushes(std::span<const SizeBrush> brushes);

/// Applies brushes one after another (together no more than one may do alone), then makes sizes grow by at most `delta`
/// per length.
void apply_brushes(std::span<const SizeBrush> brushes, const LatticeFrame& frame, double delta, SizeField& sizes);

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
