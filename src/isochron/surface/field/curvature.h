// Curvature of the level sets of a field, on host and device.
#pragma once

#include <cmath>

#include "isochron/core/host_device.h"
#include "isochron/core/vec.h"
#include "isochron/surface/field/spline.h"

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

}  // namespace isochron
