#include "isochron/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

std::vector<Partitioner> partitioners() {
  std::vector<Partitioner> all{Partitioner::automatic, Partitioner::curve};
  if (has_metis()) all.push_back(Partitioner::metis);
  return all;
}

TetMesh small_cube() { return generate_cube({.nx = 12, .ny = 11, .nz = 10, .extent = {11, 10, 9}, .jitter = 0.2}); }

/// Two squares that do not touch, and ten vertices that are in no element.
TriangleMesh in_pieces() {
  TriangleMesh mesh = generate_square({.n = 20});
  const TriangleMesh other = generate_square({.n = 15});
  const std::size_t first = mesh.vertex_count();
  for (const Vec3d& p : other.points) mesh.points.push_back({p.x + 5, p.y, p.z});
  for (const auto& e : other.elements)
    mesh.elements.push_back(
        {VertexId(e[0].index() + first), VertexId(e[1].index() + first), VertexId(e[2].index() + first)});
  for (int i = 0; i < 10; ++i) mesh.points.push_back({2.0 + 0.1 * i, 3, 0});
  return mesh;
}

template <int Corners>
std::vector<std::size_t> sizes_of_parts(const SimplexMesh<Corners>& mesh, std::uint32_t parts, Partitioner by) {
  const std::vector<std::uint32_t> part_of = partition_vertices(mesh, parts, by, 2);
  EXPECT_EQ(part_of.size(), mesh.vertex_count());
  std::vector<std::size_t> sizes(parts, 0);
  for (const std::uint32_t part : part_of) {
    EXPECT_LT(part, parts);
    if (part < parts) ++sizes[part];
  }
  return sizes;
}

template <int Corners>
void expect_full_and_even(const SimplexMesh<Corners>& mesh) {
  for (const Partitioner by : partitioners())
    for (const std::uint32_t parts : {1U, 2U, 7U, 20U, 64U, 500U}) {
      if (parts > mesh.vertex_count()) continue;
      const std::vector<std::size_t> sizes = sizes_of_parts(mesh, parts, by);
      const double mean = static_cast<double>(mesh.vertex_count()) / parts;
      EXPECT_GT(*std::min_element(sizes.begin(), sizes.end()), 0U) << parts;
      EXPECT_LE(static_cast<double>(*std::max_element(sizes.begin(), sizes.end())), 1.15 * mean + 2) << parts;
    }
}

/// Edges of elements (counted once an element) whose ends are in different parts.
template <int Corners>
std::size_t cut_edges(const SimplexMesh<Corners>& mesh, const std::vector<std::uint32_t>& part_of) {
  std::size_t cut = 0;
  for (const auto& element : mesh.elements)
    for (const auto& [a, b] : edge_corners<Corners>())
      if (part_of[element[a].index()] != part_of[element[b].index()]) ++cut;
  return cut;
}

TEST(Partition, PartsAreFullAndEven) {
  expect_full_and_even(small_cube());
  expect_full_and_even(generate_square({.n = 40}));
}

TEST(Partition, MeshesInPiecesAndLooseVertices) { expect_full_and_even(in_pieces()); }

TEST(Partition, MorePartsThanVertices) {
  const TriangleMesh mesh = generate_square({.n = 4});
  for (const Partitioner by : partitioners()) {
    const std::vector<std::size_t> sizes = sizes_of_parts(mesh, 50, by);
    EXPECT_EQ(*std::max_element(sizes.begin(), sizes.end()), 1U);
  }
}

TEST(Partition, OnlyVertices) {
  TetMesh mesh;
  for (int i = 0; i < 100; ++i) mesh.points.push_back({1.0 * i, 0, 0});
  expect_full_and_even(mesh);
}

TEST(Partition, NeighborsStayTogether) {
  const TetMesh mesh = small_cube();
  for (const Partitioner by : partitioners()) {
    const std::size_t cut = cut_edges(mesh, partition_vertices(mesh, 8, by));
    EXPECT_GT(cut, 0U);
    EXPECT_LT(cut, mesh.element_count() * 6 * 2 / 5);  // parts at random would cut seven of eight
  }
}

TEST(Partition, MetisCutsNoMoreThanTheCurve) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  const TetMesh mesh = small_cube();
  for (const std::uint32_t parts : {7U, 20U})
    EXPECT_LE(cut_edges(mesh, partition_vertices(mesh, parts, Partitioner::metis)),
              cut_edges(mesh, partition_vertices(mesh, parts, Partitioner::curve)))
        << parts;
}

TEST(Partition, TheSameEveryTime) {
  const TetMesh mesh = small_cube();
  for (const Partitioner by : partitioners())
    EXPECT_EQ(partition_vertices(mesh, 9, by), partition_vertices(mesh, 9, by));
}

TEST(Partition, SaysWhenThereIsNoMetis) {
  if (has_metis()) GTEST_SKIP() << "this build has METIS";
  EXPECT_THROW(partition_vertices(small_cube(), 4, Partitioner::metis), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
