// TrackVis files as this and other programs write them.
#include "io/image_samples.h"
#include "isochron/io/mesh/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Axes that run to the left, back and up, with voxels of 2, 3 and 4 mm.
ImageGrid lps_grid() {
  ImageGrid grid;
  grid.shape = {10, 20, 30};
  grid.axes = {Vec3d{-2, 0, 0}, Vec3d{0, -3, 0}, Vec3d{0, 0, 4}};
  grid.origin = {9, 8, 7};
  return grid;
}

Dataset two_lines() {
  Dataset lines;
  lines.points = {{9, 8, 7}, {7, 8, 7}, {1, 2, 3.5}, {4, 5, 6}, {-1, 0, 1}};
  lines.lines = {{VertexId(0), VertexId(1)}, {VertexId(2), VertexId(3), VertexId(4)}};
  return lines;
}

std::string written(const Dataset& lines) {
  const TemporaryFolder folder;
  write_trk({folder.path() / "a.trk", folder.path() / "a.trk"}, lines, lps_grid());
  return content_of(folder.path() / "a.trk");
}

Dataset read_content(const std::string& content) {
  const TemporaryFolder folder;
  return read_dataset(folder.file("a.trk", content));
}

template <class T>
std::string with_value(std::string content, std::size_t at, T value) {
  return content.replace(at, sizeof(T), bytes_of(std::vector<T>{value}, Encoding::little_endian));
}

void expect_points(const Dataset& found, const std::vector<Vec3d>& expected) {
  ASSERT_THAT(found.points, SizeIs(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) expect_near(found.points[i], expected[i], 1e-5);
}

TEST(TrackVis, ReadsWhatItWrites) {
  const Dataset lines = two_lines(), found = read_content(written(lines));
  EXPECT_EQ(found.lines, lines.lines);
  expect_points(found, lines.points);
  EXPECT_TRUE(found.warnings.empty());
}

TEST(TrackVis, PointsAreInMillimetresFromTheCornerOfTheFirstVoxel) {
  const std::string content = written(two_lines());
  EXPECT_EQ(content.size(), 1000 + 4 + 2 * 12 + 4 + 3 * 12);
  EXPECT_EQ(content.substr(948, 3), "LPS");
  // The middle of the first voxel.
  EXPECT_EQ(content.substr(1004, 12), bytes_of(std::vector<float>{1, 1.5, 2}, Encoding::little_endian));
}

TEST(TrackVis, TheVoxelOrderMayDifferFromTheAffine) {
  std::string content = written(two_lines());
  content.replace(948, 3, "RPS");
  const Dataset found = read_content(content);
  expect_near(found.points[0], {9 - 2 * 9, 8, 7}, 1e-5);  // counted from the other end
  content.replace(948, 3, "XPS");
  EXPECT_THAT([&] { read_content(content); }, ThrowsMessage<InputError>(HasSubstr("voxel order")));
  content.replace(948, 3, "LRS");
  EXPECT_THAT([&] { read_content(content); }, ThrowsMessage<InputError>(HasSubstr("twice")));
}

TEST(TrackVis, SaysWhatWasLeftOutOrIsMissing) {
  const std::string content = written(two_lines());
  const Dataset without_affine = read_content(with_value<std::int32_t>(content, 992, 1));
  EXPECT_THAT(without_affine.warnings, ElementsAre(HasSubstr("affine is missing")));
  EXPECT_THAT(read_content(with_value<std::int32_t>(content, 988, 7)).warnings, ElementsAre(HasSubstr("counts 7")));
  EXPECT_TRUE(read_content(with_value<std::int32_t>(content, 988, 0)).warnings.empty());
  // One value behind each line.
  const std::string value = bytes_of(std::vector<float>{0.5F}, Encoding::little_endian);
  std::string more = with_value<std::int16_t>(content, 238, 1);
  more.insert(1028, value);
  const Dataset found = read_content(more + value);
  expect_points(found, two_lines().points);
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("left out")));
}

TEST(TrackVis, DamagedFilesAreRefused) {
  const std::string content = written(two_lines());
  for (const std::string& bad :
       {std::string("TRACK"), content.substr(0, 999), content.substr(0, content.size() - 1),
        with_value<std::int32_t>(content, 996, 999), with_value<float>(content, 12, 0),
        with_value<std::int32_t>(content, 1000, -1), with_value<std::int32_t>(content, 1000, 2000000000),
        with_value<std::int16_t>(content, 36, -1)})
    EXPECT_THROW(read_content(bad), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
