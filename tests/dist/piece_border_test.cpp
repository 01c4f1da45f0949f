#include "isochron/dist/piece_border.h"

#include <gtest/gtest.h>

#include "isochron/generate.h"

namespace isochron {
namespace TEST_FILE {

TEST(PieceBorder, IsTheSurfaceOfACube) {
  const TetMesh mesh = generate_cube({.nx = 6, .ny = 5, .nz = 4, .extent = {5, 4, 3}});
  std::vector<VertexId> expected;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3d& p = mesh.points[v];
    if (p.x == 0 || p.x == 5 || p.y == 0 || p.y == 4 || p.z == 0 || p.z == 3) expected.emplace_back(v);
  }
  EXPECT_EQ(border_vertices(mesh), expected);
}

TEST(PieceBorder, IsTheRimOfASquare) {
  const std::size_t n = 9;
  const auto border = border_vertices(generate_square({.n = n}));
  EXPECT_EQ(border.size(), 4 * (n - 1));
  EXPECT_TRUE(border_vertices(TriangleMesh{}).empty());
}

TEST(PieceBorder, SamePlacesOfDifferentPiecesAreOneVertex) {
  const Vec3d a{1, 2, 3}, b{0, 0, 0}, minus_zero{-0.0, 0, 0};
  const std::vector<BorderVertex> vertices{{a, 2, 7}, {b, 0, 4}, {a, 0, 9}, {minus_zero, 1, 0}, {a, 1, 1}};
  EXPECT_EQ(match_borders(vertices), (std::vector<std::size_t>{2, 1, 2, 1, 2}));
}

TEST(PieceBorder, SidesOfASlitStayApart) {
  const Vec3d a{1, 1, 1};
  // Piece 0 has two vertices there, piece 1 two, piece 2 one and piece 3 three.
  const std::vector<BorderVertex> vertices{{a, 0, 3}, {a, 0, 8}, {a, 1, 5}, {a, 1, 6},
                                           {a, 2, 2}, {a, 3, 0}, {a, 3, 1}, {a, 3, 2}};
  EXPECT_EQ(match_borders(vertices), (std::vector<std::size_t>{0, 1, 0, 1, 0, 0, 1, 7}));
}

}  // namespace TEST_FILE
}  // namespace isochron
