// Images and tables: rare fields of headers, and what is wrong with files that are damaged in one place.
#include <limits>

#include "io/image_samples.h"
#include "isochron/communicator.h"
#include "isochron/io/image/formats.h"
#include "isochron/io/image/values.h"
#include "isochron/io/pieces/image_pieces.h"
#include "isochron/io/tables.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double inf = std::numeric_limits<double>::infinity();

// ---- NIfTI

constexpr Encoding little = Encoding::little_endian;

/// A header of version 1 for an image of uint8, without any orientation.
std::string nifti(const std::vector<std::int16_t>& sizes, std::int16_t datatype = 2) {
  std::string h(352, '\0');
  put<std::int32_t>(h, 0, 348, little);
  put<std::int16_t>(h, 40, static_cast<std::int16_t>(sizes.size()), little);
  put_all<std::int16_t>(h, 42, sizes, little);
  put<std::int16_t>(h, 70, datatype, little);
  put<float>(h, 108, 352, little);
  h.replace(344, 3, "n+1");
  return h;
}
template <class T>
std::string with(std::string header, std::size_t at, T value) {
  put(header, at, value, little);
  return header;
}
Image nifti_image(const std::string& bytes) { return read_image_content("a.nii", bytes); }

TEST(NiftiRare, PlacesOfTheValues) {
  const std::string header = nifti({2, 2, 1});
  expect_image_refused(
      "a.nii",
      {{with<float>(header, 108, 1e16F) + "abcd", "values at a place that cannot be (offset 1.0000000272564224e+16)"},
       {with<float>(header, 108, 100) + "abcd", "values at a place that cannot be (offset 100)"},
       {with<std::int16_t>(header, 40, 0) + "abcd", "dimensions that NIfTI does not have (0)"},
       {with<std::int16_t>(header, 40, 8) + "abcd", "dimensions that NIfTI does not have (8)"},
       {"\x5c\x01", "its first number is no header size"}});
  EXPECT_THAT(values_of(nifti_image(with<float>(header, 108, 0) + "abcd").data.all()[0]),
              ElementsAre('a', 'b', 'c', 'd'));
  const TemporaryFolder folder;
  std::string pair = header.substr(0, 348);
  pair.replace(344, 3, "ni1");
  folder.put("a.img", "xxabcd");
  EXPECT_EQ(read_image(folder.file("a.hdr", with<float>(pair, 108, 2))).data.all()[0].at(0), 'a');
  EXPECT_EQ(read_image(folder.file("a.hdr", with<float>(pair, 108, 0))).data.all()[0].at(0), 'x');
}

TEST(NiftiRare, VoxelsWithoutASizeAreOfOne) {
  const ImageGrid grid = nifti_image(nifti({2, 2, 1}) + "abcd").grid;
  for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(norm(grid.axes[d]), 1);
}

TEST(NiftiRare, ColoursKeepTheirSamplesTogether) {
  const Image rgba = nifti_image(nifti({2, 1, 1}, 2304) + "abcdefgh");
  EXPECT_EQ(rgba.data.all()[0].components, 4);
  EXPECT_THAT(values_of(rgba.data.all()[0]), ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
  EXPECT_EQ(values_of(nifti_image(with<float>(nifti({1, 1, 1}, 2304), 112, 2) + "abcd").data.all()[0])[0], 'a')
      << "colours are not scaled";
}

TEST(NiftiRare, OnlySensibleNumbersScale) {
  const auto value = [](float slope, float intercept) {
    const std::string header = with(with(nifti({2, 1, 1}), 112, slope), 116, intercept);
    return nifti_image(header + std::string("\x03\x04")).data.all()[0].at(0);
  };
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(value(2, 0), 6);
  EXPECT_EQ(value(1, 5), 8);
  EXPECT_EQ(value(1, 0), 3);
  EXPECT_EQ(value(0, 5), 3);
  EXPECT_EQ(value(nan, 5), 3);
  EXPECT_EQ(value(2, static_cast<float>(inf)), 3);
}

TEST(NiftiRare, TensorsHaveSixOrNineNumbers) {
  const auto order = [](std::int16_t components, std::int16_t intent, const std::string& name) {
    std::string header = with<std::int16_t>(nifti({1, 1, 1, 1, components}), 68, intent);
    header.replace(328, name.size(), name);
    return nifti_image(header + std::string(static_cast<std::size_t>(components), 'x')).tensor_order;
  };
  EXPECT_EQ(order(6, 1005, ""), TensorOrder::lower);
  EXPECT_EQ(order(5, 1005, ""), std::nullopt);
  EXPECT_EQ(order(9, 1004, ""), TensorOrder::row);
  EXPECT_EQ(order(6, 1004, ""), std::nullopt);
  EXPECT_EQ(order(6, 0, std::string(mrtrix_tensor_name)), TensorOrder::mrtrix);
  EXPECT_EQ(order(5, 0, std::string(mrtrix_tensor_name)), std::nullopt);
}

TEST(NiftiRare, LongNamesAreNotKept) {
  const TemporaryFolder folder;
  for (const auto& [name, back] : {std::pair{"fifteen letters", "fifteen letters"},
                                   std::pair{"sixteen letters!", "values"}, std::pair{"values", "values"}}) {
    write_image(folder.path() / "a.nii", counted_image<float>(1, name), Overwrite::yes);
    EXPECT_EQ(read_image(folder.path() / "a.nii").data.all()[0].name, back);
  }
}

TEST(NiftiRare, PlacesThatSingleNumbersDoNotHold) {
  const TemporaryFolder folder;
  const auto message = [&](const std::function<void(ImageGrid&)>& change) {
    Image image = counted_image<float>(1);
    change(image.grid);
    EXPECT_THAT([&] { write_image(folder.path() / "a.nii", image, Overwrite::yes); },
                ThrowsMessage<UsageError>(HasSubstr("NIfTI files keep the place of voxels in single precision")));
  };
  message([](ImageGrid& grid) { grid.origin.x = 1e39; });
  message([](ImageGrid& grid) { grid.axes[0] = 1.5e38 * grid.axes[0]; });
  message([](ImageGrid& grid) { grid.axes[1] = 1e-39 * grid.axes[1]; });
}

// ---- NRRD

std::string nrrd(const std::string& fields, const std::string& sizes, const std::string& values,
                 const std::string& type = "float") {
  const auto axes = 1 + std::count(sizes.begin(), sizes.end(), ' ');
  return "NRRD0004\ntype: " + type + "\ndimension: " + std::to_string(axes) + "\nsizes: " + sizes +
         "\nencoding: ascii\n" + fields + "\n" + values;
}
Image nrrd_image(const std::string& fields, const std::string& sizes, const std::string& values,
                 const std::string& type = "float") {
  return read_image_content("a.nrrd", nrrd(fields, sizes, values, type));
}

TEST(NrrdRare, SaysWhichFieldIsWrong) {
  const auto field = [](const std::string& text) { return nrrd(text + "\n", "2 2 2", "1 2 3 4 5 6 7 8"); };
  const std::string raw = "NRRD0004\ntype: short\ndimension: 2\nsizes: 2 2\n";
  expect_image_refused(
      "a.nrrd",
      {{zipped("", Packed::gzip), "its magic word is missing"},
       {"NRRD0004\ndimension: 0\n", "the field 'dimension' makes no sense ('0')"},
       {nrrd("", "2 1e16", ""), "the field 'sizes' makes no sense"},
       {nrrd("", "2 -1", ""), "the field 'sizes' makes no sense"},
       {nrrd("", "2 nan", ""), "the field 'sizes' makes no sense"},
       {raw + "encoding: raw\n\nabcdefgh", "the header has no field 'endian'"},
       {raw + "encoding: raw\nendian: middle\n\nabcdefgh", "the field 'endian' makes no sense ('middle')"},
       {raw + "encoding: bzip2\n\n", "an encoding that is not read ('bzip2')"},
       {raw + "encoding: raw\nendian: little\nbyte skip: -1\n\nabcdefgh", "cannot be counted from the file's end"},
       {raw + "encoding: gzip\nendian: little\nbyte skip: 99999999\n\n" + zipped("abcdefgh", Packed::gzip),
        "it is shorter than its header says"},
       {"NRRD0004\ntype: short\ndimension: 2\nsizes: 9000 9000\nencoding: gzip\nendian: little\n\n" +
            zipped("abcdefgh", Packed::gzip),
        "it is shorter than its header says"},
       {field("space directions: (1,0,0) (0,1,0)"), "the field 'space directions' makes no sense"},
       {field("space directions: 1,0,0"), "the field 'space directions' makes no sense"},
       {field("space directions: (1,0,0,0) (0,1,0) (0,0,1)"), "the field 'space directions' makes no sense"},
       {field("measurement frame: (1,0,0) (0,1,0) (0,0,1) (1,0,0)"), "the field 'measurement frame' makes no sense"},
       {field("measurement frame: (2,0,0) (0,1,0) (0,0,1)"), "the field 'measurement frame' makes no sense"},
       {field("spacings: 1 1"), "the field 'spacings' makes no sense"},
       {field("space directions: none none none"), "0 axes in space (an image has 1 to 3)"},
       {nrrd("space directions: (1,0,0) (2,0,0)\n", "2 2", "1 2 3 4"), "the image"}});
}

TEST(NrrdRare, ValuesCountedFromTheEndOfAFile) {
  const TemporaryFolder folder;
  const std::string header = "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nbyte skip: -1\ndata file: ";
  folder.put("a.raw", "xxxxabcd");
  folder.put("a.gz", zipped(std::string(200, 'x') + "abcd", Packed::gzip));
  folder.put("a.txt", "9 9 1 2 3 4");
  const auto error = [&](const std::string& fields) {
    return input_error(folder.path() / "a.gz", [&] { return read_image(folder.file("a.nhdr", header + fields)); });
  };
  EXPECT_THAT(values_of(read_image(folder.file("a.nhdr", header + "a.raw\nencoding: raw\n")).data.all()[0]),
              ElementsAre('a', 'b', 'c', 'd'));
  EXPECT_THAT(error("a.gz\nencoding: gzip\n"), HasSubstr("the values cannot be counted from the file's end"));
  EXPECT_THAT(input_error(folder.path() / "a.txt",
                          [&] { return read_image(folder.file("a.nhdr", header + "a.txt\nencoding: text\n")); }),
              HasSubstr("the values cannot be counted from the file's end"));
  folder.put("a.raw", "abc");
  EXPECT_THAT(input_error(folder.path() / "a.raw",
                          [&] { return read_image(folder.file("a.nhdr", header + "a.raw\nencoding: raw\n")); }),
              HasSubstr("the values cannot be counted from the file's end"));
  folder.put("a.raw", "abcde");
  EXPECT_THAT(
      input_error(folder.path() / "a.raw",
                  [&] {
                    return read_image(folder.file("a.nhdr",
                                                  "NRRD0004\ntype: double\ndimension: 2\nsizes: 2 2\nbyte skip: -1\n"
                                                  "endian: little\ndata file: a.raw\nencoding: raw\n"));
                  }),
      HasSubstr("the file is too short"));
}

TEST(NrrdRare, UnitsOfSpace) {
  const auto spacing = [](const std::string& units) {
    return norm(nrrd_image("space: ras\nspace units: " + units + "\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n",
                           "2 2 2", "1 2 3 4 5 6 7 8")
                    .grid.axes[0]);
  };
  EXPECT_DOUBLE_EQ(spacing("\"m\" \"m\" \"m\""), 1000);
  EXPECT_DOUBLE_EQ(spacing("\"cm\" \"cm\" \"cm\""), 10);
  EXPECT_DOUBLE_EQ(spacing("\"um\" \"um\" \"um\""), 1e-3);
  EXPECT_DOUBLE_EQ(spacing("\"mm\" \"mm\" \"mm\""), 1);
}

TEST(NrrdRare, AxesInSpaceByTheirKind) {
  const std::string eight = "1 2 3 4 5 6 7 8";
  const Image by_kind = nrrd_image("kinds: list space space\n", "2 2 2", eight);
  EXPECT_EQ(by_kind.data.all()[0].components, 2);
  for (const char* nothing : {"??? ??? ???", "none none none", "??? none ???"})
    EXPECT_EQ(nrrd_image(std::string("kinds: ") + nothing + "\n", "2 2 2", eight).data.all()[0].components, 1);
  EXPECT_THAT(nrrd_image("kinds: ??? ??? none ???\n", "1 2 2 2", eight).warnings,
              Contains(HasSubstr("does not say which axes are in space")));
  // An axis of length 1 that has no direction is in space where its kind says so.
  const Image flat =
      nrrd_image("kinds: space space space\nspace directions: (1,0,0) (0,1,0) (0,0,0)\n", "2 4 1", eight);
  EXPECT_THAT(flat.grid.shape, ElementsAre(2, 4, 1));
  EXPECT_EQ(flat.data.all()[0].components, 1);
  const Image list = nrrd_image("kinds: list space space\nspace directions: (0,0,0) (1,0,0) (0,1,0)\n", "2 2 2", eight);
  EXPECT_EQ(list.data.all()[0].components, 2);
  EXPECT_EQ(nrrd_image("space directions: (0,0,0) (1,0,0) (0,1,0)\n", "2 2 2", eight).data.all()[0].components, 2);
}

TEST(NrrdRare, SpacingsAndPlacesThatAreMissing) {
  const Image image =
      nrrd_image("kinds: space space space\nspacings: nan 0 2\naxis mins: nan 5 6\n", "2 2 2", "1 2 3 4 5 6 7 8");
  expect_near(image.grid.axes[0], {1, 0, 0});
  expect_near(image.grid.axes[1], {0, 1, 0});
  expect_near(image.grid.axes[2], {0, 0, 2});
  expect_near(image.grid.origin, {0, 5, 6});
  expect_near(nrrd_image("space directions: (0,1,0)\n", "4", "1 2 3 4").grid.axes[1], {1, 0, 0});
  expect_near(nrrd_image("space directions: (1,0,0)\n", "4", "1 2 3 4").grid.axes[1], {0, 1, 0});
}

TEST(NrrdRare, VectorsAndTensorsAreTurned) {
  const std::string turn = "space: lps\nspace directions: none (1,0,0)\n";
  for (const char* kind : {"vector", "covariant-vector", "3-vector", "3-gradient", "3-normal"})
    EXPECT_THAT(values_of(nrrd_image(turn + "kinds: " + kind + " space\n", "3 1", "1 2 3", "int").data.all()[0]),
                ElementsAre(-1, -2, 3))
        << kind;
  EXPECT_THAT(values_of(nrrd_image(turn + "kinds: list space\n", "3 1", "1 2 3").data.all()[0]), ElementsAre(1, 2, 3));
  EXPECT_THAT(values_of(nrrd_image(turn + "kinds: vector space\n", "2 1", "1 2").data.all()[0]), ElementsAre(1, 2));
  EXPECT_THAT(
      values_of(
          nrrd_image(turn + "measurement frame: none none none\nkinds: vector space\n", "3 1", "1 2 3").data.all()[0]),
      ElementsAre(-1, -2, 3));
  struct Tensor {
    const char* kind;
    int parts;
    bool tensor;
    std::size_t arrays;
  };
  for (const Tensor& t : {Tensor{"3D-symmetric-matrix", 6, true, 1}, Tensor{"3D-symmetric-matrix", 5, false, 1},
                          Tensor{"2D-symmetric-matrix", 6, false, 1}, Tensor{"3D-matrix", 9, true, 1},
                          Tensor{"3D-matrix", 8, false, 1}, Tensor{"3D-masked-symmetric-matrix", 7, true, 2},
                          Tensor{"3D-masked-matrix", 10, true, 2}, Tensor{"3D-masked-matrix", 9, false, 1}}) {
    std::string values;
    for (int i = 0; i < t.parts; ++i) values += std::to_string(i) + " ";
    for (const char* content : {"", "content: confidence\n", "content: a\n"}) {
      const Image image =
          nrrd_image(turn + content + "kinds: " + t.kind + " space\n", std::to_string(t.parts) + " 1", values);
      EXPECT_EQ(image.tensor_order.has_value(), t.tensor) << t.kind;
      EXPECT_EQ(image.data.all().size(), t.arrays) << t.kind << content;
    }
  }
  EXPECT_EQ(nrrd_image("kinds: vector vector space\n", "3 1 1", "1 2 3").data.all()[0].components, 3) << "of two axes";
}

// ---- NumPy, raw and text

std::string npy(const std::string& dictionary, char version = 1) {
  return "\x93NUMPY" + std::string{version, '\0'} +
         (version == 1 ? bytes_of(static_cast<std::uint16_t>(dictionary.size()), little)
                       : bytes_of(static_cast<std::uint32_t>(dictionary.size()), little)) +
         dictionary + "abcdefgh";
}

TEST(NpyRare, SaysWhatIsWrong) {
  expect_image_refused("a.npy",
                       {{npy("{'descr'"), "the NumPy header has no 'descr'"},
                        {npy("{'descr':"), "numbers of a kind that is not read (NumPy type '')"},
                        {npy("{'descr': '<f"), "numbers of a kind that is not read"},
                        {npy("{'descr': '<f8', 'shape':"), "the NumPy header has no shape"},
                        {npy("{'descr': '<f8', 'shape': 3"), "the NumPy header has no shape"},
                        {npy("{'descr': '<f8', 'shape': (3"), "the NumPy header has no shape"},
                        {npy("{", 0), "a NumPy header that is not known (version 0, 1 bytes)"},
                        {npy("{", 4), "a NumPy header that is not known (version 4, 1 bytes)"},
                        {"\x93NUMPY" + std::string("\x02\0\xff\xff\xff\x7f", 6), "not known (version 2, 2147483647"}});
  EXPECT_THAT(
      values_of(
          read_image_content("a.npy", npy("{'descr': '|u1', 'fortran_order': True, 'shape': (4, 2)}")).data.all()[0]),
      ElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
}

TEST(RawRare, TypesAndPlaces) {
  EXPECT_EQ(parse_raw_type("uint8").second, native_encoding);
  EXPECT_EQ(parse_raw_type("int16le").second, Encoding::little_endian);
  EXPECT_THAT([] { parse_raw_type("intle"); },
              ThrowsMessage<UsageError>(HasSubstr("unknown type 'intle'; use one of")));
  ImageGrid grid;
  grid.shape = {2, 2, 2};
  place_image(grid, {.spacing = {2}, .origin = {}});
  expect_near(grid.axes[2], {0, 0, 2});
  place_image(grid, {.spacing = {}, .origin = {1, 2, 3}});
  expect_near(grid.axes[2], {0, 0, 1});
  expect_near(grid.origin, {1, 2, 3});
  EXPECT_THAT(
      [&] {
        place_image(grid, {.spacing = {1, 2}, .origin = {}});
      },
      ThrowsMessage<UsageError>(HasSubstr("one for each of 3 axes")));
  EXPECT_THAT(
      [&] {
        place_image(grid, {.spacing = {}, .origin = {1, 2}});
      },
      ThrowsMessage<UsageError>(HasSubstr("a number for each of 3 axes")));
  grid.shape = {2, 2, 1};
  place_image(grid, {.spacing = {1, 2, 3}, .origin = {4, 5, 6}});
  expect_near(grid.axes[2], {0, 0, 3});
  EXPECT_THAT(
      [&] {
        place_image(grid, {.spacing = {1, 0}, .origin = {}});
      },
      ThrowsMessage<UsageError>(HasSubstr("one for each of 2 axes")));
}

TEST(RawRare, ImagesBesideOthersLieWhereTheyDo) {
  const TemporaryFolder folder;
  const Image image = counted_image<float>(1);
  write_image(folder.path() / "a.npy", image, Overwrite::no);
  write_image(folder.path() / "a.nrrd", image, Overwrite::no);
  ImageGrid other = image.grid;
  other.origin = {1, 2, 3};
  expect_near(read_image_beside(folder.path() / "a.npy", other).grid.origin, {1, 2, 3});
  expect_near(read_image_beside(folder.path() / "a.npy", other).grid.axes[0], other.axes[0]);
  expect_near(read_image_beside(folder.path() / "a.nrrd", other).grid.origin, image.grid.origin);
}

TEST(TextImageRare, NeedsTwoColumns) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("a.txt", "1\n2\n3\n");
  EXPECT_THAT(input_error(path, [&] { return read_text_image(path); }), HasSubstr("is no image (rows: 3)"));
}

// ---- Tensors and scales in general

TEST(ImageValuesRare, NamesScalesAndTensors) {
  EXPECT_EQ(array_name("speed  "), "speed");
  EXPECT_EQ(array_name("   "), "values");
  EXPECT_EQ(array_name("a\tb"), "values");
  using Doubles = std::vector<double>;
  using Floats = std::vector<float>;
  const DataArray::Values one = std::vector<std::int32_t>{3};
  EXPECT_TRUE(std::holds_alternative<Doubles>(scaled(one, ScalarType::int32, 2, 1)));
  EXPECT_TRUE(std::holds_alternative<Doubles>(scaled(one, ScalarType::float64, 2, 1)));
  EXPECT_EQ(std::get<Floats>(scaled(one, ScalarType::int16, 2, 1)), Floats{7});
  EXPECT_EQ(std::get<Floats>(scaled(one, ScalarType::float32, 2, 1)), Floats{7});
  Image image = counted_image<float>(3);
  EXPECT_FALSE(holds_tensor(image));
  image.tensor_order = TensorOrder::row;
  EXPECT_FALSE(holds_tensor(image)) << "three components";
  image.data = {};
  EXPECT_FALSE(holds_tensor(image)) << "no array";
}

// ---- VTK images

std::string vti(const std::string& pieces, const std::string& extent = "0 1 0 1 0 0") {
  return "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"" + extent + "\">" + pieces + "</ImageData></VTKFile>";
}
std::string piece(const std::string& extent, const std::string& inside) {
  return "<Piece Extent=\"" + extent + "\">" + inside + "</Piece>";
}
std::string point_data(const std::string& type, const std::string& values, const std::string& components = "1") {
  return "<PointData><DataArray type=\"" + type + "\" Name=\"a\" NumberOfComponents=\"" + components + "\">" + values +
         "</DataArray></PointData>";
}

TEST(VtiRare, SaysWhatDoesNotFit) {
  const std::string left = piece("0 1 0 1 0 0", point_data("Float32", "1 2 3 4"));
  expect_image_refused(
      "a.vti",
      {{vti(left, "0 2000000000 0 1 0 0"), "WholeExtent has 2000000000 in it, which is no index"},
       {vti(left, "0 1 0 1 0 0 0"), "WholeExtent of an element ImageData has not 6 numbers"},
       {vti(piece("0 -1 0 1 0 0", point_data("Float32", "")), "0 -1 0 1 0 0"), "there is nothing in the image"},
       {vti(piece("0 -1 0 1 0 0", point_data("Float32", ""))), "the pieces do not cover the image (voxels in none: 4)"},
       {vti(left + piece("2 3 0 1 0 0", ""), "0 3 0 1 0 0"), "array 'a' is missing, which other pieces have"},
       {vti(left + piece("2 3 0 1 0 0", point_data("Float32", "1 2 3 4 5 6 7 8", "2")), "0 3 0 1 0 0"),
        "array 'a' is of another kind than in other pieces"}});
  const Image nothing = read_image_content("a.vti", vti(piece("0 1 0 1 0 0", "")));
  EXPECT_EQ(nothing.grid.voxel_count(), 4U);
  EXPECT_TRUE(nothing.data.empty());
}

/// Reads a set of two pieces of 2 × 2 points by some processes; the list is like VTK's own.
template <class Use>
void with_image_set(const std::string& first, const std::string& second, Use&& use) {
  const TemporaryFolder folder;
  folder.put("0.vti", vti(first, "0 2 0 1 0 0"));
  folder.put("1.vti", vti(second, "0 2 0 1 0 0"));
  use(folder.file("a.pvti",
                  "<VTKFile type=\"PImageData\"><PImageData WholeExtent=\"0 2 0 1 0 0\">"
                  "<Piece Extent=\"0 1 0 1 0 0\" Source=\"0.vti\"/>"
                  "<Piece Extent=\"1 2 0 1 0 0\" Source=\"1.vti\"/></PImageData></VTKFile>"));
}
std::string set_error(const std::string& first, const std::string& second, std::size_t ranks = 1) {
  std::string message;
  with_image_set(first, second, [&](const fs::path& set) {
    run_on_threads(ranks, [&](Communicator& communicator) {
      const std::string own = input_error(set, [&] { return read_image_part(communicator, set); });
      if (communicator.index() == 0) message = own;
    });
  });
  return message;
}

TEST(ImagePiecesRare, SayWhatIsWrong) {
  const std::string good = piece("0 1 0 1 0 0", point_data("Float32", "1 2 3 4"));
  const std::string cells =
      piece("1 2 0 1 0 0", "<CellData><DataArray type=\"Float32\" Name=\"a\">5</DataArray></CellData>");
  EXPECT_THAT(set_error("", ""), HasSubstr("there is no piece of an image in it"));
  EXPECT_THAT(set_error(good, piece("1 2 0 1 0 0", point_data("Float32", "1 2 3 4 5 6 7 8", "2"))),
              HasSubstr("array 'a' is of another kind than in other pieces"));
  EXPECT_THAT(set_error(good, cells), HasSubstr("array 'a' is missing, which is in other pieces"));
}

TEST(ImagePiecesRare, EmptyPiecesAndImagesWithoutArrays) {
  const auto read = [](const std::string& first, const std::string& second, std::size_t ranks) {
    ImagePart part;
    with_image_set(first, second, [&](const fs::path& set) {
      run_on_threads(ranks, [&](Communicator& communicator) {
        ImagePart own = read_image_part(communicator, set);
        if (communicator.index() == 0) part = std::move(own);
      });
    });
    return part;
  };
  const std::string all = piece("0 2 0 1 0 0", point_data("Float32", "1 2 3 4 5 6"));
  EXPECT_THAT(values_of(read(all, piece("0 -1 0 -1 0 -1", ""), 1).image.data.all()[0]), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(read(all, "", 2).whole.voxel_count(), 6U) << "a process without a piece";
  const ImagePart nothing = read(piece("0 1 0 1 0 0", ""), piece("1 2 0 1 0 0", ""), 1);
  EXPECT_TRUE(nothing.image.data.empty());
  EXPECT_EQ(nothing.whole.voxel_count(), 6U);
}

TEST(ImagePiecesRare, MoreProcessesThanVoxelsWriteASet) {
  const TemporaryFolder folder;
  const fs::path set = folder.path() / "a.pvti";
  run_on_threads(3, [&](Communicator& communicator) {
    ImagePart part;
    part.whole.shape = {2, 1, 1};
    part.boxes = partition_boxes(part.whole, communicator.ranks());
    const IndexBox& box = part.boxes[communicator.index()];
    part.image.grid = grid_of_box(part.whole, box);
    part.image.data.set({"a", 1, std::vector<float>(box.count(), static_cast<float>(box.low[0]))});
    write_image_part(communicator, set, std::move(part), Overwrite::no);
  });
  EXPECT_THAT(values_of(read_image(set).data.all()[0]), ElementsAre(0, 1));
}

// ---- Tables

TEST(TablesRare, LabelsAndPoints) {
  const TemporaryFolder folder;
  const auto labels = [&](const std::string& content) {
    std::vector<std::string> rows;
    for (const LabelName& row : read_label_table(folder.file("labels.txt", content)))
      rows.push_back(std::to_string(row.label) + "=" + row.name);
    return rows;
  };
  EXPECT_THAT(labels("who;what\n3 a\n4 b\n"), ElementsAre("3=a", "4=b")) << "headings that say nothing";
  EXPECT_THAT(labels("what where name\n3 x\n"), ElementsAre("3=3")) << "a row without the column of names";
  EXPECT_THAT(labels("1\tbrain stem\n"), ElementsAre("1=brain"));
  EXPECT_THAT(labels("1 'a\"\n2 aba\n3 'c'\n"), ElementsAre("1='a\"", "2=aba", "3=c"));
  const fs::path short_row = folder.file("labels.txt", "name,id\nfront,1\nback\n");
  EXPECT_THAT(input_error(short_row, [&] { return read_label_table(short_row); }),
              HasSubstr("line 3: no label in 'back'"));

  const auto points = [&](const std::string& content) { return read_points(folder.file("points.txt", content)); };
  EXPECT_THAT(points("X,Y,Z,id\n1,2,3,7\n").names, ElementsAre("7"));
  EXPECT_THAT(points("id,x,y,z\n7,1,2,3\n").names, ElementsAre("7"));
  for (const char* wrong : {"1\n", "1 2 3\n1 2\n", "1 2 3 4 5\n", "a 1 2 b\n", "head line\nmore heads\n"}) {
    const fs::path path = folder.file("points.txt", wrong);
    EXPECT_THAT(input_error(path, [&] { return read_points(path); }), HasSubstr("values are numbers (a row is: x y z"))
        << wrong;
  }
}

TEST(TablesRare, SourcesAndGradients) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_vtx(folder.file("a.vtx", "0")).size(), 0U);
  EXPECT_EQ(read_vtx(folder.file("a.vtx", "1\nextra\n5\n"))[0], VertexId(5));
  const fs::path empty = folder.file("a.txt", "# nothing\n");
  EXPECT_THAT(input_error(empty, [&] { return read_source_file(empty); }), HasSubstr("no sources"));
  folder.put("a.bvec", "1\n0\n0\n");
  for (const char* wrong : {"-1", "inf", "nan"}) {
    const fs::path path = folder.file("a.bval", wrong);
    EXPECT_THAT(input_error(path, [&] { return read_gradients(path, folder.path() / "a.bvec"); }),
                HasSubstr("is no b-value (they are finite and not negative)"));
  }
  EXPECT_THAT(npy_header("f8", NpyOrder::rows_first, std::array<std::size_t, 1>{5}), HasSubstr("'shape': (5,), }"));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
