#include "isochron/mesh/generate/cube.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/generate/check.h"
#include "isochron/mesh/generate/displace.h"

namespace isochron {
namespace {

/// The six tetrahedra of a cell as corner numbers (bit k: far side along axis k), positively oriented.
std::array<std::array<unsigned, 4>, 6> kuhn_cell(unsigned mirror) {
  std::array<std::array<unsigned, 4>, 6> result{};
  std::array<int, 3> axes{0, 1, 2};
  for (auto& tet : result) {
    unsigned corner = 0;
    tet[0] = corner ^ mirror;
    for (int k = 0; k < 3; ++k) tet[k + 1] = (corner |= 1U << axes[k]) ^ mirror;
    int swaps = std::popcount(mirror);
    for (int a = 0; a < 3; ++a)
      for (int b = a + 1; b < 3; ++b) swaps += axes[a] > axes[b] ? 1 : 0;
    if (swaps % 2 == 1) std::swap(tet[2], tet[3]);
    std::next_permutation(axes.begin(), axes.end());
  }
  return result;
}

unsigned mirror_of(KuhnDiagonal diagonal) {
  switch (diagonal) {
    case KuhnDiagonal::npp: return 1;
    case KuhnDiagonal::pnp: return 2;
    case KuhnDiagonal::ppn: return 4;
    default: return 0;
  }
}

void check_options(const CubeOptions& options) {
  const std::size_t smallest = std::min({options.nx, options.ny, options.nz});
  const std::size_t largest = std::max({options.nx, options.ny, options.nz});
  // Below 2³⁰ tetrahedra, so that incidence lists can address them.
  if (smallest < 2 || largest > (1U << 20) || options.nx * options.ny * options.nz > (1ULL << 30) / 6)
    throw UsageError(
        fmt::format("a box cannot have {} × {} × {} vertices (it needs corners, and ids for all of them); choose at "
                    "least 2 along each axis and at most 178 million in all",
                    options.nx, options.ny, options.nz));
  for (const double extent : {options.extent.x, options.extent.y, options.extent.z}) require_positive("extent", extent);
  require_jitter(options.jitter);
}

}  // namespace

TetMesh generate_cube(const CubeOptions& options) {
  check_options(options);
  const std::size_t nx = options.nx, ny = options.ny, nz = options.nz;
  const Vec3d edge{options.extent.x / static_cast<double>(nx - 1), options.extent.y / static_cast<double>(ny - 1),
                   options.extent.z / static_cast<double>(nz - 1)};
  TetMesh mesh;
  mesh.points.reserve(nx * ny * nz);
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i)
        mesh.points.push_back(
            {edge.x * static_cast<double>(i), edge.y * static_cast<double>(j), edge.z * static_cast<double>(k)});

  const auto cell = kuhn_cell(mirror_of(options.diagonal));
  std::array<std::size_t, 8> offset{};
  for (unsigned corner = 0; corner < 8; ++corner)
    offset[corner] = (corner & 1U) + nx * ((corner >> 1U) & 1U) + nx * ny * (corner >> 2U);
  mesh.elements.reserve(6 * (nx - 1) * (ny - 1) * (nz - 1));
  for (std::size_t k = 0; k + 1 < nz; ++k)
    for (std::size_t j = 0; j + 1 < ny; ++j)
      for (std::size_t i = 0; i + 1 < nx; ++i) {
        const std::size_t origin = (k * ny + j) * nx + i;
        for (const auto& tet : cell)
          mesh.elements.push_back({VertexId(origin + offset[tet[0]]), VertexId(origin + offset[tet[1]]),
                                   VertexId(origin + offset[tet[2]]), VertexId(origin + offset[tet[3]])});
      }

  if (options.jitter > 0) {
    Random random(options.seed);
    std::vector<Vec3d> moves(mesh.vertex_count());
    for (std::size_t k = 1; k + 1 < nz; ++k)
      for (std::size_t j = 1; j + 1 < ny; ++j)
        for (std::size_t i = 1; i + 1 < nx; ++i)
          moves[(k * ny + j) * nx + i] = random_displacement(random, options.jitter * edge);
    displace(mesh, std::move(moves));
  }
  return mesh;
}

}  // namespace isochron
