#include "isochron/mesh/ordering.h"

#include <gtest/gtest.h>

#include "isochron/generate.h"
#include "mesh/mesh_checks.h"

namespace isochron {
namespace TEST_FILE {

void expect_permutation(const Permutation& order, std::size_t count) {
  ASSERT_EQ(order.new_to_old.size(), count);
  ASSERT_EQ(order.old_to_new.size(), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(order.old_to_new.at(order.new_to_old[i]), i);
}

template <int Corners>
SimplexMesh<Corners> renumbered(SimplexMesh<Corners> mesh, const Permutation& order) {
  for (auto& element : mesh.elements)
    for (VertexId& v : element) v = VertexId(order.old_to_new[v.index()]);
  return mesh;
}

TEST(HilbertOrder, WalksALatticeWithoutJumps) {
  // On 2^k points a side every step of the curve goes to a neighbour: that is what makes it the Hilbert curve.
  const TetMesh cube = shuffled(generate_cube({.nx = 16, .ny = 16, .nz = 16, .extent = {15, 15, 15}}), 1);
  const TriangleMesh square = shuffled(generate_square({.n = 32, .extent = 31}), 1);
  for (const auto& points : {cube.points, square.points}) {
    const Permutation order = hilbert_order(points);
    expect_permutation(order, points.size());
    for (std::size_t i = 1; i < points.size(); ++i)
      ASSERT_NEAR(norm(points[order.new_to_old[i]] - points[order.new_to_old[i - 1]]), 1, 1e-12);
  }
}

template <int Corners>
void expect_sorting_pays(const SimplexMesh<Corners>& mesh) {
  const SimplexMesh<Corners> mixed = shuffled(mesh, 2);
  EXPECT_FALSE(locally_ordered(mixed));
  for (const CurveDetail detail : {CurveDetail::points, CurveDetail::blocks}) {
    const SimplexMesh<Corners> sorted = renumbered(mixed, hilbert_order(mixed.points, detail));
    EXPECT_TRUE(locally_ordered(sorted));
    EXPECT_LT(mean_id_span(sorted), 0.2 * mean_id_span(mixed));
  }
}

TEST(HilbertOrder, BlocksKeepTheOldOrderInside) {
  const TriangleMesh mesh = generate_square({.n = 32});
  const Permutation order = hilbert_order(mesh.points, CurveDetail::blocks);
  expect_permutation(order, mesh.vertex_count());
  // Blocks of 8 x 8 or 4 x 4 vertices: every run of sixteen places lies in one of the larger ones, and rises in steps.
  for (std::size_t first = 0; first < mesh.vertex_count(); first += 16)
    for (std::size_t i = first + 1; i < first + 16; ++i) {
      EXPECT_GT(order.new_to_old[i], order.new_to_old[i - 1]);
      EXPECT_EQ(order.new_to_old[i] % 32 / 8, order.new_to_old[first] % 32 / 8);
    }
}

TEST(HilbertOrder, MakesShuffledMeshesLocal) {
  expect_sorting_pays(generate_cube({.nx = 20, .ny = 20, .nz = 20, .jitter = 0.2}));
  expect_sorting_pays(generate_square({.n = 70}));
  expect_sorting_pays(generate_sphere({.frequency = 24}));
}

TEST(HilbertOrder, DoesNotDependOnThreads) {
  const TetMesh mesh = shuffled(generate_cube({.nx = 60, .ny = 60, .nz = 60}), 3);
  for (const CurveDetail detail : {CurveDetail::points, CurveDetail::blocks})
    EXPECT_EQ(hilbert_order(mesh.points, detail, 1).new_to_old, hilbert_order(mesh.points, detail, 3).new_to_old);
}

TEST(HilbertOrder, TakesAnyPoints) {
  EXPECT_TRUE(hilbert_order({}).identity());
  const std::vector<Vec3d> same(10, Vec3d{1, 2, 3});
  expect_permutation(hilbert_order(same), 10);
  std::vector<Vec3d> line;
  for (int i = 0; i < 100; ++i) line.push_back({0, 0, static_cast<double>((i * 37) % 100)});
  const Permutation order = hilbert_order(line);
  expect_permutation(order, 100);
  for (std::size_t i = 1; i < 100; ++i)
    EXPECT_EQ(std::abs(line[order.new_to_old[i]].z - line[order.new_to_old[i - 1]].z), 1);
  // Flat in another plane than z = 0.
  std::vector<Vec3d> upright;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) upright.push_back({5, static_cast<double>(j), static_cast<double>(i)});
  expect_permutation(hilbert_order(upright), upright.size());
}

TEST(LocallyOrdered, AcceptsLattices) {
  EXPECT_TRUE(locally_ordered(generate_cube({.nx = 16, .ny = 16, .nz = 16})));
  EXPECT_TRUE(locally_ordered(generate_cube({.nx = 30, .ny = 20, .nz = 10})));
  EXPECT_TRUE(locally_ordered(generate_square({.n = 100})));
  EXPECT_EQ(mean_id_span(generate_square({.n = 100})), 101);
}

}  // namespace TEST_FILE
}  // namespace isochron
