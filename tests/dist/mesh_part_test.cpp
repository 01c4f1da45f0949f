#include "isochron/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "isochron/generate.h"
#include "isochron/partition.h"

namespace isochron {
namespace TEST_FILE {

TEST(MeshPart, PartsShareOutVerticesAndElements) {
  const TetMesh mesh = generate_cube({.nx = 7, .ny = 6, .nz = 5, .extent = {6, 5, 4}, .jitter = 0.1});
  constexpr std::uint32_t parts = 5;
  const std::vector<std::uint32_t> part_of = partition_vertices(mesh, parts, Partitioner::curve);
  std::vector<int> owned(mesh.vertex_count(), 0), counted(mesh.element_count(), 0);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const MeshPart<4> own = cut_part(mesh, part_of, part);
    EXPECT_EQ(own.whole_vertices, mesh.vertex_count());
    EXPECT_EQ(own.whole_elements, mesh.element_count());
    ASSERT_EQ(own.ghost_owner.size(), own.mesh.vertex_count() - own.owned);
    for (std::size_t v = 0; v < own.mesh.vertex_count(); ++v) {
      const std::size_t global = own.global_vertex[v];
      EXPECT_EQ(own.mesh.points[v].x, mesh.points[global].x);
      EXPECT_EQ(own.owns(VertexId(v)) ? part : own.ghost_owner[v - own.owned], part_of[global]);
      owned[global] += static_cast<int>(own.owns(VertexId(v)));
    }
    for (std::size_t e = 0; e < own.mesh.element_count(); ++e) {
      for (int k = 0; k < 4; ++k)
        EXPECT_EQ(own.global_vertex[own.mesh.elements[e][k].index()], mesh.elements[own.global_element[e]][k].index());
      counted[own.global_element[e]] += static_cast<int>(own.counts(ElementId(e)));
    }
  }
  EXPECT_EQ(owned, std::vector<int>(mesh.vertex_count(), 1));
  EXPECT_EQ(counted, std::vector<int>(mesh.element_count(), 1));
}

TEST(MeshPart, HoldsEveryElementOfItsVertices) {
  const TetMesh mesh = generate_cube({.nx = 4, .ny = 4, .nz = 4, .extent = {1, 1, 1}});
  std::vector<std::uint32_t> part_of(mesh.vertex_count());
  std::iota(part_of.begin(), part_of.end(), 0U);  // every vertex a part of its own
  for (std::uint32_t part = 0; part < part_of.size(); ++part) {
    std::size_t touching = 0;
    for (const auto& element : mesh.elements)
      touching += static_cast<std::size_t>(std::count(element.begin(), element.end(), VertexId(part)));
    const MeshPart<4> own = cut_part(mesh, part_of, part);
    EXPECT_EQ(own.owned, 1U);
    EXPECT_EQ(own.mesh.element_count(), touching);
  }
}

TEST(MeshPart, ThreadsCutTheSameParts) {
  const TetMesh mesh = generate_cube({.nx = 7, .ny = 6, .nz = 5, .extent = {6, 5, 4}, .jitter = 0.1});
  constexpr std::uint32_t parts = 5;
  const std::vector<std::uint32_t> part_of = partition_vertices(mesh, parts, Partitioner::curve);
  const PartCutter<4> cutter(mesh, part_of, parts, 3);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const MeshPart<4> own = cutter.cut(part), expected = cut_part(mesh, part_of, part);
    EXPECT_EQ(own.global_vertex, expected.global_vertex);
    EXPECT_EQ(own.global_element, expected.global_element);
    EXPECT_EQ(own.ghost_owner, expected.ghost_owner);
    EXPECT_TRUE(std::equal(own.mesh.elements.begin(), own.mesh.elements.end(), expected.mesh.elements.begin(),
                           expected.mesh.elements.end()));
  }
}

TEST(MeshPart, OfNothingIsEmpty) {
  const TetMesh mesh = generate_cube({.nx = 3, .ny = 3, .nz = 3, .extent = {1, 1, 1}});
  const std::vector<std::uint32_t> part_of(mesh.vertex_count(), 0);
  const MeshPart<4> own = cut_part(mesh, part_of, 1);
  EXPECT_EQ(own.owned, 0U);
  EXPECT_EQ(own.mesh.vertex_count(), 0U);
  EXPECT_EQ(own.mesh.element_count(), 0U);
}

}  // namespace TEST_FILE
}  // namespace isochron
