// Isolines at known places, closed boundaries, cuts.
#ifdef ISOCHRON_WITH_VTK

#include "isochron/draw.h"

#include <cmath>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/draw_samples.h"
#include "isochron/draw/color_map.h"
#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

TEST(Isolines, AreStraightOnAPlane) {
  const Dataset square = sample_square(8);  // "x" is the first coordinate
  const std::vector<double> levels{0.3, 0.5, 2.0};
  const Dataset lines = isolines(square, "x", levels);
  ASSERT_EQ(lines.lines.size(), 2U);  // 2.0 lies outside
  EXPECT_EQ(lines.line_data.require("x", "lines").at(0), 0.3);
  EXPECT_EQ(lines.line_data.require("x", "lines").at(1), 0.5);
  for (std::size_t i = 0; i < 2; ++i) {
    double length = 0;
    for (std::size_t k = 0; k < lines.lines[i].size(); ++k) {
      const Vec3d& p = lines.points[lines.lines[i][k].index()];
      EXPECT_NEAR(p.x, levels[i], 1e-14);
      if (k > 0) length += norm(p - lines.points[lines.lines[i][k - 1].index()]);
    }
    EXPECT_NEAR(length, 1, 1e-12);  // from one side of the square to the other, once
  }
  for (std::size_t i = 0; i < lines.points.size(); ++i) {
    EXPECT_NEAR(lines.point_data.require("x", "points").at(i), lines.points[i].x, 1e-14);
  }
}

// A fibre has no sign: where neighbours point to opposite sides, the directions between them are theirs all the same.
TEST(Isolines, KeepFibresWhicheverWayTheyPoint) {
  Dataset square = sample_square(8);
  std::vector<double> fibers;
  for (std::size_t v = 0; v < square.points.size(); ++v)
    for (const double component : {0.6, 0.8, 0.0}) fibers.push_back((v % 3 == 0 ? -1 : 1) * component);
  for (const char* name : {"fiber", "displacement"}) square.point_data.set({name, 3, fibers});
  const double level = 0.3;
  const Dataset lines = isolines(square, "x", std::span(&level, 1));
  const auto along = [&](const char* name, std::size_t i) {
    const DataArray& array = lines.point_data.require(name, "points");
    return std::abs(0.6 * array.at(i, 0) + 0.8 * array.at(i, 1));
  };
  double shortest = 1;
  for (std::size_t i = 0; i < lines.points.size(); ++i) {
    EXPECT_NEAR(along("fiber", i), 1, 1e-12);
    shortest = std::min(shortest, along("displacement", i));
  }
  EXPECT_LT(shortest, 0.9);  // other vectors have a sign
}

TEST(Isolines, AreClosedRoundACone) {
  Dataset square = sample_square(40);
  std::vector<double> radius;
  for (const Vec3d& p : square.points) radius.push_back(std::hypot(p.x - 0.5, p.y - 0.5));
  square.point_data.set({"r", 1, std::move(radius)});
  const double level = 0.3;
  const Dataset lines = isolines(square, "r", std::span(&level, 1));
  ASSERT_EQ(lines.lines.size(), 1U);
  EXPECT_EQ(lines.lines[0].front(), lines.lines[0].back());
  for (const Vec3d& p : lines.points) EXPECT_NEAR(std::hypot(p.x - 0.5, p.y - 0.5), 0.3, 2e-3);
}

TEST(Isolines, LeaveOutWhatWasNotReached) {
  Dataset square = sample_square(4);
  std::vector<double> values = std::get<std::vector<double>>(square.point_data.require("x", "points").values);
  values[12] = std::numeric_limits<double>::infinity();  // the middle
  square.point_data.set({"x", 1, values});
  const double level = 0.4;
  const Dataset lines = isolines(square, "x", std::span(&level, 1));
  EXPECT_EQ(lines.lines.size(), 2U);
  for (std::size_t i = 0; i < lines.points.size(); ++i) EXPECT_NEAR(lines.points[i].x, 0.4, 1e-14);
}

TEST(Isolines, ComeInTheOrderOfTheirLevels) {
  const std::vector<double> levels{0.7, 0.1, 0.4, 0.1, 2, -1};
  const Dataset lines = isolines(sample_square(10), "x", levels);
  const DataArray& level = lines.line_data.require("x", "lines");
  ASSERT_EQ(lines.lines.size(), 4U);  // nothing outside the range
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(level.at(i), levels[i]);
    for (const VertexId v : lines.lines[i]) EXPECT_NEAR(lines.points[v.index()].x, levels[i], 1e-12);
  }
}

TEST(Isolines, MissingArrayListsNames) {
  const double level = 1;
  try {
    isolines(sample_square(2), "y", std::span(&level, 1));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'y'"));
    EXPECT_THAT(error.what(), testing::HasSubstr("x"));
  }
  Dataset square = sample_square(1);
  square.point_data.set({"v", 2, std::vector<float>(8)});
  EXPECT_THROW(isolines(square, "v", std::span(&level, 1)), InputError);
}

double area(const Dataset& surface) {
  double sum = 0;
  for (const auto& t : surface.triangles.cells) {
    const Vec3d& a = surface.points[t[0].index()];
    sum += 0.5 * norm(cross(surface.points[t[1].index()] - a, surface.points[t[2].index()] - a));
  }
  return sum;
}

// Every directed edge must have its opposite.
bool closed(const Dataset& surface) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const auto& t : surface.triangles.cells) {
    for (std::size_t i = 0; i < 3; ++i) ++edges[{t[i].value, t[(i + 1) % 3].value}];
  }
  for (const auto& [edge, count] : edges) {
    if (count != 1 || edges.count({edge.second, edge.first}) == 0) return false;
  }
  return true;
}

TEST(Boundary, OfACubeIsClosedAndFacesOut) {
  const Dataset cube = sample_cube(5);
  const Dataset surface = boundary_surface(cube);
  EXPECT_EQ(surface.points.size(), 6U * 6 * 6 - 4 * 4 * 4);
  EXPECT_EQ(surface.triangles.cells.size(), 6U * 25 * 2);
  EXPECT_NEAR(area(surface), 6, 1e-12);
  EXPECT_TRUE(closed(surface));
  double volume = 0;  // by the divergence theorem, positive when normals point out
  for (const auto& t : surface.triangles.cells) {
    volume += dot(surface.points[t[0].index()], cross(surface.points[t[1].index()], surface.points[t[2].index()])) / 6;
  }
  EXPECT_NEAR(volume, 1, 1e-12);
  for (std::size_t i = 0; i < surface.points.size(); ++i) {
    EXPECT_EQ(surface.point_data.require("x", "points").at(i), surface.points[i].x);
  }
  const DataArray& slab = surface.triangles.data.require("slab", "triangles");
  for (std::size_t i = 0; i < surface.triangles.cells.size(); ++i) {
    double z = 0;
    for (const VertexId v : surface.triangles.cells[i]) z += surface.points[v.index()].z / 3;
    EXPECT_EQ(slab.at(i), std::min(4.0, std::floor(z * 5)));
  }
}

TEST(Boundary, OfInvertedTetrahedraFacesOutToo) {
  Dataset cube = sample_cube(1);
  for (auto& tet : cube.tets.cells) std::swap(tet[0], tet[1]);
  EXPECT_TRUE(closed(boundary_surface(cube)));
}

TEST(Isosurfaces, AreFlatInACubeAndFaceUphill) {
  const Dataset cube = sample_cube(4);
  const std::vector<double> levels{0.3, 0.6};
  const Dataset sheets = isosurfaces(cube, "x", levels);
  EXPECT_NEAR(area(sheets), 2, 1e-12);
  for (const Vec3d& p : sheets.points) EXPECT_LT(std::min(std::abs(p.x - 0.3), std::abs(p.x - 0.6)), 1e-12);
  for (const auto& t : sheets.triangles.cells) {
    const Vec3d& a = sheets.points[t[0].index()];
    EXPECT_GE(cross(sheets.points[t[1].index()] - a, sheets.points[t[2].index()] - a).x, 0);
  }
  EXPECT_EQ(sheets.triangles.data.require("x", "t").at(0), 0.3);
}

TEST(Cut, OpensACube) {
  const Dataset cube = sample_cube(4);
  const CutPlane plane{{0.45, 0, 0}, {1, 0, 0}};
  const Dataset shell = clip_surface(boundary_surface(cube), plane);
  EXPECT_NEAR(area(shell), 1 + 4 * 0.45, 1e-12);
  const Dataset face = cut_face(cube, plane);
  EXPECT_NEAR(area(face), 1, 1e-12);
  const Dataset both = merged_surfaces(shell, face);
  EXPECT_NEAR(area(both), 2 + 4 * 0.45, 1e-12);
  for (std::size_t i = 0; i < both.points.size(); ++i) {
    EXPECT_NEAR(both.point_data.require("x", "points").at(i), both.points[i].x, 1e-12);
    EXPECT_LE(both.points[i].x, 0.45 + 1e-12);
  }
}

TEST(Levels, AreRoundAndAboutAsManyAsAsked) {
  EXPECT_THAT(round_levels(0, 10, 9), testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  for (const double high : {0.013, 1.0, 7.7, 144.6, 3e6}) {
    const auto levels = round_levels(0.1 * high, high, 12);
    EXPECT_GE(levels.size(), 6U);
    EXPECT_LE(levels.size(), 24U);
    EXPECT_GT(levels.front(), 0.1 * high);
    EXPECT_LT(levels.back(), high);
  }
  EXPECT_TRUE(round_levels(1, 1, 5).empty());
  EXPECT_TRUE(round_levels(0, std::numeric_limits<double>::infinity(), 5).empty());
  EXPECT_TRUE(spaced_levels(0, 1, 0).empty());
  EXPECT_THAT(spaced_levels(-1, 1, 0.5), testing::ElementsAre(-0.5, 0, 0.5));
  EXPECT_THROW(spaced_levels(0, 1, 1e-9), UsageError);
}

TEST(ColorMap, GetsLighterAllTheWay) {
  const auto colors = color_map(256);
  ASSERT_EQ(colors.size(), 256U);
  const auto luminance = [](const Color& c) {
    const auto linear = [](double v) { return std::pow(v / 255, 2.2); };
    return 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  };
  for (std::size_t i = 8; i < colors.size(); i += 8) EXPECT_GT(luminance(colors[i]), luminance(colors[i - 8])) << i;
}

}  // namespace TEST_FILE
}  // namespace isochron

#endif
