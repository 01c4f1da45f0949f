#include "isochron/mesh/adjacency.h"

#include <gtest/gtest.h>

#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

template <int Corners>
void expect_incidences(const SimplexMesh<Corners>& mesh) {
  const Adjacency adjacency = build_adjacency(mesh);
  ASSERT_EQ(adjacency.incidences.size(), mesh.element_count() * Corners);
  std::size_t seen = 0;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    std::uint32_t last = 0;
    for (const std::uint32_t incidence : adjacency.at(VertexId(v))) {
      EXPECT_EQ(mesh.element(Adjacency::element_of(incidence))[Adjacency::corner_of(incidence)], VertexId(v));
      EXPECT_GE(incidence, last);
      last = incidence;
      ++seen;
    }
    EXPECT_EQ(adjacency.valence(VertexId(v)), adjacency.at(VertexId(v)).size());
  }
  EXPECT_EQ(seen, adjacency.incidences.size());
}

TEST(Adjacency, ListsEveryCornerAtItsVertex) {
  expect_incidences(generate_cube({.nx = 5, .ny = 4, .nz = 6}));
  expect_incidences(generate_square({.n = 9}));
}

TEST(Adjacency, DoesNotDependOnThreads) {
  const TriangleMesh mesh = generate_square({.n = 400});
  const Adjacency one = build_adjacency(mesh, 1), three = build_adjacency(mesh, 3);
  EXPECT_EQ(one.offsets, three.offsets);
  EXPECT_EQ(one.incidences, three.incidences);
}

TEST(EdgeIndex, AgreesWithTheStorageOrder) {
  constexpr auto pairs = edge_corners<4>();
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    EXPECT_EQ(edge_index(pairs[k][0], pairs[k][1]), static_cast<int>(k));
    EXPECT_EQ(edge_index(pairs[k][1], pairs[k][0]), static_cast<int>(k));
    if (k < 3) {
      EXPECT_EQ(edge_corners<3>()[k], pairs[k]);
    }
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
