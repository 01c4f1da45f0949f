#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/generate/lattice.h"

namespace isochron {
namespace TEST_FILE {

/// The owners that the parts claim, and what they are cut from: each part must be what `cut_part` makes of the whole.
template <int Corners, class PartOf>
void expect_parts(const SimplexMesh<Corners>& whole, std::uint32_t parts, PartOf&& part_of) {
  std::vector<MeshPart<Corners>> all;
  std::vector<std::uint32_t> owner(whole.vertex_count(), parts);
  for (std::uint32_t p = 0; p < parts; ++p) {
    all.push_back(part_of(p));
    for (std::size_t v = 0; v < all[p].owned; ++v) {
      std::uint32_t& now = owner.at(all[p].global_vertex[v]);
      ASSERT_EQ(now, parts) << "vertex " << all[p].global_vertex[v] << " has two owners";
      now = p;
    }
  }
  ASSERT_EQ(std::count(owner.begin(), owner.end(), parts), 0);
  for (std::uint32_t p = 0; p < parts; ++p) {
    const MeshPart<Corners> expected = cut_part(whole, owner, p);
    EXPECT_EQ(all[p].owned, expected.owned);
    EXPECT_EQ(all[p].global_vertex, expected.global_vertex);
    EXPECT_EQ(all[p].global_element, expected.global_element);
    EXPECT_EQ(all[p].ghost_owner, expected.ghost_owner);
    EXPECT_EQ(all[p].mesh.elements, expected.mesh.elements);
    EXPECT_EQ(all[p].mesh.points, expected.mesh.points);
    EXPECT_EQ(all[p].whole_vertices, expected.whole_vertices);
    EXPECT_EQ(all[p].whole_elements, expected.whole_elements);
  }
}

/// Largest and smallest number of owned vertices.
template <class PartOf>
std::pair<std::size_t, std::size_t> owned_range(std::uint32_t parts, PartOf&& part_of) {
  std::size_t least = ~std::size_t{0}, most = 0;
  for (std::uint32_t p = 0; p < parts; ++p) {
    const std::size_t owned = part_of(p).owned;
    least = std::min(least, owned);
    most = std::max(most, owned);
  }
  return {least, most};
}

TEST(CubePart, IsTheSerialMeshCut) {
  for (const double jitter : {0.0, 0.2, 0.35}) {
    const CubeOptions options{
        .nx = 11, .ny = 9, .nz = 10, .extent = {2, 1, 3}, .jitter = jitter, .seed = 7, .diagonal = KuhnDiagonal::pnp};
    const TetMesh whole = generate_cube(options);
    for (const auto& [parts, blocks] : {std::pair{1U, 1U}, {2U, 1U}, {3U, 4U}, {7U, 1U}, {8U, 3U}})
      expect_parts(whole, parts, [&, parts = parts, blocks = blocks](std::uint32_t p) {
        return generate_cube_part(options, {p, parts, blocks});
      });
  }
}

TEST(SquarePart, IsTheSerialMeshCut) {
  for (const double jitter : {0.0, 0.3, 0.49})
    for (const SquarePattern pattern : {SquarePattern::diagonal, SquarePattern::alternating}) {
      const SquareOptions options{.n = 40, .extent = 3, .jitter = jitter, .seed = 3, .pattern = pattern};
      const TriangleMesh whole = generate_square(options);
      for (const auto& [parts, blocks] : {std::pair{1U, 2U}, {4U, 1U}, {5U, 3U}})
        expect_parts(whole, parts, [&, parts = parts, blocks = blocks](std::uint32_t p) {
          return generate_square_part(options, {p, parts, blocks});
        });
    }
}

TEST(VentriclePart, IsTheSerialMeshCutWithItsFibres) {
  for (const std::size_t elements : {400U, 20000U}) {
    const VentricleOptions options{.elements = elements};
    const Ventricle whole = generate_ventricle(options);
    for (const auto& [parts, blocks] : {std::pair{1U, 1U}, {2U, 1U}, {3U, 4U}, {7U, 1U}, {16U, 2U}}) {
      expect_parts(whole.mesh, parts, [&, parts = parts, blocks = blocks](std::uint32_t p) {
        return generate_ventricle_part(options, {p, parts, blocks}).part;
      });
      for (std::uint32_t p = 0; p < parts; ++p) {
        const VentriclePart own = generate_ventricle_part(options, {p, parts, blocks});
        for (std::size_t e = 0; e < own.part.mesh.element_count(); ++e) {
          ASSERT_EQ(own.fiber[e], whole.fiber[own.part.global_element[e]]);
          ASSERT_EQ(own.sheet[e], whole.sheet[own.part.global_element[e]]);
        }
        for (std::size_t v = 0; v < own.part.mesh.vertex_count(); ++v) {
          ASSERT_EQ(own.transmural[v], whole.transmural[own.part.global_vertex[v]]);
          ASSERT_EQ(own.apicobasal[v], whole.apicobasal[own.part.global_vertex[v]]);
        }
      }
    }
  }
}

TEST(BlockPartition, SharesAreEqualAndBlocksNearlyCubes) {
  for (const std::uint32_t parts : {2U, 5U, 8U, 13U, 64U}) {
    const auto part = [&](std::uint32_t p) {
      return generate_cube_part({.nx = 40, .ny = 40, .nz = 40}, {p, parts, 1});
    };
    const auto [least, most] = owned_range(parts, part);
    EXPECT_LE(static_cast<double>(most), 1.2 * 64000 / parts) << parts;
    EXPECT_GE(static_cast<double>(least), 0.8 * 64000 / parts) << parts;
  }
  const BlockPartition cut({{64, 64, 64}}, 8, 8);
  for (std::uint32_t p = 0; p < 8; ++p)
    for (const auto& piece : cut.boxes_of(p))
      for (int d = 0; d < 3; ++d) EXPECT_EQ(piece.box.length(d), 16U);
}

TEST(BlockPartition, NeighboursBelongToDifferentParts) {
  const BlockPartition cut({{64, 64, 64}}, 8, 8);
  for (std::uint64_t i = 15; i < 63; i += 16)
    for (std::uint64_t j = 8; j < 64; j += 16)
      for (std::uint64_t k = 8; k < 64; k += 16) {
        EXPECT_NE(cut.part_of(0, {i, j, k}), cut.part_of(0, {i + 1, j, k}));
        EXPECT_NE(cut.part_of(0, {j, i, k}), cut.part_of(0, {j, i + 1, k}));
        EXPECT_NE(cut.part_of(0, {j, k, i}), cut.part_of(0, {j, k, i + 1}));
      }
}

TEST(BlockPartition, HasNoMoreBlocksThanThereAreVertices) {
  const BlockPartition cut({{2, 2, 2}, {1, 3, 1}}, 40, 2);
  std::uint64_t all = 0;
  for (std::uint32_t p = 0; p < 40; ++p)
    for (const auto& piece : cut.boxes_of(p)) {
      EXPECT_FALSE(piece.box.empty());
      for_each_index(piece.box, [&](const LatticeIndex& at) { EXPECT_EQ(cut.part_of(piece.lattice, at), p); });
      all += piece.box.count();
    }
  EXPECT_EQ(all, 11U);
}

TEST(CubePart, OfAGiantHasItsIds) {
  // 8·10⁹ vertices and 4.8·10¹⁰ tetrahedra: ids beyond 32 bits.
  constexpr std::uint64_t n = 2000;
  constexpr std::uint32_t parts = 1U << 21;
  const CubeOptions options{.nx = n, .ny = n, .nz = n, .jitter = 0.2};
  for (const std::uint32_t p : {0U, parts / 2 + 12345, parts - 1}) {
    const MeshPart<4> own = generate_cube_part(options, {p, parts, 1});
    EXPECT_EQ(own.whole_vertices, n * n * n);
    EXPECT_EQ(own.whole_elements, 6 * (n - 1) * (n - 1) * (n - 1));
    EXPECT_NEAR(static_cast<double>(own.owned), 8e9 / parts, 0.3 * 8e9 / parts);
    for (std::size_t v = 0; v < own.mesh.vertex_count(); ++v) {
      const std::uint64_t id = own.global_vertex[v];
      const double h = 1.0 / (n - 1);
      EXPECT_NEAR(own.mesh.points[v].x / h, static_cast<double>(id % n), 0.201);
      EXPECT_NEAR(own.mesh.points[v].y / h, static_cast<double>(id / n % n), 0.201);
      EXPECT_NEAR(own.mesh.points[v].z / h, static_cast<double>(id / n / n), 0.201);
    }
    for (std::size_t e = 0; e < own.mesh.element_count(); ++e) {
      std::uint64_t lowest = ~std::uint64_t{0};
      for (const VertexId v : own.mesh.elements[e]) lowest = std::min(lowest, own.global_vertex[v.index()]);
      const std::uint64_t cell = own.global_element[e] / 6, row = cell / (n - 1);
      EXPECT_EQ(lowest, cell % (n - 1) + n * (row % (n - 1) + n * (row / (n - 1))));
    }
  }
}

TEST(CubePart, RefusesWhatMakesNoSense) {
  EXPECT_THROW(generate_cube_part({}, {.part = 2, .parts = 2}), UsageError);
  EXPECT_THROW(generate_cube_part({}, {.part = 0, .parts = 0}), UsageError);
  EXPECT_THROW(generate_cube_part({}, {.part = 0, .parts = 1, .blocks_per_part = 0}), UsageError);
  EXPECT_THROW(generate_cube_part({.nx = 2000, .ny = 2000, .nz = 2000}, {.part = 0, .parts = 2}), UsageError);
  EXPECT_THROW(generate_ventricle_part({.elements = 10'000'000'000}, {.part = 0, .parts = 2}), UsageError);
}

TEST(DisplacePiece, KnowsWhatItCannotKnow) {
  // One box of a strongly jittered square: what it is sure of is right, and it is sure of the middle.
  const CutLattice<3> lattice{
      {60, 60, 1},
      {1, 1, 0},
      {CutLattice<3>::Cell{{{0, 1, 3}, {0, 3, 2}}}, CutLattice<3>::Cell{{{0, 1, 3}, {0, 3, 2}}}},
      0.4,
      11};
  const TriangleMesh whole = lattice_mesh(lattice);
  const IndexBox box{{20, 20, 0}, {40, 40, 1}};
  TriangleMesh piece = box_mesh(lattice, box);
  std::vector<bool> unsure;
  for_each_index(
      box, [&](const LatticeIndex& at) { unsure.push_back(at[0] == 20 || at[0] == 39 || at[1] == 20 || at[1] == 39); });
  displace_piece(piece, jitter_moves(lattice, box), unsure);
  std::size_t v = 0, sure = 0;
  for_each_index(box, [&](const LatticeIndex& at) {
    if (!unsure[v]) {
      ++sure;
      EXPECT_EQ(piece.points[v], whole.points[lattice.vertex(at)]);
    }
    ++v;
  });
  EXPECT_GT(sure, 100U);
  EXPECT_LT(sure, 18U * 18U);
}

}  // namespace TEST_FILE
}  // namespace isochron
