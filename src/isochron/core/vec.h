// Small fixed-size vectors and symmetric tensors, usable on host and device.
#pragma once

#include <cmath>

#include "isochron/core/host_device.h"

namespace isochron {

template <class T>
struct Vec3 {
  T x{}, y{}, z{};

  ISOCHRON_HD constexpr T& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  ISOCHRON_HD constexpr const T& operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }
  ISOCHRON_HD friend constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator*(T s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  ISOCHRON_HD friend constexpr Vec3 operator*(Vec3 a, T s) { return s * a; }
  ISOCHRON_HD friend constexpr Vec3 operator/(Vec3 a, T s) { return {a.x / s, a.y / s, a.z / s}; }
  ISOCHRON_HD constexpr Vec3& operator+=(Vec3 b) { return *this = *this + b; }
  ISOCHRON_HD constexpr Vec3& operator-=(Vec3 b) { return *this = *this - b; }
  friend constexpr bool operator==(Vec3, Vec3) = default;
};

template <class T>
ISOCHRON_HD constexpr T dot(Vec3<T> a, Vec3<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class T>
ISOCHRON_HD constexpr Vec3<T> cross(Vec3<T> a, Vec3<T> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
ISOCHRON_HD T norm(Vec3<T> a) {
  return std::sqrt(dot(a, a));
}

template <class T>
bool is_finite(Vec3<T> a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// A symmetric 3×3 tensor; the six components are stored row by row of the upper triangle.
template <class T>
struct SymTensor3 {
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};

  ISOCHRON_HD static constexpr SymTensor3 identity(T scale = T(1)) { return {scale, 0, 0, scale, 0, scale}; }
  ISOCHRON_HD static constexpr SymTensor3 diagonal(T a, T b, T c) { return {a, 0, 0, b, 0, c}; }
  /// scale · v vᵀ
  ISOCHRON_HD static constexpr SymTensor3 outer(Vec3<T> v, T scale = T(1)) {
    return {scale * v.x * v.x, scale * v.x * v.y, scale * v.x * v.z,
            scale * v.y * v.y, scale * v.y * v.z, scale * v.z * v.z};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator+(SymTensor3 a, SymTensor3 b) {
    return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator-(SymTensor3 a, SymTensor3 b) {
    return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
  }
  ISOCHRON_HD friend constexpr SymTensor3 operator*(T s, SymTensor3 a) {
    return {s * a.xx, s * a.xy, s * a.xz, s * a.yy, s * a.yz, s * a.zz};
  }
  friend constexpr bool operator==(SymTensor3, SymTensor3) = default;
};

template <class T>
ISOCHRON_HD constexpr Vec3<T> operator*(SymTensor3<T> m, Vec3<T> v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}

/// aᵀ M b
template <class T>
ISOCHRON_HD constexpr T product(SymTensor3<T> m, Vec3<T> a, Vec3<T> b) {
  return dot(a, m * b);
}

/// vᵀ M v
template <class T>
ISOCHRON_HD constexpr T squared_length(SymTensor3<T> m, Vec3<T> v) {
  return product(m, v, v);
}

template <class T>
ISOCHRON_HD constexpr T determinant(SymTensor3<T> m) {
  return m.xx * (m.yy * m.zz - m.yz * m.yz) - m.xy * (m.xy * m.zz - m.yz * m.xz) + m.xz * (m.xy * m.yz - m.yy * m.xz);
}

/// The inverse; the tensor must not be singular.
template <class T>
ISOCHRON_HD constexpr SymTensor3<T> inverse(SymTensor3<T> m) {
  const T s = T(1) / determinant(m);
  return {s * (m.yy * m.zz - m.yz * m.yz), s * (m.xz * m.yz - m.xy * m.zz), s * (m.xy * m.yz - m.xz * m.yy),
          s * (m.xx * m.zz - m.xz * m.xz), s * (m.xy * m.xz - m.xx * m.yz), s * (m.xx * m.yy - m.xy * m.xy)};
}

/// True when the leading minors are positive relative to the tensor's own size (so NaN gives false).
template <class T>
ISOCHRON_HD constexpr bool positive_definite(SymTensor3<T> m) {
  const T trace = m.xx + m.yy + m.zz;
  if (!(m.xx > 0 && m.yy > 0 && m.zz > 0) || !(trace < T(1) / T(0))) return false;
  const SymTensor3<T> s = (T(1) / trace) * m;
  return s.xx * s.yy - s.xy * s.xy > 0 && determinant(s) > T(1e-18);
}

using Vec3d = Vec3<double>;
using Vec3f = Vec3<float>;
using Vec3i = Vec3<int>;
using SymTensor3d = SymTensor3<double>;
using SymTensor3f = SymTensor3<float>;

}  // namespace isochron
