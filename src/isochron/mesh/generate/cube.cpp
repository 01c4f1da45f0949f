#include "isochron/mesh/generate/cube.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/generate/check.h"
#include "isochron/mesh/generate/cut_lattice.h"

namespace isochron {
namespace {

CutLattice<4>::Cell kuhn_cell(unsigned mirror) {
  CutLattice<4>::Cell result{};
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
  if (smallest < 2 || largest > (1U << 20))
    throw UsageError(
        fmt::format("a box cannot have {} × {} × {} vertices (it needs corners, and ids for all of them); choose 2 to "
                    "{} along each axis",
                    options.nx, options.ny, options.nz, 1U << 20));
  for (const double extent : {options.extent.x, options.extent.y, options.extent.z}) require_positive("extent", extent);
  require_jitter(options.jitter);
}

CutLattice<4> lattice_of(const CubeOptions& options) {
  check_options(options);
  CutLattice<4> lattice;
  lattice.shape = {options.nx, options.ny, options.nz};
  lattice.edge = {options.extent.x / static_cast<double>(options.nx - 1),
                  options.extent.y / static_cast<double>(options.ny - 1),
                  options.extent.z / static_cast<double>(options.nz - 1)};
  lattice.cells.fill(kuhn_cell(mirror_of(options.diagonal)));
  lattice.jitter = options.jitter;
  lattice.seed = options.seed;
  return lattice;
}

}  // namespace

TetMesh generate_cube(const CubeOptions& options) {
  const CutLattice<4> lattice = lattice_of(options);
  // Below 2³⁰ tetrahedra, so that incidence lists can address them.
  if (lattice.whole().count() > (1ULL << 30) / 6)
    throw UsageError(
        fmt::format("a box cannot have {} × {} × {} vertices (ids for all of them run out); choose at most 178 million "
                    "in all",
                    options.nx, options.ny, options.nz));
  return lattice_mesh(lattice);
}

MeshPart<4> generate_cube_part(const CubeOptions& options, const PartChoice& choice) {
  return lattice_part(lattice_of(options), choice);
}

}  // namespace isochron
