// A place on a mesh, known by the smallest simplex that holds it.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/locator.h"

namespace isochron {

/// The vertices of the smallest simplex that holds the point (one for a vertex, two on an edge, …), with positive
/// weights that sum to 1. Being on an edge is exact here, which coordinates cannot say.
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

}  // namespace isochron
