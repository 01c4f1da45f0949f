#include "isochron/mesh/cut_cells.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <gmock/gmock.h>

#include "isochron/core/random.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::ElementsAre;
using Triangle = std::array<VertexId, 3>;
using Tet = std::array<VertexId, 4>;

std::vector<VertexId> ids(std::initializer_list<std::size_t> list) { return {list.begin(), list.end()}; }
std::vector<VertexId> all_of(const std::vector<Vec3d>& points) {
  std::vector<VertexId> result;
  for (std::size_t i = 0; i < points.size(); ++i) result.emplace_back(i);
  return result;
}
Triangle triangle(std::size_t a, std::size_t b, std::size_t c) { return {VertexId(a), VertexId(b), VertexId(c)}; }

/// Areas of the pieces, with their sign seen along z.
std::vector<double> flat_areas(const std::vector<Vec3d>& points, std::span<const Triangle> triangles) {
  std::vector<double> areas;
  for (const auto& [a, b, c] : triangles)
    areas.push_back(cross(points[b.index()] - points[a.index()], points[c.index()] - points[a.index()]).z / 2);
  return areas;
}
double volume(const std::vector<Vec3d>& points, const Tet& t) {
  const Vec3d& a = points[t[0].index()];
  return dot(cross(points[t[1].index()] - a, points[t[2].index()] - a), points[t[3].index()] - a) / 6;
}

/// That the pieces fill the polygon, in the plane of z, once.
void expect_filled(const std::vector<Vec3d>& points, const std::vector<VertexId>& polygon, double area) {
  CellCutter cutter(points);
  const auto pieces = cutter.triangles(polygon);
  EXPECT_EQ(pieces.size(), polygon.size() - 2);
  const std::vector<double> areas = flat_areas(points, pieces);
  EXPECT_GT(*std::min_element(areas.begin(), areas.end()), 1e-9 * area);
  EXPECT_NEAR(std::accumulate(areas.begin(), areas.end(), 0.0), area, 1e-12 * area);
}

TEST(CutPolygons, QuadsAreCutFromTheirFirstVertex) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  CellCutter cutter(points);
  EXPECT_THAT(cutter.triangles(ids({0, 1, 2, 3})), ElementsAre(triangle(0, 1, 2), triangle(0, 2, 3)));
  EXPECT_THAT(cutter.triangles(ids({2, 1, 0, 3})), ElementsAre(triangle(0, 3, 2), triangle(0, 2, 1)));
  EXPECT_THAT(cutter.triangles(ids({1, 2, 3, 0})), ElementsAre(triangle(0, 1, 2), triangle(0, 2, 3)));
  CellCutter by_place(points, CornerOrder::places);
  EXPECT_THAT(by_place.triangles(ids({3, 2, 1, 0})), ElementsAre(triangle(0, 3, 2), triangle(0, 2, 1)));
}

TEST(CutPolygons, ADiagonalOutsideIsNotTaken) {
  const std::vector<Vec3d> points{{0, 0, 0}, {2, 1, 0}, {0.5, 1, 0}, {0, 3, 0}};  // the corner 2 points inwards
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::vector<Vec3d> turned = points;
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(shift), turned.end());
    expect_filled(turned, all_of(turned), 1.5);
  }
}

TEST(CutPolygons, ConcaveOnesAreFilledOnce) {
  const std::vector<Vec3d> comb{{0, 0, 1}, {9, 0, 1}, {9, 5, 1}, {8, 1, 1}, {7, 5, 1}, {6, 1, 1},
                                {5, 5, 1}, {4, 1, 1}, {3, 5, 1}, {2, 1, 1}, {0, 5, 1}};
  double area = 0;
  for (std::size_t i = 0; i < comb.size(); ++i) area += cross(comb[i], comb[(i + 1) % comb.size()]).z / 2;
  expect_filled(comb, all_of(comb), area);
  std::vector<Vec3d> star;
  for (int i = 0; i < 40; ++i) {
    const double angle = i * std::acos(-1.0) / 20, radius = i % 2 == 0 ? 1 : 0.05;
    star.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
  }
  expect_filled(star, all_of(star), 20 * 0.05 * std::sin(std::acos(-1.0) / 20));
}

TEST(CutPolygons, CornersInARowMakeNoFlatTriangles) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0},
                                  {3, 1, 0}, {3, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  expect_filled(points, all_of(points), 6);
  std::vector<Vec3d> tilted;  // now the rows are so within rounding
  for (const Vec3d& p : points) tilted.push_back({p.x / 3 - p.y / 7, p.y / 3 + p.x / 7, p.x / 11 + p.y / 13});
  expect_filled(tilted, all_of(tilted), 6 * (1.0 / 9 + 1.0 / 49));
}

TEST(CutPolygons, AHoleThatIsJoinedByABridge) {
  const std::vector<Vec3d> points{{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0},
                                  {1, 1, 0}, {1, 3, 0}, {3, 3, 0}, {3, 1, 0}};
  expect_filled(points, ids({0, 1, 2, 3, 0, 4, 5, 6, 7, 4}), 12);
}

TEST(CutPolygons, AManyCorneredOneTakesNoTime) {
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < CellCutter::max_corners; ++i) {
    const double angle = 2 * std::acos(-1.0) * static_cast<double>(i) / CellCutter::max_corners;
    points.push_back({std::cos(angle), std::sin(angle), 0});
  }
  CellCutter cutter(points);
  EXPECT_EQ(cutter.triangles(all_of(points)).size(), points.size() - 2);
  points.emplace_back();
  EXPECT_TRUE(cutter.triangles(all_of(points)).empty());
}

TEST(CutPolygons, WithoutAreaOrCrossedThereAreNone) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  CellCutter cutter(points);
  EXPECT_TRUE(cutter.triangles(ids({0, 1, 2, 3})).empty());
  EXPECT_TRUE(cutter.triangles(ids({0, 4, 4, 0, 0})).empty());
  EXPECT_TRUE(cutter.triangles(ids({0, 4, 5, 6})).empty());  // a bow tie
  EXPECT_THAT(cutter.triangles(ids({0, 4, 4, 5})), ElementsAre(triangle(0, 4, 5)));
}

/// A box of n³ cells whose vertices have random numbers and, inside, random places.
struct Box {
  explicit Box(std::size_t cells) : n(cells), number((n + 1) * (n + 1) * (n + 1)) {
    Random random(7);
    std::iota(number.begin(), number.end(), std::size_t{0});
    for (std::size_t i = number.size() - 1; i > 0; --i) std::swap(number[i], number[random.below(i + 1)]);
    points.resize(number.size());
    const auto shifted = [&](std::size_t i) {
      const bool inside = i > 0 && i < n;
      return static_cast<double>(i) + (inside ? 0.2 * (random.uniform() - 0.5) : 0);
    };
    for (std::size_t k = 0; k <= n; ++k)
      for (std::size_t j = 0; j <= n; ++j)
        for (std::size_t i = 0; i <= n; ++i) points[at(i, j, k).index()] = {shifted(i), shifted(j), shifted(k)};
  }
  [[nodiscard]] VertexId at(std::size_t i, std::size_t j, std::size_t k) const {
    return VertexId(number[(k * (n + 1) + j) * (n + 1) + i]);
  }
  [[nodiscard]] std::vector<VertexId> cell(std::size_t i, std::size_t j, std::size_t k) const {
    return {at(i, j, k),     at(i + 1, j, k),     at(i + 1, j + 1, k),     at(i, j + 1, k),
            at(i, j, k + 1), at(i + 1, j, k + 1), at(i + 1, j + 1, k + 1), at(i, j + 1, k + 1)};
  }
  std::size_t n;
  std::vector<std::size_t> number;
  std::vector<Vec3d> points;
};

/// That the tetrahedra fill a box of n³ cells once: positive, of that volume, and with each face inside shared by two.
void expect_box(const std::vector<Vec3d>& points, const std::vector<Tet>& tets, std::size_t n) {
  double sum = 0, least = 1;
  std::map<Triangle, int> faces;
  for (const Tet& tet : tets) {
    sum += volume(points, tet);
    least = std::min(least, volume(points, tet));
    for (std::size_t left_out = 0; left_out < 4; ++left_out) {
      Triangle face{tet[(left_out + 1) % 4], tet[(left_out + 2) % 4], tet[(left_out + 3) % 4]};
      std::sort(face.begin(), face.end());
      ++faces[face];
    }
  }
  EXPECT_GT(least, 0);
  EXPECT_NEAR(sum, static_cast<double>(n * n * n), 1e-10);
  const auto shared_by = [&](int count) {
    return std::count_if(faces.begin(), faces.end(), [&](const auto& face) { return face.second == count; });
  };
  EXPECT_EQ(shared_by(1), static_cast<std::ptrdiff_t>(12 * n * n));
  EXPECT_EQ(shared_by(1) + shared_by(2), static_cast<std::ptrdiff_t>(faces.size()));
}

TEST(CutSolids, HexahedraFitTogether) {
  for (const CornerOrder order : {CornerOrder::ids, CornerOrder::places}) {
    const Box box(5);
    CellCutter cutter(box.points, order);
    std::vector<Tet> tets;
    for (std::size_t c = 0; c < 125; ++c) {
      const auto pieces = cutter.tets(SolidShape::hexahedron, box.cell(c % 5, c / 5 % 5, c / 25));
      EXPECT_EQ(pieces.size(), 6U);
      tets.insert(tets.end(), pieces.begin(), pieces.end());
    }
    expect_box(box.points, tets, 5);
  }
}

// Each hexahedron stays one, becomes two prisms, or six pyramids round a vertex in its middle.
TEST(CutSolids, AllShapesFitTogether) {
  Box box(5);
  Random random(3);
  std::vector<std::pair<SolidShape, std::vector<VertexId>>> cells;
  for (std::size_t c = 0; c < 125; ++c) {
    const std::vector<VertexId> v = box.cell(c % 5, c / 5 % 5, c / 25);
    const std::size_t choice = random.below(3);
    if (choice == 0) cells.emplace_back(SolidShape::hexahedron, v);
    if (choice == 1) {
      // The second one turns the other way round, as in files of other programs.
      const bool from_first = std::min(v[0], v[2]) < std::min(v[1], v[3]);
      const bool from_upper = std::min(v[4], v[6]) < std::min(v[5], v[7]);
      if (from_first != from_upper) {
        cells.emplace_back(SolidShape::hexahedron, v);
      } else if (from_first) {
        cells.emplace_back(SolidShape::prism, std::vector{v[0], v[1], v[2], v[4], v[5], v[6]});
        cells.emplace_back(SolidShape::prism, std::vector{v[0], v[3], v[2], v[4], v[7], v[6]});
      } else {
        cells.emplace_back(SolidShape::prism, std::vector{v[1], v[2], v[3], v[5], v[6], v[7]});
        cells.emplace_back(SolidShape::prism, std::vector{v[1], v[0], v[3], v[5], v[4], v[7]});
      }
    }
    if (choice == 2) {
      Vec3d middle{};
      for (const VertexId id : v) middle = middle + box.points[id.index()] * 0.125;
      const VertexId top(box.points.size());
      box.points.push_back(middle);
      for (const std::array<std::size_t, 4>& side : std::vector<std::array<std::size_t, 4>>{
               {0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}})
        cells.emplace_back(SolidShape::pyramid, std::vector{v[side[0]], v[side[1]], v[side[2]], v[side[3]], top});
    }
  }
  CellCutter cutter(box.points);
  std::vector<Tet> tets;
  for (const auto& [shape, corners] : cells) {
    const auto pieces = cutter.tets(shape, corners);
    tets.insert(tets.end(), pieces.begin(), pieces.end());
  }
  expect_box(box.points, tets, 5);
}

TEST(CutSolids, CollapsedOnesGiveWhatIsLeft) {
  const std::vector<Vec3d> points{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}};
  CellCutter cutter(points);
  const auto size = [&](const std::vector<VertexId>& corners) {
    double sum = 0;
    for (const Tet& tet : cutter.tets(SolidShape::hexahedron, corners)) sum += volume(points, tet);
    return sum;
  };
  EXPECT_DOUBLE_EQ(size(ids({0, 1, 2, 3, 4, 5, 5, 4})), 0.5);      // a roof
  EXPECT_DOUBLE_EQ(size(ids({0, 1, 2, 3, 4, 4, 4, 4})), 1.0 / 3);  // a pyramid
  EXPECT_TRUE(cutter.tets(SolidShape::hexahedron, ids({0, 1, 2, 2, 0, 1, 2, 2})).empty());
}

}  // namespace TEST_FILE
}  // namespace isochron
