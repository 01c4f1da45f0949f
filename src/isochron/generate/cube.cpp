#include "isochron/generate.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/generate/check.h"
#include "isochron/generate/lattice.h"

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

namespace {

constexpr int no_corner = -1;

/// Draws every decision about the lattice from its place, so that neighbouring cells agree without sharing storage.
class RandomLattice {
 public:
  RandomLattice(std::size_t n, double random_faces, std::uint64_t seed)
      : n_(n), random_faces_(random_faces), seed_(seed) {}

  using Cell = std::array<std::size_t, 3>;

  /// Whether the face of `cell` across `axis` on `side` is cut along its falling diagonal, (1,0)–(0,1) in the two other
  /// axes, rather than along (0,0)–(1,1).
  [[nodiscard]] bool falling(Cell cell, int axis, int side) const {
    cell[axis] += static_cast<std::size_t>(side);
    Random random(seed_ ^ (0x9e3779b9ULL * (1 + 4 * place(cell) + static_cast<std::uint64_t>(axis))));
    random.bits();
    if (random.uniform() < random_faces_) return random.uniform() < 0.5;
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    std::uint64_t best = 0;
    bool result = false;
    for (int corner = 0; corner < 4; ++corner) {
      Cell vertex = cell;
      vertex[b] += static_cast<std::size_t>(corner & 1);
      vertex[c] += static_cast<std::size_t>(corner >> 1);
      const std::uint64_t r = rank(vertex);
      if (r >= best) {
        best = r;
        result = corner == 1 || corner == 2;
      }
    }
    return result;
  }

  /// The highest-ranking corner of the cell that has a diagonal in each of its three faces; `no_corner` without one.
  [[nodiscard]] int fan_corner(const Cell& cell, const std::array<bool, 6>& diagonals) const {
    std::uint64_t best = 0;
    int result = no_corner;
    for (int corner = 0; corner < 8; ++corner) {
      bool on_all = true;
      for (int axis = 0; axis < 3; ++axis) {
        const int side = (corner >> axis) & 1;
        const bool differ = ((corner >> ((axis + 1) % 3)) & 1) != ((corner >> ((axis + 2) % 3)) & 1);
        on_all = on_all && differ == diagonals[2 * axis + side];
      }
      const std::uint64_t r = rank({cell[0] + (corner & 1), cell[1] + ((corner >> 1) & 1), cell[2] + (corner >> 2)});
      if (on_all && r >= best) {
        best = r;
        result = corner;
      }
    }
    return result;
  }

  [[nodiscard]] std::array<bool, 6> diagonals(const Cell& cell) const {
    std::array<bool, 6> result{};
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) result[2 * axis + side] = falling(cell, axis, side);
    return result;
  }

 private:
  [[nodiscard]] std::uint64_t place(const Cell& p) const { return (p[2] * n_ + p[1]) * n_ + p[0]; }
  [[nodiscard]] std::uint64_t rank(const Cell& vertex) const {
    Random random(~seed_ ^ (0x85ebca6bULL * (1 + place(vertex))));
    return random.bits();
  }

  std::size_t n_;
  double random_faces_;
  std::uint64_t seed_;
};

/// Adds the tetrahedra between `apex` and the cell's faces; with an apex corner, only the faces away from it.
void add_cell(TetMesh& mesh, const std::array<VertexId, 8>& corners, const std::array<bool, 6>& diagonals,
              VertexId apex, int apex_corner) {
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side) {
      if (apex_corner != no_corner && ((apex_corner >> axis) & 1) == side) continue;
      const int b = 1 << ((axis + 1) % 3), c = 1 << ((axis + 2) % 3), base = side << axis;
      std::array<VertexId, 4> ring{corners[base], corners[base | b], corners[base | b | c], corners[base | c]};
      if (side == 0) std::swap(ring[1], ring[3]);  // outward
      const int first = diagonals[2 * axis + side] ? 1 : 0;
      mesh.elements.push_back({apex, ring[first], ring[first + 1], ring[first + 2]});
      mesh.elements.push_back({apex, ring[first], ring[first + 2], ring[(first + 3) % 4]});
    }
}

}  // namespace

TetMesh generate_irregular_cube(const IrregularCubeOptions& options) {
  const std::size_t n = options.n;
  if (n < 2 || n > 400)
    throw UsageError(fmt::format(
        "a cube cannot have {} vertices a side (it needs corners, and ids for all of them); choose 2 to 400", n));
  require_positive("extent", options.extent);
  require_jitter(options.jitter);
  require_share("share of random faces", options.random_faces);

  const RandomLattice lattice(n, options.random_faces, options.seed);
  const std::size_t cells = n - 1;
  const double edge = options.extent / static_cast<double>(cells);
  Random random(options.seed);
  TetMesh mesh;
  std::vector<Vec3d> moves;
  // A row's lattice vertices are followed by the vertices inside its cells: ids stay local.
  std::vector<std::size_t> row_start(n * n);
  const auto add_point = [&](const Vec3d& at, bool interior) {
    const double reach = interior ? options.jitter * edge : 0;
    mesh.points.push_back(edge * at);
    moves.push_back(random_displacement(random, {reach, reach, reach}));
  };
  std::vector<std::int8_t> fan(cells * cells * cells);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) {
      row_start[k * n + j] = mesh.points.size();
      const Vec3d row{0, static_cast<double>(j), static_cast<double>(k)};
      const bool inner_row = j > 0 && j < cells && k > 0 && k < cells;
      for (std::size_t i = 0; i < n; ++i)
        add_point(row + Vec3d{static_cast<double>(i), 0, 0}, inner_row && i > 0 && i < cells);
      if (j == cells || k == cells) continue;
      for (std::size_t i = 0; i < cells; ++i) {
        const int corner = lattice.fan_corner({i, j, k}, lattice.diagonals({i, j, k}));
        fan[(k * cells + j) * cells + i] = static_cast<std::int8_t>(corner);
        if (corner == no_corner) add_point(row + Vec3d{static_cast<double>(i) + 0.5, 0.5, 0.5}, true);
      }
    }

  mesh.elements.reserve(fan.size() * 8);
  for (std::size_t k = 0; k < cells; ++k)
    for (std::size_t j = 0; j < cells; ++j) {
      std::size_t inside = row_start[k * n + j] + n;
      for (std::size_t i = 0; i < cells; ++i) {
        std::array<VertexId, 8> corners;
        for (std::size_t corner = 0; corner < 8; ++corner)
          corners[corner] = VertexId(row_start[(k + (corner >> 2)) * n + j + ((corner >> 1) & 1)] + i + (corner & 1));
        const int apex = fan[(k * cells + j) * cells + i];
        const VertexId top = apex == no_corner ? VertexId(inside++) : corners[static_cast<std::size_t>(apex)];
        add_cell(mesh, corners, lattice.diagonals({i, j, k}), top, apex);
      }
    }
  if (options.jitter > 0) displace(mesh, std::move(moves));
  return mesh;
}

}  // namespace isochron
