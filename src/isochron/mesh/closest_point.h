// Barycentric weights and closest points of small simplices in space (points, segments, triangles, tetrahedra). `Real`
// is a number, or one with its derivatives.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "isochron/mesh.h"

namespace isochron {

/// The element's corners, in its own order.
template <int Corners>
std::array<Vec3d, Corners> corner_points(const SimplexMesh<Corners>& mesh, ElementId e) {
  std::array<Vec3d, Corners> x;
  for (int c = 0; c < Corners; ++c) x[c] = mesh.point(mesh.element(e)[c]);
  return x;
}

/// The point with these weights.
template <std::size_t N, class Real>
Vec3<Real> weighted_point(const std::array<Vec3<Real>, N>& x, const std::array<Real, N>& weights) {
  Vec3<Real> sum;
  for (std::size_t i = 0; i < N; ++i) sum += weights[i] * x[i];
  return sum;
}

/// Weights, summing to 1 and of any sign, of the point of the simplex's line, plane or space that is closest to p;
/// empty when the simplex is flat to rounding.
template <std::size_t N, class Real>
std::optional<std::array<Real, N>> barycentric(const std::array<Vec3<Real>, N>& x, Vec3<Real> p) {
  using Vec = Vec3<Real>;
  static_assert(N >= 1 && N <= 4);
  constexpr double flat = 1e-14;
  if constexpr (N == 1) {
    return std::array<Real, 1>{Real(1)};
  } else if constexpr (N == 2) {
    const Vec e = x[0] - x[1];
    const Real length2 = dot(e, e);
    if (!(length2 > 0)) return std::nullopt;
    const Real w = dot(p - x[1], e) / length2;
    return std::array<Real, 2>{w, 1 - w};
  } else if constexpr (N == 3) {
    const Vec e0 = x[0] - x[2], e1 = x[1] - x[2], r = p - x[2];
    const Vec normal = cross(e0, e1);
    const Real area2 = dot(normal, normal);
    if (!(area2 > flat * flat * dot(e0, e0) * dot(e1, e1))) return std::nullopt;
    const Real w0 = dot(cross(r, e1), normal) / area2;
    const Real w1 = dot(cross(e0, r), normal) / area2;
    return std::array<Real, 3>{w0, w1, 1 - w0 - w1};
  } else {
    const Vec e0 = x[0] - x[3], e1 = x[1] - x[3], e2 = x[2] - x[3], r = p - x[3];
    const Vec normal = cross(e1, e2);
    const Real volume = dot(e0, normal);
    const auto size = [](const Vec& e) {
      using std::sqrt;
      return sqrt(dot(e, e));
    };
    if (!((volume < 0 ? -volume : volume) > flat * size(e0) * size(e1) * size(e2))) return std::nullopt;
    const Real w0 = dot(r, normal) / volume;
    const Real w1 = dot(r, cross(e2, e0)) / volume;
    const Real w2 = dot(r, cross(e0, e1)) / volume;
    return std::array<Real, 4>{w0, w1, w2, 1 - w0 - w1 - w2};
  }
}

template <std::size_t N, class Real = double>
struct ClosestPoint {
  std::array<Real, N> weights{};  ///< non-negative, summing to 1
  Real squared_distance = std::numeric_limits<double>::infinity();
};

/// The point of the (closed) simplex that is closest to p. Flat simplices are answered by their faces.
template <std::size_t N, class Real>
ClosestPoint<N, Real> closest_point(const std::array<Vec3<Real>, N>& x, Vec3<Real> p) {
  using Vec = Vec3<Real>;
  ClosestPoint<N, Real> best;
  const auto w = barycentric(x, p);
  bool inside = w.has_value();
  for (std::size_t i = 0; inside && i < N; ++i) inside = (*w)[i] >= 0;
  if (inside) {
    const Vec gap = N == 4 ? Vec{} : p - weighted_point(x, *w);
    return {*w, dot(gap, gap)};
  }
  if constexpr (N > 1) {
    // Some face that p lies beyond holds the minimum: from a point on any other one could still move towards p.
    for (std::size_t skip = 0; skip < N; ++skip) {
      if (w && (*w)[skip] >= 0) continue;
      std::array<Vec, N - 1> face;
      for (std::size_t i = 0, k = 0; i < N; ++i)
        if (i != skip) face[k++] = x[i];
      const auto candidate = closest_point(face, p);
      if (!(candidate.squared_distance < best.squared_distance)) continue;
      best.squared_distance = candidate.squared_distance;
      for (std::size_t i = 0, k = 0; i < N; ++i) best.weights[i] = i == skip ? Real(0) : candidate.weights[k++];
    }
  }
  return best;
}

}  // namespace isochron
