#include "bench/paper/tracts.h"

#include <cmath>

#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron::bench {
namespace TEST_FILE {

TEST(Tracts, AreReadFromLines) {
  const auto tracts = read_tracts("# comment\nbrain,arch,1,2,3,4,5,6,7,8\n\nphantom,b,-1,0,0,1,1.5,0,0,1");
  ASSERT_EQ(tracts.size(), 2U);
  EXPECT_EQ(tracts[0].name, "arch");
  EXPECT_EQ(tracts[0].from.center.z, 3);
  EXPECT_EQ(tracts[0].to.radius, 8);
  EXPECT_EQ(tracts[1].brain, "phantom");
  EXPECT_EQ(tracts[1].to.center.x, 1.5);
  EXPECT_THROW((void)read_tracts("brain,arch,1,2,3"), InputError);
  EXPECT_THROW((void)read_tracts("brain,arch,1,2,3,4,5,six,7,8"), InputError);
}

TEST(Tracts, OfTheFileHaveEndsApart) {
  Brain brain;
  std::size_t count = 0;
  for (const char* name : {"brain", "phantom brain"}) {
    brain.name = name;
    for (const Tract& tract : tracts_of(brain)) {
      EXPECT_GT(norm(tract.from.center - tract.to.center), tract.from.radius + tract.to.radius) << tract.name;
      ++count;
    }
  }
  EXPECT_EQ(count, 10U);
}

TEST(Tracts, DistancesAreMeansOfTheClosest) {
  EXPECT_DOUBLE_EQ(mean_closest_distance({{0, 0, 0}, {0, 2, 0}}, {{1, 0, 0}, {0, 5, 0}, {9, 9, 9}}),
                   (1 + std::sqrt(5.0)) / 2);
}

TEST(Tracts, LinesAreCutOffAtTheEnds) {
  std::vector<Vec3d> line;
  for (int i = 0; i < 8; ++i) line.push_back({double(i), 0, 0});
  const std::vector<bool> from{true, true, false, false, false, false, false, false};
  const std::vector<bool> to{false, false, false, false, true, true, false, false};
  const std::vector<bool> nowhere(8, false);
  const auto piece = between_ends(line, from, to);
  ASSERT_EQ(piece.size(), 4U);
  EXPECT_EQ(piece.front().x, 1);
  EXPECT_EQ(piece.back().x, 4);
  EXPECT_EQ(between_ends(line, to, from).size(), 4U);
  EXPECT_TRUE(between_ends(line, from, nowhere).empty());
}

TEST(Tracts, PathwaysOfThePhantomFollowItsStreamlines) {
  const Brain brain = phantom_brain(BenchSize::quick, 1);
  SolveOptions options;
  options.verify = Keep::yes;
  options.threads = 1;
  Tract tract = tracts_of(brain).at(0);
  const TractComparison found = compare_tract(brain, tract, 2, options);
  EXPECT_FALSE(found.bad) << *found.bad;
  EXPECT_GT(found.seeds, 0U);
  EXPECT_GT(found.reaching, 20U);
  EXPECT_LT(found.path_to_lines, 3 * norm(brain.grid.axes[0]));
  EXPECT_LE(found.dice, 1);
  EXPECT_LE(found.lines_inside, 1);
  options.verify = Keep::no;
  EXPECT_TRUE(compare_tract(brain, tract, 1, options).bad) << "an unchecked solve is no answer";
}

}  // namespace TEST_FILE
}  // namespace isochron::bench
