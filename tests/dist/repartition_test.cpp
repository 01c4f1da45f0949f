#include "isochron/dist/curve_partition.h"

#include <gtest/gtest.h>

#include <map>

#include "isochron/communicator.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

/// Pieces of a mesh by element, in turn slabs of it, without ids; each with arrays that tell where it came from.
template <int Corners>
std::vector<MeshPiece<Corners>> boxes_of(const SimplexMesh<Corners>& mesh, std::size_t count) {
  std::vector<MeshPiece<Corners>> pieces(count);
  const std::size_t all = mesh.element_count();
  for (std::size_t p = 0; p < count; ++p) {
    std::map<VertexId, VertexId> local;
    std::vector<double> x;
    std::vector<std::int64_t> id;
    for (std::size_t e = p * all / count; e < (p + 1) * all / count; ++e) {
      auto element = mesh.elements[e];
      for (VertexId& v : element) {
        const auto [at, fresh] = local.emplace(v, VertexId(local.size()));
        if (fresh) {
          pieces[p].mesh.points.push_back(mesh.point(v));
          x.push_back(mesh.point(v).x);
        }
        v = at->second;
      }
      pieces[p].mesh.elements.push_back(element);
      id.push_back(static_cast<std::int64_t>(e));
    }
    pieces[p].point_data.set({"x", 1, std::move(x)});
    pieces[p].cell_data.set({"id", 1, std::move(id)});
  }
  return pieces;
}

/// Every process's share of a list.
template <class T>
std::span<T> share(std::vector<T>& list, std::size_t rank, std::size_t ranks) {
  const std::size_t begin = rank * list.size() / ranks, end = (rank + 1) * list.size() / ranks;
  return std::span<T>(list).subspan(begin, end - begin);
}

/// What the numbers of all pieces make of the mesh.
template <int Corners>
SimplexMesh<Corners> numbered_mesh(const std::vector<MeshPiece<Corners>>& pieces) {
  SimplexMesh<Corners> mesh;
  for (const auto& piece : pieces) {
    for (std::size_t v = 0; v < piece.global_vertex.size(); ++v) {
      const std::uint64_t id = piece.global_vertex[v];
      if (id >= mesh.points.size()) mesh.points.resize(id + 1);
      mesh.points[id] = piece.mesh.points[v];
    }
    for (std::size_t e = 0; e < piece.mesh.element_count(); ++e) {
      EXPECT_EQ(piece.global_element[e], mesh.elements.size());
      auto element = piece.mesh.elements[e];
      for (VertexId& v : element) v = VertexId(piece.global_vertex[v.index()]);
      mesh.elements.push_back(element);
    }
  }
  return mesh;
}

template <int Corners>
void check_recut(const SimplexMesh<Corners>& mesh, std::size_t piece_count, std::size_t ranks, std::uint32_t blocks) {
  std::vector<MeshPiece<Corners>> pieces = boxes_of(mesh, piece_count);
  std::vector<PartData<Corners>> parts(ranks);
  run_on_threads(ranks, [&](Communicator& communicator) {
    const auto own = share(pieces, communicator.index(), ranks);
    number_vertices(communicator, own);
    number_elements(communicator, own);
    parts[communicator.index()] = repartition(communicator, std::span<const MeshPiece<Corners>>(own), blocks);
  });
  const SimplexMesh<Corners> whole = numbered_mesh(pieces);
  ASSERT_EQ(whole.vertex_count(), mesh.vertex_count()) << "vertices on borders were not recognised";
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    for (int k = 0; k < Corners; ++k) ASSERT_EQ(whole.point(whole.elements[e][k]), mesh.point(mesh.elements[e][k]));

  // The parts are those that cutting the whole gives.
  std::vector<std::uint32_t> owner(whole.vertex_count(), 999);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::size_t v = 0; v < parts[r].part.owned; ++v) {
      EXPECT_EQ(owner[parts[r].part.global_vertex[v]], 999U);
      owner[parts[r].part.global_vertex[v]] = r;
    }
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const MeshPart<Corners> expected = cut_part(whole, owner, r);
    const PartData<Corners>& got = parts[r];
    EXPECT_EQ(got.part.global_vertex, expected.global_vertex);
    EXPECT_EQ(got.part.global_element, expected.global_element);
    EXPECT_EQ(got.part.ghost_owner, expected.ghost_owner);
    EXPECT_EQ(got.part.mesh.elements, expected.mesh.elements);
    EXPECT_EQ(got.part.mesh.points, expected.mesh.points);
    EXPECT_EQ(got.part.whole_vertices, whole.vertex_count());
    EXPECT_EQ(got.part.whole_elements, whole.element_count());
    EXPECT_NEAR(static_cast<double>(got.part.owned), static_cast<double>(whole.vertex_count()) / ranks,
                0.25 * static_cast<double>(whole.vertex_count()) / ranks + 2);
    for (std::size_t v = 0; v < got.part.mesh.vertex_count(); ++v)
      ASSERT_EQ(got.point_data.require("x", "points").at(v), got.part.mesh.points[v].x);
    for (std::size_t e = 0; e < got.part.mesh.element_count(); ++e)
      ASSERT_EQ(got.cell_data.require("id", "elements").at(e), static_cast<double>(got.part.global_element[e]));
  }
}

TEST(Recut, PiecesOfTetrahedraBecomeParts) {
  const TetMesh mesh = generate_cube({.nx = 9, .ny = 8, .nz = 7, .jitter = 0.2});
  for (const auto& [pieces, ranks, blocks] : {std::array{1, 1, 1}, {5, 3, 1}, {4, 4, 3}, {2, 5, 1}, {16, 2, 4}})
    check_recut(mesh, static_cast<std::size_t>(pieces), static_cast<std::size_t>(ranks),
                static_cast<std::uint32_t>(blocks));
}

TEST(Recut, PiecesOfTrianglesBecomeParts) {
  const TriangleMesh mesh = generate_square({.n = 20, .jitter = 0.2});
  for (const auto& [pieces, ranks] : {std::pair{3, 2}, {7, 7}, {1, 4}})
    check_recut(mesh, static_cast<std::size_t>(pieces), static_cast<std::size_t>(ranks), 2);
}

TEST(Recut, MoreProcessesThanVertices) {
  const TetMesh mesh = generate_cube({.nx = 2, .ny = 2, .nz = 2});
  check_recut(mesh, 3, 11, 1);
}

TEST(Recut, PiecesThatContradictOneAnotherAreRefusedByAll) {
  std::vector<MeshPiece<3>> pieces = boxes_of(generate_square({.n = 12}), 3);
  const auto run = [&] {
    std::vector<int> refused(3, 0);
    run_on_threads(3, [&](Communicator& communicator) {
      try {
        static_cast<void>(
            repartition(communicator, std::span<const MeshPiece<3>>(share(pieces, communicator.index(), 3))));
      } catch (const InputError&) {
        refused[communicator.index()] = 1;
      }
    });
    return refused;
  };
  run_on_threads(3, [&](Communicator& communicator) {
    number_vertices(communicator, share(pieces, communicator.index(), 3));
    number_elements(communicator, share(pieces, communicator.index(), 3));
  });
  EXPECT_EQ(run(), std::vector<int>(3, 0));
  std::vector<MeshPiece<3>> good = pieces;
  pieces[1].point_data = {};
  pieces[1].point_data.set({"y", 1, std::vector<double>(pieces[1].mesh.vertex_count())});
  EXPECT_EQ(run(), std::vector<int>(3, 1));
  pieces = good;
  pieces[2].global_vertex.back() = pieces[0].global_vertex[0];  // one id for two far corners
  EXPECT_EQ(run(), std::vector<int>(3, 1));
}

TEST(CurveCut, SplittersShareOutTheKeys) {
  constexpr std::size_t ranks = 4, pieces = 13;
  std::vector<std::vector<Vec3d>> points(ranks);
  Random random(5);
  for (std::size_t r = 0; r < ranks; ++r)  // very uneven
    for (std::size_t i = 0; i < 100 + 1500 * r; ++i)
      points[r].push_back({random.uniform(), random.uniform() * random.uniform(), random.uniform()});
  std::vector<std::vector<std::uint64_t>> splitters(ranks), keys(ranks);
  run_on_threads(ranks, [&](Communicator& communicator) {
    const std::size_t r = communicator.index();
    const CurveFrame frame = common_frame(communicator, points[r]);
    keys[r] = curve_keys(points[r], frame);
    splitters[r] = curve_splitters(communicator, keys[r], frame, pieces);
  });
  std::vector<std::size_t> count(pieces, 0);
  std::size_t all = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    EXPECT_EQ(splitters[r], splitters[0]);
    for (const std::uint64_t key : keys[r]) ++count[interval_of_key(splitters[0], key)];
    all += keys[r].size();
  }
  for (const std::size_t n : count)
    EXPECT_NEAR(static_cast<double>(n), static_cast<double>(all) / pieces, 0.02 * static_cast<double>(all) / pieces);
}

TEST(CurveCut, EqualPointsAndNoPoints) {
  run_on_threads(3, [&](Communicator& communicator) {
    const std::vector<Vec3d> same(communicator.index() == 1 ? 50 : 0, Vec3d{1, 2, 3});
    const CurveFrame frame = common_frame(communicator, same);
    EXPECT_EQ(curve_splitters(communicator, curve_keys(same, frame), frame, 4).size(), 3U);
    const CurveFrame none = common_frame(communicator, {});
    EXPECT_EQ(curve_splitters(communicator, {}, none, 4).size(), 3U);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron
