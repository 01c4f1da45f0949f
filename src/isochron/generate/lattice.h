// Meshes on lattices: moving vertices without turning an element inside out, and lattices whose cells are all cut the
// same way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/mesh.h"
#include "isochron/partition.h"
#include "isochron/parts.h"
#include "isochron/types.h"

namespace isochron {

/// Six times the signed volume of a tetrahedron; twice the signed area of a triangle seen from +z.
inline double signed_measure(const std::array<Vec3d, 4>& p) {
  return dot(p[1] - p[0], cross(p[2] - p[0], p[3] - p[0]));
}
inline double signed_measure(const std::array<Vec3d, 3>& p) { return cross(p[1] - p[0], p[2] - p[0]).z; }
template <int Corners>
double signed_measure(const SimplexMesh<Corners>& mesh, const typename SimplexMesh<Corners>::Element& element) {
  std::array<Vec3d, Corners> points;
  for (int k = 0; k < Corners; ++k) points[k] = mesh.point(element[k]);
  return signed_measure(points);
}

/// Moves every point by its displacement (one per point). Where an element (positively oriented before; triangles lie
/// in a plane of constant z) would keep less than `keep` of its volume or area, the longest displacement of its
/// corners is halved until it keeps that. Returns how many elements needed it.
template <int Corners>
std::size_t displace(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, double keep = 0.1);

/// The same for a piece of a larger mesh, with its elements in the same order. Elements outside the piece may shorten
/// the moves of the vertices that are `unsure` (one flag per point). Those whose final place may depend on that are
/// unsure afterwards; all others are where displacing the whole mesh puts them.
template <int Corners>
void displace_piece(SimplexMesh<Corners>& mesh, std::vector<Vec3d> displacement, std::vector<bool>& unsure,
                    double keep = 0.1);

/// A vector with each component uniform in [−reach, reach] of that component.
inline Vec3d random_displacement(Random& random, Vec3d reach) {
  const double x = random.uniform(-reach.x, reach.x);
  const double y = random.uniform(-reach.y, reach.y);
  const double z = random.uniform(-reach.z, reach.z);
  return {x, y, z};
}

// ---- A lattice whose cells are all cut the same way: the whole mesh, a box of it, or one part of several.

/// Vertices run with x fastest, and so do cells; the elements of a cell follow one another. Flat lattices have
/// shape[2] = 1.
template <int Corners>
struct CutLattice {
  static constexpr std::size_t per_cell = Corners == 4 ? 6 : 2;
  /// The elements of a cell as corner numbers (bit k: far side along axis k), positively oriented.
  using Cell = std::array<std::array<unsigned, Corners>, per_cell>;

  LatticeIndex shape{1, 1, 1};
  Vec3d edge;
  std::array<Cell, 2> cells;  ///< for cells with an even and an odd sum of the first two indices
  double jitter = 0;          ///< inner vertices move by up to this share of a cell along each axis
  std::uint64_t seed = 1;

  [[nodiscard]] IndexBox whole() const { return {{}, shape}; }
  [[nodiscard]] std::uint64_t vertex(const LatticeIndex& at) const {
    return at[0] + shape[0] * (at[1] + shape[1] * at[2]);
  }
  [[nodiscard]] LatticeIndex index(std::uint64_t vertex) const {
    const std::uint64_t row = vertex / shape[0];
    return {vertex % shape[0], row % shape[1], row / shape[1]};
  }
  [[nodiscard]] Vec3d point(const LatticeIndex& at) const {
    return {edge.x * static_cast<double>(at[0]), edge.y * static_cast<double>(at[1]),
            edge.z * static_cast<double>(at[2])};
  }
  /// Cells along an axis.
  [[nodiscard]] std::uint64_t cells_along(int axis) const { return shape[axis] > 1 ? shape[axis] - 1 : 1; }
  [[nodiscard]] std::uint64_t element_count() const {
    return per_cell * cells_along(0) * cells_along(1) * cells_along(2);
  }
  [[nodiscard]] LatticeIndex corner(const LatticeIndex& cell, unsigned number) const {
    return {cell[0] + (number & 1U), cell[1] + (number >> 1U & 1U), cell[2] + (number >> 2U & 1U)};
  }
  [[nodiscard]] const Cell& pattern(const LatticeIndex& cell) const { return cells[(cell[0] + cell[1]) % 2]; }
};

/// The cells that have all their corners in a box of vertices.
template <int Corners>
IndexBox cells_inside(const CutLattice<Corners>& lattice, IndexBox vertices) {
  for (int d = 0; d < 3; ++d)
    if (lattice.shape[d] > 1) vertices.high[d] = std::max(vertices.low[d], vertices.high[d] - 1);
  return vertices;
}

/// The mesh over a box of the lattice, before any jitter, with vertices and elements in the order of the whole.
template <int Corners>
SimplexMesh<Corners> box_mesh(const CutLattice<Corners>& lattice, const IndexBox& box) {
  SimplexMesh<Corners> mesh;
  mesh.points.reserve(box.count());
  for_each_index(box, [&](const LatticeIndex& at) { mesh.points.push_back(lattice.point(at)); });
  std::array<std::uint64_t, 8> offset{};
  for (unsigned number = 0; number < 8; ++number)
    offset[number] = (number & 1U) + box.length(0) * ((number >> 1U & 1U) + box.length(1) * (number >> 2U));
  const IndexBox cells = cells_inside(lattice, box);
  mesh.elements.reserve(CutLattice<Corners>::per_cell * cells.count());
  for_each_index(cells, [&](const LatticeIndex& cell) {
    const std::uint64_t origin =
        (cell[0] - box.low[0]) + box.length(0) * (cell[1] - box.low[1] + box.length(1) * (cell[2] - box.low[2]));
    for (const auto& numbers : lattice.pattern(cell)) {
      typename SimplexMesh<Corners>::Element element;
      for (int k = 0; k < Corners; ++k) element[k] = VertexId(origin + offset[numbers[k]]);
      mesh.elements.push_back(element);
    }
  });
  return mesh;
}

/// How jitter moves the vertices of a box: nothing on the sides of the lattice, and inside the numbers that a run over
/// the whole lattice would draw.
template <int Corners>
std::vector<Vec3d> jitter_moves(const CutLattice<Corners>& lattice, const IndexBox& box) {
  IndexBox inner;
  for (int d = 0; d < 3; ++d) {
    const bool flat = lattice.shape[d] == 1;
    inner.low[d] = flat ? 0 : 1;
    inner.high[d] = flat ? 1 : lattice.shape[d] - 1;
  }
  constexpr std::uint64_t draws = 3;  // for one vertex
  const Vec3d reach = lattice.jitter * lattice.edge;
  std::vector<Vec3d> moves;
  moves.reserve(box.count());
  for_each_index(box, [&](const LatticeIndex& at) {
    if (!inner.contains(at)) {
      moves.push_back({});
      return;
    }
    Random random(lattice.seed);
    random.skip(draws * (at[0] - inner.low[0] +
                         inner.length(0) * (at[1] - inner.low[1] + inner.length(1) * (at[2] - inner.low[2]))));
    moves.push_back(random_displacement(random, reach));
  });
  return moves;
}

/// The whole mesh.
template <int Corners>
SimplexMesh<Corners> lattice_mesh(const CutLattice<Corners>& lattice) {
  SimplexMesh<Corners> mesh = box_mesh(lattice, lattice.whole());
  if (lattice.jitter > 0) displace(mesh, jitter_moves(lattice, lattice.whole()));
  return mesh;
}

/// The points of a box as they are in the whole mesh. Jitter is worked out on a larger box, large enough that what lies
/// outside cannot change the points inside; a little larger does, unless the jitter is so strong that shortened moves
/// shorten others across the lattice.
template <int Corners>
std::vector<Vec3d> box_points(const CutLattice<Corners>& lattice, const IndexBox& box) {
  for (std::uint64_t margin = lattice.jitter > 0 ? 2 : 0;; margin *= 2) {
    const IndexBox wide = box.grown(margin, lattice.whole());
    SimplexMesh<Corners> mesh = box_mesh(lattice, wide);
    bool known = true;
    if (lattice.jitter > 0) {
      std::vector<bool> unsure;
      unsure.reserve(mesh.vertex_count());
      for_each_index(wide, [&](const LatticeIndex& at) {
        bool outer = false;  // on a side of the box that is no side of the lattice
        for (int d = 0; d < 3; ++d)
          outer |= (at[d] == wide.low[d] && at[d] > 0) || (at[d] + 1 == wide.high[d] && at[d] + 1 < lattice.shape[d]);
        unsure.push_back(outer);
      });
      displace_piece(mesh, jitter_moves(lattice, wide), unsure);
      std::size_t v = 0;
      for_each_index(wide, [&](const LatticeIndex& at) { known &= !(unsure[v++] && box.contains(at)); });
    }
    if (!known) continue;
    std::vector<Vec3d> points;
    points.reserve(box.count());
    std::size_t v = 0;
    for_each_index(wide, [&](const LatticeIndex& at) {
      if (box.contains(at)) points.push_back(mesh.points[v]);
      ++v;
    });
    return points;
  }
}

/// One part of the lattice's mesh. Throws UsageError.
template <int Corners>
MeshPart<Corners> lattice_part(const CutLattice<Corners>& lattice, const PartChoice& choice) {
  check_choice(choice);
  const BlockPartition partition({lattice.shape}, choice.parts, choice.blocks_per_part);
  const std::vector<BlockPartition::Box> boxes = partition.boxes_of(choice.part);
  std::uint64_t count = 0;
  for (const auto& own : boxes) count += own.box.count();
  check_part_size(count);

  std::vector<std::uint64_t> owned;
  owned.reserve(count);
  std::vector<GlobalElement<Corners>> elements;
  for (const auto& own : boxes) {
    for_each_index(own.box, [&](const LatticeIndex& at) { owned.push_back(lattice.vertex(at)); });
    const IndexBox near = own.box.grown(1, lattice.whole());
    for_each_index(cells_inside(lattice, near), [&](const LatticeIndex& cell) {
      const std::uint64_t first = CutLattice<Corners>::per_cell *
                                  (cell[0] + lattice.cells_along(0) * (cell[1] + lattice.cells_along(1) * cell[2]));
      for (std::size_t e = 0; e < CutLattice<Corners>::per_cell; ++e) {
        GlobalElement<Corners> element{first + e, {}};
        bool touches = false;
        for (int k = 0; k < Corners; ++k) {
          const LatticeIndex corner = lattice.corner(cell, lattice.pattern(cell)[e][k]);
          touches |= own.box.contains(corner);
          element.corners[k] = lattice.vertex(corner);
        }
        if (touches) elements.push_back(element);
      }
    });
  }
  MeshPart<Corners> part = assemble_part(std::move(elements), std::move(owned), [&](std::uint64_t vertex) {
    return partition.part_of(0, lattice.index(vertex));
  });
  part.whole_vertices = lattice.whole().count();
  part.whole_elements = lattice.element_count();
  for (const auto& own : boxes) {
    const IndexBox near = own.box.grown(1, lattice.whole());
    const std::vector<Vec3d> points = box_points(lattice, near);
    std::size_t at = 0;
    for_each_index(near, [&](const LatticeIndex& index) {
      const VertexId v = part.local_vertex(lattice.vertex(index));
      if (v.valid()) part.mesh.points[v.index()] = points[at];
      ++at;
    });
  }
  return part;
}

}  // namespace isochron
