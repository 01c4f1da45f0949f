// Eigenvalues, eigenvectors and anisotropy of symmetric 3×3 tensors, on host and device.
#pragma once

#include <cmath>
#include <limits>

#include "isochron/core/host_device.h"
#include "isochron/core/vec.h"

namespace isochron {

/// Eigenvalues from the largest to the smallest, and a unit eigenvector for each, orthogonal to one another. The sign
/// of a vector means nothing.
template <class T>
struct EigenSystem3 {
  Vec3<T> values;
  Vec3<T> vectors[3];
};

namespace detail {

/// One Jacobi rotation: makes the off-diagonal `pq` zero. `rp` and `rq` are the other two off-diagonals.
template <class T>
ISOCHRON_HD inline void jacobi_rotate(T& pp, T& qq, T& pq, T& rp, T& rq, Vec3<T>& vp, Vec3<T>& vq) {
  // Measured against both diagonals and not the largest entry: small eigenvalues of positive tensors stay accurate.
  if (std::abs(pq) <= std::numeric_limits<T>::epsilon() / 4 * std::sqrt(std::abs(pp)) * std::sqrt(std::abs(qq))) {
    pq = 0;
    return;
  }
  const T theta = (qq - pp) / (2 * pq);
  const T t = (theta < 0 ? T(-1) : T(1)) / (std::abs(theta) + std::sqrt(theta * theta + 1));
  const T c = 1 / std::sqrt(t * t + 1);
  const T s = t * c;
  pp -= t * pq;
  qq += t * pq;
  pq = 0;
  const T old_rp = rp;
  rp = c * old_rp - s * rq;
  rq = s * old_rp + c * rq;
  const Vec3<T> old_vp = vp;
  vp = c * old_vp - s * vq;
  vq = s * old_vp + c * vq;
}

template <class T>
ISOCHRON_HD inline void larger_first(T& a, T& b, Vec3<T>& va, Vec3<T>& vb) {
  if (!(a < b)) return;
  const T value = a;
  a = b;
  b = value;
  const Vec3<T> vector = va;
  va = vb;
  vb = vector;
}

}  // namespace detail

/// The largest component by magnitude; NaN counts as nothing.
template <class T>
ISOCHRON_HD inline T largest_component(const SymTensor3<T>& m) {
  return std::fmax(std::fmax(std::fmax(std::abs(m.xx), std::abs(m.xy)), std::fmax(std::abs(m.xz), std::abs(m.yy))),
                   std::fmax(std::fmax(std::abs(m.yz), std::abs(m.zz)), T(0)));
}

/// By cyclic Jacobi rotations, which converge quadratically and do not mind equal eigenvalues: errors are some units in
/// the last place of the largest eigenvalue. Components that are not finite give values that are not finite.
template <class T>
ISOCHRON_HD inline EigenSystem3<T> eigen_system(const SymTensor3<T>& m) {
  EigenSystem3<T> result{{}, {Vec3<T>{1, 0, 0}, Vec3<T>{0, 1, 0}, Vec3<T>{0, 0, 1}}};
  Vec3<T>&u = result.vectors[0], &v = result.vectors[1], &w = result.vectors[2];
  const T scale = largest_component(m);
  if (scale == 0) {
    result.values = {m.xx, m.yy, m.zz};  // zeros, or NaN
    return result;
  }
  SymTensor3<T> a{m.xx / scale, m.xy / scale, m.xz / scale, m.yy / scale, m.yz / scale, m.zz / scale};
  constexpr int max_sweeps = 16;  // five to eight are used
  for (int sweep = 0; sweep < max_sweeps && !(a.xy == 0 && a.xz == 0 && a.yz == 0); ++sweep) {
    detail::jacobi_rotate(a.xx, a.yy, a.xy, a.xz, a.yz, u, v);
    detail::jacobi_rotate(a.xx, a.zz, a.xz, a.xy, a.yz, u, w);
    detail::jacobi_rotate(a.yy, a.zz, a.yz, a.xy, a.xz, v, w);
  }
  detail::larger_first(a.xx, a.yy, u, v);
  detail::larger_first(a.yy, a.zz, v, w);
  detail::larger_first(a.xx, a.yy, u, v);
  result.values = {scale * a.xx, scale * a.yy, scale * a.zz};
  return result;
}

/// The tensor of these eigenvalues and orthonormal eigenvectors.
template <class T>
ISOCHRON_HD inline SymTensor3<T> tensor_of_eigen(const Vec3<T>& values, const Vec3<T> (&vectors)[3]) {
  return SymTensor3<T>::outer(vectors[0], values.x) + SymTensor3<T>::outer(vectors[1], values.y) +
         SymTensor3<T>::outer(vectors[2], values.z);
}

/// The tensor with the same eigenvectors whose eigenvalues are f of the old ones: f(T) for powers, roots, logarithms.
template <class T, class Function>
ISOCHRON_HD inline SymTensor3<T> map_eigenvalues(const SymTensor3<T>& m, Function&& f) {
  const EigenSystem3<T> e = eigen_system(m);
  return tensor_of_eigen<T>({f(e.values.x), f(e.values.y), f(e.values.z)}, e.vectors);
}

/// √(3/2) · |T − tr(T)/3| / |T|: 0 when isotropic (and for the zero tensor), 1 when only one eigenvalue is not zero,
/// above 1 only when eigenvalues are negative.
template <class T>
ISOCHRON_HD inline T fractional_anisotropy(const SymTensor3<T>& tensor) {
  const T size = largest_component(tensor);
  if (size == 0) return 0;
  const SymTensor3<T> t = (1 / size) * tensor;  // squares of diffusivities in m²/s could underflow
  const SymTensor3<T> d = t - SymTensor3<T>::identity((t.xx + t.yy + t.zz) / 3);
  const auto squares = [](const SymTensor3<T>& s) {
    return s.xx * s.xx + s.yy * s.yy + s.zz * s.zz + 2 * (s.xy * s.xy + s.xz * s.xz + s.yz * s.yz);
  };
  return std::sqrt(T(1.5) * squares(d) / squares(t));
}

}  // namespace isochron
