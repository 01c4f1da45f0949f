#include "isochron/mesh/generate/square.h"

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/generate/check.h"
#include "isochron/mesh/generate/displace.h"

namespace isochron {

TriangleMesh generate_square(const SquareOptions& options) {
  const std::size_t n = options.n;
  if (n < 2 || n > 65535)
    throw UsageError(fmt::format(
        "a square cannot have {} vertices a side (it needs corners, and ids for all of them); choose 2 to 65535", n));
  require_positive("extent", options.extent);
  require_jitter(options.jitter);
  TriangleMesh mesh;
  const double edge = options.extent / static_cast<double>(n - 1);
  mesh.points.reserve(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      mesh.points.push_back({edge * static_cast<double>(i), edge * static_cast<double>(j), 0});
  mesh.elements.reserve(2 * (n - 1) * (n - 1));
  for (std::size_t j = 0; j + 1 < n; ++j)
    for (std::size_t i = 0; i + 1 < n; ++i) {
      const VertexId v00(j * n + i), v10(j * n + i + 1), v01((j + 1) * n + i), v11((j + 1) * n + i + 1);
      if (options.pattern == SquarePattern::alternating && (i + j) % 2 == 1) {
        mesh.elements.push_back({v00, v10, v01});
        mesh.elements.push_back({v10, v11, v01});
      } else {
        mesh.elements.push_back({v00, v10, v11});
        mesh.elements.push_back({v00, v11, v01});
      }
    }
  if (options.jitter > 0) {
    Random random(options.seed);
    const double reach = options.jitter * edge;
    std::vector<Vec3d> moves(mesh.vertex_count());
    for (std::size_t j = 1; j + 1 < n; ++j)
      for (std::size_t i = 1; i + 1 < n; ++i) moves[j * n + i] = random_displacement(random, {reach, reach, 0});
    displace(mesh, std::move(moves));
  }
  return mesh;
}

}  // namespace isochron
