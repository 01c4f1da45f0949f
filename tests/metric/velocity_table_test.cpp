#include "isochron/metric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ParseVelocities, FillsWhatIsLeftOut) {
  EXPECT_EQ(parse_velocities("0.6,0.3,0.2"), (Velocities{0.6, 0.3, 0.2}));
  EXPECT_EQ(parse_velocities(" 0.6 , 0.3 "), (Velocities{0.6, 0.3, 0.3}));
  EXPECT_EQ(parse_velocities("1e-1"), (Velocities{0.1, 0.1, 0.1}));
  for (const char* bad : {"", "0.6,", "0,1", "-1", "a", "1,2,3,4", "nan", "inf", "1;2", "1 2"})
    EXPECT_THROW(parse_velocities(bad), UsageError) << bad;
}

TEST(ParseVelocityTable, TakesLinesSemicolonsAndCommas) {
  const std::vector<RegionVelocities> expected{{1, {0.6, 0.3, 0.2}}, {-2, {0.5, 0.25, 0.25}}, {30, {2, 2, 2}}};
  EXPECT_EQ(
      parse_velocity_table("# region: fibre, sheet, normal\n1:0.6,0.3,0.2\n\n -2 : 0.5, 0.25 # healthy\r\n30:2\n"),
      expected);
  EXPECT_EQ(parse_velocity_table("1:0.6,0.3,0.2;-2:0.5,0.25;30:2"), expected);
  EXPECT_EQ(parse_velocity_table("1:0.6,0.3,0.2,-2:0.5,0.25,30:2"), expected);
  EXPECT_TRUE(parse_velocity_table(" \n# nothing\n").empty());
}

TEST(ParseVelocityTable, NamesTheBadRow) {
  for (const char* bad : {"7:", "7:x", "7:0.6,-1", "7:1,2,3,4", "x:1", "7.5:1", "7:1;;7:2", "0.6,0.3", "7:1\n0.3"})
    EXPECT_THROW(parse_velocity_table(bad), InputError) << bad;
  EXPECT_THAT([] { parse_velocity_table("1:1\n7:0.6,-1"); }, ThrowsMessage<InputError>(HasSubstr("'7'")));
  EXPECT_THAT([] { parse_velocity_table("7:1;7:2"); }, ThrowsMessage<InputError>(HasSubstr("two rows")));
}

TEST(RegionList, EndsAfterTwenty) {
  std::vector<double> regions{-1, 2, 30};
  EXPECT_EQ(region_list(regions), "-1, 2, 30");
  regions.assign(23, 5);
  EXPECT_THAT(region_list(regions), testing::EndsWith("5 and 3 more"));
}

TEST(ReadVelocityTable, ReadsAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "isochron_velocity_table_test.txt";
  std::ofstream(path) << "1:0.6,0.3\n2:0.4,0.1\n";
  EXPECT_EQ(read_velocity_table(path.string()).size(), 2U);
  std::ofstream(path) << "# empty\n";
  EXPECT_THROW(read_velocity_table(path.string()), InputError);
  std::ofstream(path) << "1:0.6,-1\n";
  EXPECT_THAT([&] { read_velocity_table(path.string()); }, ThrowsMessage<InputError>(HasSubstr(path.string())));
  std::filesystem::remove(path);
  EXPECT_THAT([&] { read_velocity_table(path.string()); }, ThrowsMessage<InputError>(HasSubstr("cannot be read")));
}

}  // namespace TEST_FILE
}  // namespace isochron
