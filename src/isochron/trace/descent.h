// Places on a mesh, and one step down its times: along the characteristic through one element, or along a face or an
// edge of it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/locator.h"
#include "isochron/mesh/visibility.h"
#include "isochron/metric.h"

namespace isochron {

/// A place on a mesh: the vertices of the smallest simplex that holds the point (one for a vertex, two on an edge, …),
/// with positive weights that sum to 1. Being on an edge is exact here, which coordinates cannot say.
template <int Corners>
struct MeshPoint {
  int count = 0;
  std::array<VertexId, Corners> vertices{};
  std::array<double, Corners> weights{};

  [[nodiscard]] std::span<const VertexId> carrier() const { return {vertices.data(), static_cast<std::size_t>(count)}; }
};

/// Weights below this share are taken as 0: the point is on the face without that corner.
constexpr double negligible_weight = 1e-10;

template <int Corners>
MeshPoint<Corners> mesh_point(VertexId v) {
  return {1, {v}, {1.0}};
}

/// The point of an element with these weights, which are made to sum to 1.
template <int Corners>
MeshPoint<Corners> mesh_point(const SimplexMesh<Corners>& mesh, ElementId e,
                              const std::array<double, Corners>& weights) {
  MeshPoint<Corners> point;
  double sum = 0;
  for (int c = 0; c < Corners; ++c) {
    if (!(weights[c] > negligible_weight)) continue;
    point.vertices[point.count] = mesh.element(e)[c];
    point.weights[point.count++] = weights[c];
    sum += weights[c];
  }
  for (int i = 0; i < point.count; ++i) point.weights[i] /= sum;
  return point;
}

template <int Corners>
Vec3d position(const SimplexMesh<Corners>& mesh, const MeshPoint<Corners>& point) {
  if (point.count == 1) return mesh.point(point.vertices[0]);
  Vec3d x;
  for (int i = 0; i < point.count; ++i) x += point.weights[i] * mesh.point(point.vertices[i]);
  return x;
}

/// The interpolated time.
template <int Corners>
double time_at(std::span<const double> times, const MeshPoint<Corners>& point) {
  if (point.count == 1) return times[point.vertices[0].index()];
  double t = 0;
  for (int i = 0; i < point.count; ++i) t += point.weights[i] * times[point.vertices[i].index()];
  return t;
}

/// The point's weights at the corners of an element that has all vertices of its carrier.
template <int Corners>
std::array<double, Corners> weights_in(const SimplexMesh<Corners>& mesh, ElementId e, const MeshPoint<Corners>& point) {
  std::array<double, Corners> weights{};
  for (int i = 0; i < point.count; ++i)
    for (int c = 0; c < Corners; ++c)
      if (mesh.element(e)[c] == point.vertices[i]) weights[c] = point.weights[i];
  return weights;
}

/// What is traced on. Times are one per vertex, +inf where unreached.
template <int Corners>
struct TimedMesh {
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  const Adjacency& adjacency;
  std::span<const double> times;
};

/// The direction of steepest descent per travel time in a simplex of `Corners` or fewer corners where the time is
/// linear: −D∇u of the metric within the simplex.
template <int Corners>
struct Slope {
  double rate = 0;                        ///< descent of the time per travel time
  std::array<double, Corners> weights{};  ///< change of the weights per travel time; they sum to 0
};

/// Solves G x = b for a positive definite matrix of n ≤ 3 rows (Cholesky); empty when it is not clearly so.
inline std::optional<std::array<double, 3>> solve_gram(std::array<std::array<double, 3>, 3> g, std::array<double, 3> b,
                                                       int n) {
  constexpr double flat = 1e-14;  // of a squared height over a squared edge
  for (int j = 0; j < n; ++j) {
    const double size = g[j][j];
    for (int k = 0; k < j; ++k) g[j][j] -= g[j][k] * g[j][k];
    if (!(g[j][j] > flat * size)) return std::nullopt;
    g[j][j] = std::sqrt(g[j][j]);
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) g[i][j] -= g[i][k] * g[j][k];
      g[i][j] /= g[j][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) b[i] -= g[i][k] * b[k];
    b[i] /= g[i][i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) b[i] -= g[k][i] * b[k];
    b[i] /= g[i][i];
  }
  return b;
}

/// The slope within the corners of an element whose bits are set in `face`.
template <int Corners>
std::optional<Slope<Corners>> slope_in(const std::array<double, SimplexMesh<Corners>::edges>& squared,
                                       const std::array<double, Corners>& times, unsigned face) {
  std::array<int, Corners> corner{};
  int n = 0;
  for (int c = 0; c < Corners; ++c)
    if ((face >> c & 1U) != 0) corner[n++] = c;
  const auto length2 = [&](int a, int b) { return a == b ? 0.0 : squared[edge_index(corner[a], corner[b])]; };
  std::array<std::array<double, 3>, 3> gram{};
  std::array<double, 3> rise{};
  for (int i = 1; i < n; ++i) {
    rise[i - 1] = times[corner[i]] - times[corner[0]];
    for (int j = 1; j <= i; ++j) gram[i - 1][j - 1] = 0.5 * (length2(0, i) + length2(0, j) - length2(i, j));
  }
  const auto q = solve_gram(gram, rise, n - 1);
  if (!q) return std::nullopt;
  double rate2 = 0;
  for (int i = 0; i + 1 < n; ++i) rate2 += rise[i] * (*q)[i];
  if (!(rate2 > 0) || !std::isfinite(rate2)) return std::nullopt;
  Slope<Corners> slope;
  slope.rate = std::sqrt(rate2);
  for (int i = 1; i < n; ++i) {
    slope.weights[corner[i]] = -(*q)[i - 1] / slope.rate;
    slope.weights[corner[0]] -= slope.weights[corner[i]];
  }
  return slope;
}

/// Goes from `weights` down the slope to the border of the simplex.
template <int Corners>
MeshPoint<Corners> run_down(const SimplexMesh<Corners>& mesh, ElementId e, std::array<double, Corners> weights,
                            const Slope<Corners>& slope) {
  double cost = std::numeric_limits<double>::infinity();
  int leaving = -1;
  for (int c = 0; c < Corners; ++c) {
    if (!(slope.weights[c] < 0) || !(weights[c] / -slope.weights[c] < cost)) continue;
    cost = weights[c] / -slope.weights[c];
    leaving = c;
  }
  for (int c = 0; c < Corners; ++c) weights[c] = c == leaving ? 0 : weights[c] + cost * slope.weights[c];
  return mesh_point<Corners>(mesh, e, weights);
}

/// A way down from a point: through an element, or along one of its faces or edges.
template <int Corners>
struct Descent {
  ElementId element;
  Slope<Corners> slope;
};

/// All ways that lead down from the point, the steepest first. On a plateau and at a minimum there are none.
template <int Corners>
void find_descents(const TimedMesh<Corners>& on, const MeshPoint<Corners>& from, std::vector<Descent<Corners>>& found) {
  found.clear();
  for_elements_sharing(on.mesh, on.adjacency, from.carrier(), [&](ElementId e) {
    std::array<double, Corners> times;
    bool reached = true;
    for (int c = 0; c < Corners; ++c) {
      times[c] = on.times[on.mesh.element(e)[c].index()];
      reached = reached && std::isfinite(times[c]);
    }
    if (!reached) return;
    const auto weights = weights_in(on.mesh, e, from);
    unsigned carrier = 0;
    for (int c = 0; c < Corners; ++c) carrier |= weights[c] > 0 ? 1U << c : 0U;
    const auto squared = squared_lengths(on.mesh, on.metric, e);
    for (unsigned face = carrier; face < 1U << Corners; ++face) {
      if ((face & carrier) != carrier || std::popcount(face) < 2) continue;
      const auto slope = slope_in<Corners>(squared, times, face);
      if (!slope) continue;
      bool inward = true;  // into the face, not out of it across the side the point is on
      for (int c = 0; c < Corners; ++c)
        inward = inward && ((face >> c & 1U) == 0 || weights[c] > 0 || slope->weights[c] > 0);
      if (inward) found.push_back({e, *slope});
    }
  });
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.slope.rate > b.slope.rate; });
}

/// The end of the steepest step after which the interpolated time is strictly less; none on a plateau and at a minimum.
/// `scratch` saves allocations.
template <int Corners>
std::optional<MeshPoint<Corners>> descend(const TimedMesh<Corners>& on, const MeshPoint<Corners>& from,
                                          std::vector<Descent<Corners>>& scratch) {
  find_descents(on, from, scratch);
  const double now = time_at(on.times, from);
  for (const Descent<Corners>& way : scratch) {
    const auto to = run_down<Corners>(on.mesh, way.element, weights_in(on.mesh, way.element, from), way.slope);
    if (time_at(on.times, to) < now) return to;
  }
  return std::nullopt;
}

}  // namespace isochron
