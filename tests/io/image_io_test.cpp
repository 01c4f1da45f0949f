// What all image formats have in common: what is written is read again, and what cannot be written is refused.
#include "isochron/io/image/formats.h"

#include "io/image_samples.h"
#include "support/data_folder.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Written {
  const char* name;
  double place = 0;  // the error of the grid; below zero: the format does not keep it
  bool keeps_name = true;
  bool keeps_type = true;                // 64-bit types too
  std::optional<TensorOrder> tensors{};  // the order in which it keeps tensors
};

void PrintTo(const Written& written, std::ostream* out) { *out << written.name; }

class ImageFile : public ::testing::TestWithParam<Written> {
 protected:
  Image write_and_read(const Image& image) {
    write_image(folder_.path() / GetParam().name, image, Overwrite::yes);
    return read_image(folder_.path() / GetParam().name);
  }
  template <class T>
  void expect_round_trip(int components) {
    const Image image = counted_image<T>(components);
    const Image again = write_and_read(image);
    if (GetParam().place >= 0) expect_same_grid(again.grid, image.grid, GetParam().place);
    EXPECT_EQ(again.grid.shape, image.grid.shape);
    EXPECT_THAT(again.warnings, ElementsAre());
    ASSERT_EQ(again.data.all().size(), 1U);
    DataArray expected = image.data.all()[0];
    if (!GetParam().keeps_name) expected.name = "values";
    const bool wide = std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>;
    if (GetParam().keeps_type || !wide) {
      expect_same_array(expected, again.data);
      EXPECT_EQ(again.data.all()[0].values.index(), expected.values.index()) << "the type changed";
    } else {
      for (std::size_t i = 0; i < image.grid.voxel_count(); ++i)
        EXPECT_EQ(again.data.all()[0].at(i), static_cast<double>(static_cast<float>(expected.at(i))));
    }
    EXPECT_FALSE(again.tensor_order.has_value());
  }
  TemporaryFolder folder_;
};

TEST_P(ImageFile, IsReadAsItWasWritten) {
  for (const int components : {1, 3, 6}) {
    expect_round_trip<float>(components);
    expect_round_trip<double>(components);
    expect_round_trip<std::int32_t>(components);
    expect_round_trip<std::int64_t>(components);
    expect_round_trip<std::uint8_t>(components);
  }
}

TEST_P(ImageFile, FlatImagesStayFlat) {
  Image image;
  image.grid.shape = {5, 3, 1};
  image.grid.axes = {Vec3d{0, 2, 0}, Vec3d{3, 0, 0}, Vec3d{0, 0, -1}};
  image.data.set({"a name", 1, counted_values<float>(15)});
  const Image again = write_and_read(image);
  EXPECT_THAT(again.grid.shape, ElementsAre(5, 3, 1));
  if (GetParam().place >= 0) expect_same_grid(again.grid, image.grid, 1e-6);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(again.data.all()[0].at(i), image.data.all()[0].at(i));
}

TEST_P(ImageFile, InfinityAndNanAreKept) {
  Image image = counted_image<float>(1);
  auto& values = std::get<std::vector<float>>(image.data.all()[0].values);
  values[3] = std::numeric_limits<float>::infinity();
  values[4] = std::numeric_limits<float>::quiet_NaN();
  const Image again = write_and_read(image);
  EXPECT_EQ(again.data.all()[0].at(3), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(again.data.all()[0].at(4)));
}

TEST_P(ImageFile, TensorsOfKnownOrderAreWrittenInTheFormatsOwn) {
  for (const TensorOrder order : {TensorOrder::vtk, TensorOrder::row, TensorOrder::mrtrix, TensorOrder::lower}) {
    for (const int components : {6, 9}) {
      Image image = counted_image<float>(components);
      image.tensor_order = order;
      const Image again = write_and_read(image);
      if (!GetParam().tensors) {
        EXPECT_FALSE(again.tensor_order.has_value());
        continue;
      }
      ASSERT_TRUE(again.tensor_order.has_value());
      if (components == 6) {
        EXPECT_EQ(again.tensor_order, GetParam().tensors);
      }
      for (std::size_t voxel = 0; voxel < image.grid.voxel_count(); ++voxel) {
        std::vector<double> before, after;
        for (int c = 0; c < components; ++c) {
          before.push_back(image.data.all()[0].at(voxel, c));
          after.push_back(again.data.all()[0].at(voxel, c));
        }
        EXPECT_EQ(tensor_of(before, order), tensor_of(after, *again.tensor_order));
      }
    }
  }
}

TEST_P(ImageFile, SeveralArraysAreWrittenOrRefused) {
  Image image = counted_image<float>(1);
  image.data.set({"another", 2, counted_values<std::uint8_t>(2 * image.grid.voxel_count())});
  const auto& formats = image_formats();
  const auto format = std::find_if(formats.begin(), formats.end(), [](const ImageFormat& f) {
    return std::string(GetParam().name).ends_with(f.extensions[0]);
  });
  if (format != formats.end() && format->many_arrays) {
    expect_same_arrays(image.data, write_and_read(image).data);
  } else {
    EXPECT_THROW(write_image(folder_.path() / GetParam().name, image, Overwrite::no), UsageError);
    EXPECT_EQ(folder_.entries(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ImageFile,
    ::testing::Values(Written{.name = "a.nii", .place = 1e-6, .tensors = TensorOrder::lower},
                      Written{.name = "a.nii.gz", .place = 1e-6, .tensors = TensorOrder::lower},
                      Written{.name = "A.NII", .place = 1e-6, .tensors = TensorOrder::lower},
                      Written{.name = "a.nrrd", .place = 0, .tensors = TensorOrder::row},
                      Written{.name = "a.vti", .place = 1e-14, .tensors = TensorOrder::vtk},
                      Written{.name = "a.npy", .place = -1, .keeps_name = false},
                      Written{.name = "a.npy.gz", .place = -1, .keeps_name = false},
                      Written{.name = "a.mgh", .place = 3e-6, .keeps_name = false, .keeps_type = false},
                      Written{.name = "a.mgz", .place = 3e-6, .keeps_name = false, .keeps_type = false}));

TEST(ImageIo, KnowsImagesByTheirNames) {
  for (const char* name : {"a.nii", "a.nii.gz", "A.NRRD", "a.nhdr", "a.vti", "a.npy", "a.mgz", "a.hdr", "x/a.img.gz"})
    EXPECT_TRUE(is_image_file(name)) << name;
  for (const char* name : {"a.vtu", "a.gii", "nii", "a.nii.zip", "lh.pial"}) EXPECT_FALSE(is_image_file(name)) << name;
}

TEST(ImageIo, BadRequestsAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THAT(image_error(folder.path() / "a.nii"), HasSubstr("no such file"));
  EXPECT_THAT(image_content_error("a.xyz", "1"), HasSubstr("unknown extension '.xyz'"));
  EXPECT_THAT(image_content_error("a.mgz", ""), HasSubstr("empty"));
  Image image = counted_image<float>(1);
  EXPECT_THROW(write_image(folder.path() / "a.xyz", image, Overwrite::no), UsageError);
  EXPECT_THROW(write_image(folder.path() / "a.hdr", image, Overwrite::no), UsageError);
  EXPECT_THROW(write_image(folder.file("b.nii", "mine"), image, Overwrite::no), InputError);
  EXPECT_EQ(content_of(folder.path() / "b.nii"), "mine");
  image.grid.axes[1] = image.grid.axes[0];
  EXPECT_THROW(write_image(folder.path() / "c.nii", image, Overwrite::no), InputError);
  image = counted_image<float>(1);
  image.grid.shape[0] = 5;
  EXPECT_THROW(write_image(folder.path() / "c.nii", image, Overwrite::no), InputError) << "the array does not fit";
  image.data = {};
  EXPECT_THROW(write_image(folder.path() / "c.nii", image, Overwrite::no), UsageError);
  EXPECT_FALSE(fs::exists(folder.path() / "c.nii"));
}

TEST(RawImage, IsReadWithTheGivenShape) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("a.raw", "head" + counted_bytes<std::int16_t>(12, Encoding::big_endian, -3));
  RawLayout layout{.shape = {3, 2, 1}, .components = 2, .skip = 4};
  std::tie(layout.type, layout.encoding) = parse_raw_type("int16be");
  Image image = read_raw_image(path, layout);
  EXPECT_EQ(image.data.all()[0].at(0, 0), -3);
  EXPECT_EQ(image.data.all()[0].at(5, 1), 8);
  place_image(image.grid, {.spacing = {2, 3}, .origin = {10, 20}});
  expect_near(image.grid.axes[1], {0, 3, 0});
  expect_near(image.grid.origin, {10, 20, 0});
  for (const ImagePlace& wrong : {ImagePlace{{1, 2, 3, 4}}, ImagePlace{{-1}}, ImagePlace{{}, {1}}})
    EXPECT_THROW(place_image(image.grid, wrong), UsageError);
  layout.shape = {3, 2, 2};
  EXPECT_THROW(static_cast<void>(read_raw_image(path, layout)), InputError);
  layout.shape = {3, 1, 1};
  EXPECT_THROW(static_cast<void>(read_raw_image(path, layout)), InputError) << "bytes are left over";
  layout.shape = {0, 1, 1};
  EXPECT_THROW(static_cast<void>(read_raw_image(path, layout)), InputError);
  layout = {.shape = {4000000000, 1, 1}, .components = 2000000000, .type = ScalarType::uint8};
  EXPECT_THROW(static_cast<void>(read_raw_image(path, layout)), InputError);
  EXPECT_THROW(parse_raw_type("float"), UsageError);
}

// ---- arrays as NumPy writes them

std::string npy(const std::string& dictionary, const std::string& values, char version = 1) {
  std::string header = "\x93NUMPY" + std::string{version, '\0'};
  const std::string text = dictionary + "  \n";
  if (version == 1) header += bytes_of(static_cast<std::uint16_t>(text.size()), Encoding::little_endian);
  else header += bytes_of(static_cast<std::uint32_t>(text.size()), Encoding::little_endian);
  return header + text + values;
}

TEST(NpyImage, IndicesAreVoxelsInEitherOrder) {
  const std::string values = counted_bytes<float>(24, Encoding::big_endian);
  const Image c =
      read_image_content("c.npy", npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3, 4), }", values));
  const Image f =
      read_image_content("f.npy", npy("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3, 4), }", values, 2));
  EXPECT_THAT(c.grid.shape, ElementsAre(2, 3, 4));
  for (std::uint32_t i = 0; i < 2; ++i)
    for (std::uint32_t j = 0; j < 3; ++j)
      for (std::uint32_t k = 0; k < 4; ++k) {
        EXPECT_EQ(c.data.all()[0].at(c.grid.voxel(i, j, k).index()), (i * 3 + j) * 4 + k);
        EXPECT_EQ(f.data.all()[0].at(f.grid.voxel(i, j, k).index()), i + 2 * (j + 3 * k));
      }
  const Image four = read_image_content(
      "d.npy", npy("{\"descr\": \">f4\", \"fortran_order\": False, \"shape\": (2, 2, 3, 2)}", values));
  EXPECT_EQ(four.data.all()[0].components, 2);
  EXPECT_EQ(four.data.all()[0].at(four.grid.voxel(1, 0, 2).index(), 1), ((1 * 2 + 0) * 3 + 2) * 2 + 1);
}

TEST(NpyImage, TruthValuesAndSmallIntegers) {
  const Image truth = read_image_content(
      "a.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }", std::string("\1\0\0\1", 4)));
  EXPECT_TRUE(std::holds_alternative<std::vector<std::uint8_t>>(truth.data.all()[0].values));
  EXPECT_EQ(truth.data.all()[0].at(3), 1);
  const Image small =
      read_image_content("b.npy", npy("{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2), }", "\xff\x7f"));
  EXPECT_EQ(small.data.all()[0].at(0), -1);
}

TEST(NpyImage, OtherArraysAreRefused) {
  const auto error = [&](const std::string& dictionary, const std::string& values = "1234567812345678") {
    return image_content_error("a.npy", npy(dictionary, values));
  };
  EXPECT_THAT(error("{'descr': '<c8', 'fortran_order': False, 'shape': (1, 2), }"), HasSubstr("<c8"));
  EXPECT_THAT(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 2), }"), HasSubstr("kind"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"), HasSubstr("indices"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1, 1, 1, 1), }"), HasSubstr("indices"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (2, x), }"), HasSubstr("shape"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 0), }"), HasSubstr("nothing in the image"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (90000, 90000, 90000), }"), HasSubstr("sizes"));
  EXPECT_THAT(error("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"), HasSubstr("too short"));
  EXPECT_THAT(error("{'fortran_order': False, 'shape': (2, 2), }"), HasSubstr("descr"));
  EXPECT_THAT(image_content_error("b.npy", "not at all"), HasSubstr("no NumPy array"));
  EXPECT_THAT(image_content_error("c.npy", std::string("\x93NUMPY\2\0\0\0\x0f\0", 12)),
              HasSubstr("too short for what it announces"));
}

// ---- FreeSurfer volumes, byte by byte

std::string mgh_header(bool placed) {
  const Encoding e = Encoding::big_endian;
  std::string h(284, '\0');
  put_all<std::int32_t>(h, 0, {1, 2, 3, 1, 2, 4}, e);  // version, sizes, frames, int16
  if (!placed) return h;
  put<std::int16_t>(h, 28, 1, e);
  put_all<float>(h, 30, {2, 3, 4, 0, 1, 0, 0, 0, 1, 1, 0, 0, 10, 20, 30}, e);
  return h;
}

TEST(Mgh, GivesThePlaceOfTheMiddle) {
  const std::string values = counted_bytes<std::int16_t>(12, Encoding::big_endian, -6);
  const Image image = read_image_content("a.mgh", mgh_header(true) + values + "tags");
  EXPECT_THAT(image.grid.shape, ElementsAre(2, 3, 1));
  expect_near(image.grid.axes[0], {0, 2, 0});
  expect_near(image.grid.axes[1], {0, 0, 3});
  expect_near(image.grid.axes[2], {4, 0, 0});
  // Index (1, 1.5, 0.5) is at (10, 20, 30).
  expect_near(image.grid.origin, {10 - 2, 20 - 2, 30 - 4.5});
  EXPECT_EQ(image.data.all()[0].components, 2);
  EXPECT_EQ(image.data.all()[0].at(5, 0), -1);
  EXPECT_EQ(image.data.all()[0].at(5, 1), 5);
  const Image unplaced = read_image_content("b.mgh", mgh_header(false) + values);
  EXPECT_THAT(unplaced.warnings, ElementsAre(HasSubstr("affine is missing")));
  expect_near(unplaced.grid.axes[1], {0, 0, -1});
}

TEST(Mgh, DamageIsRefused) {
  EXPECT_THAT(image_content_error("a.mgh", std::string(300, '\0')), HasSubstr("no MGH file"));
  std::string h = mgh_header(true);
  put<std::int32_t>(h, 20, 77, Encoding::big_endian);
  EXPECT_THAT(image_content_error("a.mgh", h + std::string(24, '\0')), HasSubstr("type 77"));
  EXPECT_THAT(image_content_error("a.mgh", mgh_header(true) + "short"), HasSubstr("too short"));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
