#include "isochron/mesh/generate/square.h"

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/generate/check.h"
#include "isochron/mesh/generate/cut_lattice.h"

namespace isochron {
namespace {

/// Corners: 0 at the cell's origin, 1 along x, 2 along y, 3 opposite.
constexpr CutLattice<3>::Cell along_diagonal{{{0, 1, 3}, {0, 3, 2}}};
constexpr CutLattice<3>::Cell across_diagonal{{{0, 1, 2}, {1, 3, 2}}};

CutLattice<3> lattice_of(const SquareOptions& options, std::size_t most) {
  const std::size_t n = options.n;
  if (n < 2 || n > most)
    throw UsageError(fmt::format(
        "a square cannot have {} vertices a side (it needs corners, and ids for all of them); choose 2 to {}", n,
        most));
  require_positive("extent", options.extent);
  require_jitter(options.jitter);
  CutLattice<3> lattice;
  const double edge = options.extent / static_cast<double>(n - 1);
  lattice.shape = {n, n, 1};
  lattice.edge = {edge, edge, 0};
  lattice.cells = {along_diagonal, options.pattern == SquarePattern::alternating ? across_diagonal : along_diagonal};
  lattice.jitter = options.jitter;
  lattice.seed = options.seed;
  return lattice;
}

}  // namespace

TriangleMesh generate_square(const SquareOptions& options) { return lattice_mesh(lattice_of(options, 65535)); }

MeshPart<3> generate_square_part(const SquareOptions& options, const PartChoice& choice) {
  return lattice_part(lattice_of(options, std::size_t{1} << 28), choice);
}

}  // namespace isochron
