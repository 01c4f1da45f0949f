// NIfTI: headers put together byte by byte from the format's description, and what is written is read again.
#include <numbers>

#include "io/image_samples.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array both_orders{Encoding::little_endian, Encoding::big_endian};

/// A NIfTI-1 header of a 2 × 3 × 1 image of int16 without any orientation, with 352 bytes.
std::string header_1(Encoding e) {
  std::string h(352, '\0');
  put<std::int32_t>(h, 0, 348, e);
  put_all<std::int16_t>(h, 40, {3, 2, 3, 1, 1, 1, 1, 1}, e);
  put_all<std::int16_t>(h, 70, {4, 16}, e);
  put_all<float>(h, 76, {1, 2, 3, 4, 1, 1, 1, 1}, e);
  put<float>(h, 108, 352, e);
  h.replace(344, 3, "n+1");
  return h;
}

/// The same in version 2.
std::string header_2(Encoding e) {
  std::string h(544, '\0');
  put<std::int32_t>(h, 0, 540, e);
  h.replace(4, 8, std::string("n+2\0\r\n\032\n", 8));
  put<std::int16_t>(h, 12, 4, e);
  put_all<std::int64_t>(h, 16, {3, 2, 3, 1, 1, 1, 1, 1}, e);
  put_all<double>(h, 104, {1, 2, 3, 4, 1, 1, 1, 1}, e);
  put<std::int64_t>(h, 168, 544, e);
  return h;
}

std::string int16_values(Encoding e, std::size_t count = 6) { return counted_bytes<std::int16_t>(count, e, -20, 10); }

void put_sform(std::string& h, Encoding e, const std::vector<float>& rows) {
  put<std::int16_t>(h, 254, 2, e);
  put_all(h, 280, rows, e);
}

void put_qform(std::string& h, Encoding e, const std::vector<float>& quaternion, const std::vector<float>& origin) {
  put<std::int16_t>(h, 252, 1, e);
  put_all(h, 256, quaternion, e);
  put_all(h, 268, origin, e);
}

Image read_bytes(const std::string& bytes) { return read_image_content("a.nii", bytes); }

TEST(Nifti, BothVersionsInBothByteOrders) {
  for (const Encoding e : both_orders) {
    for (const std::string& header : {header_1(e), header_2(e)}) {
      const Image image = read_bytes(header + int16_values(e));
      EXPECT_THAT(image.grid.shape, ElementsAre(2, 3, 1));
      ASSERT_EQ(image.data.all().size(), 1U);
      const DataArray& array = image.data.all()[0];
      EXPECT_EQ(array.name, "values");
      EXPECT_EQ(array.components, 1);
      EXPECT_EQ(std::get<std::vector<std::int32_t>>(array.values),
                (std::vector<std::int32_t>{-20, -10, 0, 10, 20, 30}));
      EXPECT_FALSE(image.tensor_order.has_value());
    }
  }
}

TEST(Nifti, WithoutAnAffineTheVoxelSizesAreUsedAndItIsSaid) {
  for (const Encoding e : both_orders) {
    const Image image = read_bytes(header_1(e) + int16_values(e));
    ImageGrid expected;
    expected.shape = {2, 3, 1};
    expected.axes = {Vec3d{2, 0, 0}, Vec3d{0, 3, 0}, Vec3d{0, 0, 4}};
    expect_same_grid(image.grid, expected, 0);
    ASSERT_EQ(image.warnings.size(), 1U);
    EXPECT_THAT(image.warnings[0], HasSubstr("affine is missing"));
  }
}

TEST(Nifti, TheSformComesBeforeTheQform) {
  for (const Encoding e : both_orders) {
    std::string h = header_1(e);
    put_qform(h, e, {0, 0, 0}, {1, 2, 3});
    const Image by_qform = read_bytes(h + int16_values(e));
    expect_near(by_qform.grid.origin, {1, 2, 3});
    expect_near(by_qform.grid.axes[1], {0, 3, 0});
    put_sform(h, e, {0, 5, 0, 7, 6, 0, 0, 8, 0, 1, 4, 9});
    const Image by_sform = read_bytes(h + int16_values(e));
    expect_near(by_sform.grid.origin, {7, 8, 9});
    expect_near(by_sform.grid.axes[0], {0, 6, 0});
    expect_near(by_sform.grid.axes[1], {5, 0, 1});
    expect_near(by_sform.grid.axes[2], {0, 0, 4});
    EXPECT_TRUE(by_sform.warnings.empty());
  }
}

TEST(Nifti, TheQformTurnsAndMirrors) {
  const Encoding e = Encoding::little_endian;
  std::string h = header_1(e);
  // A quarter turn about z: x to y, y to −x.
  put_qform(h, e, {0, 0, static_cast<float>(std::numbers::sqrt2 / 2)}, {0, 0, 0});
  Image image = read_bytes(h + int16_values(e));
  expect_near(image.grid.axes[0], {0, 2, 0}, 1e-6);
  expect_near(image.grid.axes[1], {-3, 0, 0}, 1e-6);
  expect_near(image.grid.axes[2], {0, 0, 4}, 1e-6);
  put<float>(h, 76, -1, e);
  image = read_bytes(h + int16_values(e));
  expect_near(image.grid.axes[2], {0, 0, -4}, 1e-6);
  // A half turn, whose quaternion has no real part, stored a little too long.
  put<float>(h, 76, 1, e);
  put_qform(h, e, {1.0000001F, 0, 0}, {0, 0, 0});
  image = read_bytes(h + int16_values(e));
  expect_near(image.grid.axes[0], {2, 0, 0}, 1e-6);
  expect_near(image.grid.axes[1], {0, -3, 0}, 1e-6);
  expect_near(image.grid.axes[2], {0, 0, -4}, 1e-6);
}

TEST(Nifti, UnitsBecomeMillimetres) {
  for (const auto& [unit, mm] : {std::pair{1, 1000.0}, std::pair{2, 1.0}, std::pair{3, 1e-3}, std::pair{0, 1.0}}) {
    const Encoding e = Encoding::little_endian;
    std::string h = header_1(e);
    h[123] = static_cast<char>(unit + 8);  // the time's unit must not matter
    put_sform(h, e, {2, 0, 0, 10, 0, 3, 0, 20, 0, 0, 4, 30});
    const Image image = read_bytes(h + int16_values(e));
    expect_near(image.grid.axes[1], {0, 3 * mm, 0}, 1e-9);
    expect_near(image.grid.origin, {10 * mm, 20 * mm, 30 * mm}, 1e-9);
  }
}

TEST(Nifti, SlopeAndInterceptAreApplied) {
  const Encoding e = Encoding::big_endian;
  std::string h = header_1(e);
  put<float>(h, 112, 0.5F, e);
  put<float>(h, 116, 100, e);
  const Image image = read_bytes(h + int16_values(e));
  EXPECT_EQ(std::get<std::vector<float>>(image.data.all()[0].values), (std::vector<float>{90, 95, 100, 105, 110, 115}));
  put<float>(h, 112, 0, e);  // a slope of 0 means none
  EXPECT_EQ(read_bytes(h + int16_values(e)).data.all()[0].at(0), -20);
  put<float>(h, 112, std::numeric_limits<float>::quiet_NaN(), e);
  EXPECT_EQ(read_bytes(h + int16_values(e)).data.all()[0].at(0), -20);
}

TEST(Nifti, VolumesBecomeComponents) {
  const Encoding e = Encoding::little_endian;
  std::string h = header_1(e);
  put<std::int16_t>(h, 40, 4, e);
  put<std::int16_t>(h, 48, 2, e);
  const Image image = read_bytes(h + int16_values(e, 12));
  const DataArray& array = image.data.all()[0];
  EXPECT_EQ(array.components, 2);
  EXPECT_EQ(array.at(0, 0), -20);
  EXPECT_EQ(array.at(0, 1), 40);
  EXPECT_EQ(array.at(5, 0), 30);
  EXPECT_EQ(array.at(5, 1), 90);
}

TEST(Nifti, ASymmetricMatrixIsATensorInLowerOrder) {
  const Encoding e = Encoding::little_endian;
  std::string h = header_1(e);
  put<std::int16_t>(h, 40, 5, e);
  put<std::int16_t>(h, 50, 6, e);
  EXPECT_FALSE(read_bytes(h + int16_values(e, 36)).tensor_order.has_value()) << "six volumes alone are no tensor";
  put<std::int16_t>(h, 68, 1005, e);
  const Image image = read_bytes(h + int16_values(e, 36));
  EXPECT_EQ(image.tensor_order, TensorOrder::lower);
  EXPECT_EQ(image.data.all()[0].components, 6);
}

TEST(Nifti, ColoursAreComponents) {
  const Encoding e = Encoding::little_endian;
  std::string h = header_1(e);
  put<std::int16_t>(h, 70, 128, e);
  std::string values;
  for (char i = 0; i < 18; ++i) values += i;
  const DataArray array = read_bytes(h + values).data.all()[0];
  EXPECT_EQ(array.components, 3);
  EXPECT_EQ(array.at(1, 0), 3);
  EXPECT_EQ(array.at(1, 2), 5);
}

TEST(Nifti, APairOfFilesIsFoundByEitherName) {
  const TemporaryFolder folder;
  const Encoding e = Encoding::big_endian;
  std::string h = header_1(e).substr(0, 348);
  h.replace(344, 3, "ni1");
  put<float>(h, 108, 0, e);
  const fs::path header = folder.file("a.hdr", h);
  EXPECT_THROW(static_cast<void>(read_image(header)), InputError);
  const fs::path values = folder.file("a.img", int16_values(e));
  EXPECT_EQ(read_image(header).data.all()[0].at(5), 30);
  EXPECT_EQ(read_image(values).data.all()[0].at(5), 30);
}

TEST(Nifti, AFlatImageWithoutAThirdAxisGetsOne) {
  const Encoding e = Encoding::little_endian;
  std::string h = header_1(e);
  put<std::int16_t>(h, 40, 2, e);
  put_sform(h, e, {2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0});
  expect_near(read_bytes(h + int16_values(e)).grid.axes[2], {0, 0, 1});
}

TEST(Nifti, BadHeadersAreRefused) {
  const Encoding e = Encoding::little_endian;
  const auto error = [](const std::string& bytes) { return image_content_error("a.nii", bytes); };
  const auto with = [&](auto&& change) {
    std::string h = header_1(e);
    change(h);
    return error(h + int16_values(e));
  };
  const auto sizes = [&](const std::vector<std::int16_t>& values) {
    return with([&](std::string& h) { put_all(h, values.size() == 8 ? 40 : 42, values, e); });
  };
  EXPECT_THAT(with([&](std::string& h) {
                put_sform(h, e, {2, 0, 0, 0, 0, 3, 3, 0, 0, 3, 3, 0});
              }),
              HasSubstr("affine"))
      << "singular";
  EXPECT_THAT(with([](std::string& h) { h[344] = 'x'; }), HasSubstr("magic"));
  EXPECT_THAT(error(std::string(400, 'x')), HasSubstr("no NIfTI file"));
  EXPECT_THAT(error("abc"), HasSubstr("no NIfTI file"));
  EXPECT_THAT(error(header_1(e) + int16_values(e, 5)), HasSubstr("too short"));
  EXPECT_THAT(sizes({2, 0}), HasSubstr("nothing in the image"));
  EXPECT_THAT(sizes({2, -1}), HasSubstr("sizes"));
  EXPECT_THAT(sizes({7, 32767, 32767, 32767, 32767, 32767, 32767, 32767}), HasSubstr("sizes"));
  EXPECT_THAT(sizes({20000, 20000}), HasSubstr("too short"));
  EXPECT_THAT(with([&](std::string& h) { put<std::int16_t>(h, 70, 32, e); }), HasSubstr("datatype 32")) << "complex";
  EXPECT_THAT(with([&](std::string& h) { put<float>(h, 108, 100, e); }), HasSubstr("offset"));
}

TEST(Nifti, TheWrittenQformAgreesWithTheSform) {
  const TemporaryFolder folder;
  Image image = counted_image<float>(1);
  for (int turn = 0; turn < 24; ++turn) {
    // Axis permutations with signs, some of them tilted: every branch of the quaternion's formula.
    const auto a = static_cast<std::size_t>(turn % 3);
    const double angle = turn < 12 ? 0 : 0.3 * turn;
    const std::array<Vec3d, 3> base{Vec3d{std::cos(angle), std::sin(angle), 0},
                                    Vec3d{-std::sin(angle), std::cos(angle), 0}, Vec3d{0, 0, 1}};
    image.grid.axes = {(turn & 1 ? -2.0 : 2.0) * base[a], (turn & 2 ? -3.0 : 3.0) * base[(a + 1) % 3],
                       (turn & 4 ? -4.0 : 4.0) * base[(a + 2) % 3]};
    write_image(folder.path() / "a.nii", image, Overwrite::yes);
    std::string bytes = content_of(folder.path() / "a.nii");
    put<std::int16_t>(bytes, 254, 0, native_encoding);  // forget the sform
    // Close to half turns the format itself keeps only half of a float's digits.
    expect_same_grid(read_image_content("b.nii", bytes).grid, image.grid, turn < 12 ? 3e-6 : 2e-3);
  }
}

TEST(Nifti, ASkewGridHasNoQform) {
  const TemporaryFolder folder;
  Image image = counted_image<float>(1);
  image.grid.axes[1] = image.grid.axes[1] + 0.2 * image.grid.axes[0];
  write_image(folder.path() / "a.nii", image, Overwrite::no);
  EXPECT_EQ(content_of(folder.path() / "a.nii").substr(252, 4),
            bytes_of<std::int16_t>(0, native_encoding) + bytes_of<std::int16_t>(1, native_encoding));
  expect_same_grid(read_image(folder.path() / "a.nii").grid, image.grid, 1e-6);
}

TEST(Nifti, LongImagesBecomeVersion2) {
  const TemporaryFolder folder;
  Image image;
  image.grid.shape = {40000, 2, 1};
  image.data.set({"long", 1, counted_values<float>(80000)});
  write_image(folder.path() / "a.nii", image, Overwrite::no);
  EXPECT_EQ(content_of(folder.path() / "a.nii").substr(0, 4), bytes_of<std::int32_t>(540, native_encoding));
  const Image again = read_image(folder.path() / "a.nii");
  expect_same_grid(again.grid, image.grid, 0);
  expect_same_arrays(image.data, again.data);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
