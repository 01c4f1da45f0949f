#include "isochron/generate.h"

#include <array>
#include <numbers>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/generate/check.h"

namespace isochron {
namespace {

struct Icosahedron {
  std::array<Vec3d, 12> corners;
  std::array<std::array<int, 3>, 20> faces;
  std::array<std::array<int, 2>, 30> edges;
};

/// Corners are the cyclic permutations of (0, ±1, ±φ); edges are the pairs at distance 2, faces the triples of those.
Icosahedron icosahedron() {
  Icosahedron result{};
  std::size_t corner = 0, face = 0, edge = 0;
  for (int axis = 0; axis < 3; ++axis)
    for (const double one : {-1.0, 1.0})
      for (const double phi : {-std::numbers::phi, std::numbers::phi}) {
        Vec3d p;
        p[(axis + 1) % 3] = one;
        p[(axis + 2) % 3] = phi;
        result.corners[corner++] = p;
      }
  const auto adjacent = [&](int a, int b) { return norm(result.corners[a] - result.corners[b]) < 2.1; };
  for (int a = 0; a < 12; ++a)
    for (int b = a + 1; b < 12; ++b) {
      if (!adjacent(a, b)) continue;
      result.edges[edge++] = {a, b};
      for (int c = b + 1; c < 12; ++c) {
        if (!adjacent(a, c) || !adjacent(b, c)) continue;
        const auto& p = result.corners;
        const bool outward = dot(cross(p[b] - p[a], p[c] - p[a]), p[a]) > 0;
        result.faces[face++] = outward ? std::array<int, 3>{a, b, c} : std::array<int, 3>{a, c, b};
      }
    }
  return result;
}

/// Numbers the vertices: the 12 corners, then the inside of each edge, then the inside of each face.
class Numbering {
 public:
  Numbering(const Icosahedron& solid, std::size_t frequency) : f_(frequency) {
    for (std::size_t e = 0; e < solid.edges.size(); ++e) {
      const auto [a, b] = solid.edges[e];
      edge_[a][b] = edge_[b][a] = e;
    }
  }

  [[nodiscard]] VertexId on_edge(int a, int b, std::size_t steps_from_a) const {
    if (steps_from_a == 0) return VertexId(a);
    if (steps_from_a == f_) return VertexId(b);
    const std::size_t step = a < b ? steps_from_a : f_ - steps_from_a;
    return VertexId(12 + edge_[a][b] * (f_ - 1) + step - 1);
  }
  /// `along` steps towards corner 1 and `up` towards corner 2 of the face, along + up ≤ f.
  [[nodiscard]] VertexId on_face(std::size_t number, const std::array<int, 3>& face, std::size_t along,
                                 std::size_t up) const {
    if (up == 0) return on_edge(face[0], face[1], along);
    if (along == 0) return on_edge(face[0], face[2], up);
    if (along + up == f_) return on_edge(face[1], face[2], up);
    const std::size_t inside = (f_ - 1) * (f_ - 2) / 2;
    const std::size_t rows_before = (up - 1) * (f_ - 1) - (up - 1) * up / 2;  // row r holds f − 1 − r of them
    return VertexId(12 + 30 * (f_ - 1) + number * inside + rows_before + along - 1);
  }

 private:
  std::size_t f_;
  std::array<std::array<std::size_t, 12>, 12> edge_{};
};

}  // namespace

TriangleMesh generate_sphere(const SphereOptions& options) {
  const std::size_t f = options.frequency;
  if (f < 1 || f > 7000)
    throw UsageError(fmt::format("the frequency cannot be {} (10 F² + 2 vertices need ids); choose 1 to 7000", f));
  require_positive("radius", options.radius);
  const Icosahedron solid = icosahedron();
  const Numbering numbering(solid, f);
  TriangleMesh mesh;
  mesh.points.resize(10 * f * f + 2);
  mesh.elements.reserve(20 * f * f);
  for (std::size_t number = 0; number < solid.faces.size(); ++number) {
    const auto& face = solid.faces[number];
    const auto at = [&](std::size_t along, std::size_t up) { return numbering.on_face(number, face, along, up); };
    for (std::size_t up = 0; up <= f; ++up)
      for (std::size_t along = 0; along + up <= f; ++along) {
        const Vec3d flat = static_cast<double>(f - along - up) * solid.corners[face[0]] +
                           static_cast<double>(along) * solid.corners[face[1]] +
                           static_cast<double>(up) * solid.corners[face[2]];
        mesh.points[at(along, up).index()] = (options.radius / norm(flat)) * flat;
        if (along + up < f) mesh.elements.push_back({at(along, up), at(along + 1, up), at(along, up + 1)});
        if (along + up + 1 < f) mesh.elements.push_back({at(along + 1, up), at(along + 1, up + 1), at(along, up + 1)});
      }
  }
  return mesh;
}

}  // namespace isochron
