// Meshes, metrics and measures that the tests of the solver share.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/solver.h"

namespace isochron::test {

inline const SymTensor3d diag149 = SymTensor3d::diagonal(1, 4, 9);

inline TetMesh cube(std::size_t n, double jitter = 0, std::uint64_t seed = 1) {
  const double side = static_cast<double>(n - 1);
  return generate_cube({.nx = n, .ny = n, .nz = n, .extent = {side, side, side}, .jitter = jitter, .seed = seed});
}

inline TriangleMesh square(std::size_t n, double jitter = 0) {
  return generate_square({.n = n, .extent = static_cast<double>(n - 1), .jitter = jitter});
}

/// `mesh` with `other` beside it, apart.
inline TetMesh beside(TetMesh mesh, const TetMesh& other) {
  const std::size_t first = mesh.vertex_count();
  for (const Vec3d p : other.points) mesh.points.push_back(p + Vec3d{100, 0, 0});
  for (auto element : other.elements) {
    for (VertexId& v : element) v = VertexId(v.index() + first);
    mesh.elements.push_back(element);
  }
  return mesh;
}

inline VertexId vertex(std::size_t v) { return VertexId(v); }

/// As many equilateral triangles as wanted around vertex 0, winding round it in sheets that do not touch.
inline TriangleMesh fan_of_triangles(std::size_t count) {
  TriangleMesh fan;
  fan.points.push_back({0, 0, 0});
  for (std::size_t i = 0; i <= count; ++i) {
    const double angle = 1.0471975511965976 * static_cast<double>(i % 6);
    fan.points.push_back({std::cos(angle), std::sin(angle), 0});
  }
  for (std::size_t i = 1; i <= count; ++i) fan.elements.push_back({vertex(0), vertex(i), vertex(i + 1)});
  return fan;
}

/// As many slivers as wanted around vertex 0, once round: a disc.
inline TriangleMesh disc_of_slivers(std::size_t count) {
  TriangleMesh disc;
  disc.points.push_back({0, 0, 0});
  for (std::size_t i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(count);
    disc.points.push_back({std::cos(angle), std::sin(angle), 0});
    disc.elements.push_back({vertex(0), vertex(1 + i), vertex(1 + (i + 1) % count)});
  }
  return disc;
}

/// `fan_of_triangles` with tetrahedra around the edge of vertex 0 and the last one.
inline TetMesh fan_of_tets(std::size_t count) {
  const TriangleMesh flat = fan_of_triangles(count);
  TetMesh fan;
  fan.points = flat.points;
  fan.points.push_back({0, 0, 1});
  for (const auto& element : flat.elements)
    fan.elements.push_back({element[0], element[1], element[2], vertex(flat.vertex_count())});
  return fan;
}

/// One element, with an unused vertex between its own.
inline TriangleMesh one_triangle() {
  TriangleMesh mesh;
  mesh.points = {{0, 0, 0}, {5, 5, 5}, {1, 0, 0}, {0, 1, 0}};
  mesh.elements = {{vertex(0), vertex(2), vertex(3)}};
  return mesh;
}
inline TetMesh one_tet() {
  TetMesh mesh;
  mesh.points = {{0, 0, 0}, {5, 5, 5}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.elements = {{vertex(0), vertex(2), vertex(3), vertex(4)}};
  return mesh;
}

inline Sources from(VertexId v, double time = 0) {
  Sources sources;
  sources.vertices.push_back({v, time});
  return sources;
}

inline Sources from_two(std::size_t a, std::size_t b) {
  Sources sources = from(vertex(a), 0.5);
  sources.vertices.push_back({vertex(b), 3});
  return sources;
}

/// A rough metric: fibres in independent random directions, `along` times as quick as across, so that many corners are
/// obtuse in it.
template <int Corners>
Metric rough_fibers(const SimplexMesh<Corners>& mesh, std::uint64_t seed, double along = 3) {
  Random random(seed);
  FiberMetric fibers;
  fibers.velocities = {{along, 1, 1}};
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    Vec3d f{random.normal(), random.normal(), Corners == 4 ? random.normal() : 0};
    f = f / norm(f);
    fibers.fiber.push_back({static_cast<float>(f.x), static_cast<float>(f.y), static_cast<float>(f.z)});
  }
  return Metric(fibers);
}

/// Speeds between 1/e and e, a new one in each element.
template <int Corners>
Metric rough_speed(const SimplexMesh<Corners>& mesh) {
  Random random(5);
  SpeedMetric speed;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) speed.speed.push_back(std::exp(2 * random.uniform() - 1));
  return Metric(std::move(speed));
}

/// Infinite where one side is reached and the other is not.
inline double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

template <int Corners>
double mean_error(const SimplexMesh<Corners>& mesh, const SymTensor3d& m, const Arrival& arrival, Vec3d source) {
  double sum = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v)
    sum += std::abs(arrival.times[v] - std::sqrt(squared_length(m, mesh.points[v] - source)));
  return sum / static_cast<double>(mesh.vertex_count());
}

}  // namespace isochron::test
