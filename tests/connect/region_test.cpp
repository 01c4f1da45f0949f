#include "isochron/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isochron/error.h"

namespace isochron {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ImageGrid grid_of(std::uint32_t nx, std::uint32_t ny, std::uint32_t nz) {
  return {{nx, ny, nz}, {-10, 4, 2}, {Vec3d{0, 2, 0}, Vec3d{-2, 0, 0}, Vec3d{0, 0, 2.5}}};
}

template <class T>
Image image_of(const ImageGrid& grid, std::vector<T> values, int components = 1) {
  Image image{grid, {}, {}, {}};
  image.data.set({"values", components, std::move(values)});
  return image;
}

ImageSource only(const Image& image) {
  return [&image](const std::filesystem::path&) -> const Image& { return image; };
}
const Image& no_image(const std::filesystem::path&) { throw std::logic_error("no file is needed"); }

TEST(Region, TextIsParsed) {
  const auto sphere = std::get<SphereRegion>(parse_region("sphere:-1.5,2,3e1,4").what);
  EXPECT_EQ(sphere.center, (Vec3d{-1.5, 2, 30}));
  EXPECT_EQ(sphere.radius, 4);
  const auto label = std::get<LabelRegion>(parse_region("label:C:/a:b.nii.gz:-7").what);
  EXPECT_EQ(label.file, "C:/a:b.nii.gz");
  EXPECT_EQ(label.value, -7);
  EXPECT_EQ(std::get<MaskRegion>(parse_region("mask:m.nii").what).file, "m.nii");
  EXPECT_THAT(std::get<VoxelRegion>(parse_region("voxels:1,2,3;4,5,6;").what).voxels,
              ElementsAre(std::array<std::uint32_t, 3>{1, 2, 3}, std::array<std::uint32_t, 3>{4, 5, 6}));
}

TEST(Region, BadTextIsRefusedWithTheForms) {
  for (const char* text :
       {"", "sphere", "cube:1,2,3", "sphere:1,2,3", "sphere:1,2,3,x", "sphere:1,2,3,-1", "sphere:nan,0,0,1", "label:5",
        "label:f.nii:", "label:f.nii:1.5", "mask:", "voxels:", "voxels:1,2", "voxels:1,2,-3", "voxels:1,2,3,4"}) {
    EXPECT_THAT([&] { parse_region(text); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("is not a region"), HasSubstr("label:FILE:VALUE"))))
        << text;
  }
}

TEST(Region, SphereHoldsTheCentresWithinItsRadius) {
  const ImageGrid grid = grid_of(9, 8, 7);
  const Vec3d center = grid.position(Vec3d{4.2, 3.1, 2.7});
  for (const double radius : {2.0, 3.7, 6.0, 100.0}) {
    const Region region = make_region({"s", SphereRegion{center, radius}}, grid, no_image);
    std::vector<VertexId> expected;
    for (std::size_t v = 0; v < grid.voxel_count(); ++v)
      if (norm(grid.position(VertexId(v)) - center) <= radius) expected.push_back(VertexId(v));
    EXPECT_EQ(region.voxels, expected) << radius;
  }
}

TEST(Region, SphereSmallerThanAVoxelIsTheVoxelThatHoldsIt) {
  const ImageGrid grid = grid_of(9, 8, 7);
  const Region region = make_region({"s", SphereRegion{grid.position(Vec3d{4.4, 3.4, 2.6}), 0.1}}, grid, no_image);
  EXPECT_THAT(region.voxels, ElementsAre(grid.voxel(4, 3, 3)));
}

TEST(Region, SphereOutsideSaysWhereTheImageIs) {
  EXPECT_THAT([] { make_region(parse_region("sphere:500,0,0,3"), grid_of(9, 8, 7), no_image); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("outside the image"), HasSubstr("x -24…-10"))));
}

TEST(Region, LabelsOfRealsAndWholeNumbers) {
  const ImageGrid grid = grid_of(3, 2, 1);
  const Image reals = image_of<float>(grid, {0, 3, 3, 7, 0, -2});
  EXPECT_THAT(make_region(parse_region("label:f:3"), grid, only(reals)).voxels, ElementsAre(VertexId(1), VertexId(2)));
  const Image whole = image_of<std::int32_t>(grid, {0, 3, 3, 7, 0, -2});
  EXPECT_THAT(make_region(parse_region("label:f:-2"), grid, only(whole)).voxels, ElementsAre(VertexId(5)));
  EXPECT_THAT([&] { make_region(parse_region("label:f:4"), grid, only(whole)); },
              ThrowsMessage<InputError>(AllOf(HasSubstr("no voxel with the label 4"), HasSubstr("-2, 3, 7"))));
  const auto all = all_labels(reals, grid, "f");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, -2);
  EXPECT_EQ(all[1].label, 3);
  EXPECT_THAT(all[1].region.voxels, ElementsAre(VertexId(1), VertexId(2)));
}

TEST(Region, WhatIsNoLabelMapIsRefused) {
  const ImageGrid grid = grid_of(2, 1, 1);
  const Image shares = image_of<float>(grid, {0, 0.5});
  EXPECT_THAT([&] { all_labels(shares, grid, "f"); }, ThrowsMessage<InputError>(HasSubstr("no whole number")));
  const Image nothing = image_of<float>(grid, {0, 0});
  EXPECT_THAT([&] { all_labels(nothing, grid, "f"); }, ThrowsMessage<InputError>(HasSubstr("no labels")));
}

TEST(Region, MasksGiveTheirVoxels) {
  const ImageGrid grid = grid_of(3, 2, 1);
  const Image good = image_of<std::uint8_t>(grid, {0, 1, 0, 2, 0, 0});
  EXPECT_THAT(make_region(parse_region("mask:f"), grid, only(good)).voxels, ElementsAre(VertexId(1), VertexId(3)));
  const Image other = image_of<std::uint8_t>(grid_of(2, 3, 1), {0, 1, 0, 2, 0, 0});
  EXPECT_THAT([&] { make_region(parse_region("mask:f"), grid, only(other)); },
              ThrowsMessage<InputError>(HasSubstr("another shape")));
}

TEST(Region, VoxelsAreSortedAndMustBeInTheImage) {
  const ImageGrid grid = grid_of(3, 3, 3);
  EXPECT_THAT(make_region(parse_region("voxels:2,2,2;0,0,0;2,2,2"), grid, no_image).voxels,
              ElementsAre(VertexId(0), VertexId(26)));
  EXPECT_THAT([&] { make_region(parse_region("voxels:0,3,0"), grid, no_image); },
              ThrowsMessage<InputError>(HasSubstr("voxel 0,3,0 is outside the image")));
}

TEST(Region, OutsideTheMaskSaysHowFarItIs) {
  const ImageGrid grid = grid_of(5, 1, 1);  // 2 mm apart
  const std::vector<std::uint8_t> mask{1, 1, 0, 0, 0};
  EXPECT_THAT(inside_mask({"r", {VertexId(1), VertexId(2)}}, grid, mask).voxels, ElementsAre(VertexId(1)));
  EXPECT_THAT(
      [&] {
        inside_mask({"r", {VertexId(4)}}, grid, mask);
      },
      ThrowsMessage<InputError>(
          AllOf(HasSubstr("entirely outside the mask"), HasSubstr("1,0,0"), HasSubstr("6 mm away"))));
}

TEST(Region, OverlapIsCounted) {
  EXPECT_NO_THROW(check_apart({"a", {VertexId(1), VertexId(2)}}, {"b", {VertexId(3)}}));
  EXPECT_THAT(
      [] {
        check_apart({"a", {VertexId(1), VertexId(2)}}, {"b", {VertexId(2), VertexId(5)}});
      },
      ThrowsMessage<InputError>(AllOf(HasSubstr("overlap"), HasSubstr("voxels in both: 1"))));
}

}  // namespace TEST_FILE
}  // namespace isochron
