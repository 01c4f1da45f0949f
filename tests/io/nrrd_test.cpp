// NRRD files as others write them.
#include <sys/stat.h>

#include "io/image_samples.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Image read_bytes(const std::string& bytes) { return read_image_content("a.nrrd", bytes); }

const std::string volume =
    "NRRD0004\n# a comment\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: 2 3 4\n"
    "space directions: (2,0,0) (0,3,0) (0,0,4)\nkinds: domain domain domain\nspace origin: (10,20,30)\nkey:=a value\n";

TEST(Nrrd, LpsBecomesRas) {
  for (const auto& [space, x, y] : {std::tuple{"left-posterior-superior", -1.0, -1.0}, std::tuple{"LPS", -1.0, -1.0},
                                    std::tuple{"left-anterior-superior", -1.0, 1.0}, std::tuple{"LAS", -1.0, 1.0},
                                    std::tuple{"right-anterior-superior", 1.0, 1.0}, std::tuple{"ras", 1.0, 1.0}}) {
    std::string header = volume;
    header.replace(header.find("left-posterior-superior"), 23, space);
    const Image image = read_bytes(header + "encoding: raw\nendian: little\n\n" +
                                   counted_bytes<std::int16_t>(24, Encoding::little_endian));
    EXPECT_THAT(image.grid.shape, ElementsAre(2, 3, 4));
    expect_near(image.grid.origin, {10 * x, 20 * y, 30});
    expect_near(image.grid.axes[0], {2 * x, 0, 0});
    expect_near(image.grid.axes[1], {0, 3 * y, 0});
    expect_near(image.grid.axes[2], {0, 0, 4});
    EXPECT_EQ(image.data.all()[0].at(23), 23);
    EXPECT_TRUE(image.warnings.empty());
  }
}

TEST(Nrrd, EveryEncodingGivesTheSameValues) {
  std::string text;
  for (int i = 0; i < 24; ++i) text += fmt::format("{}{}", i, i % 5 == 0 ? "\n" : " ");
  const std::string little = counted_bytes<std::int16_t>(24, Encoding::little_endian);
  const std::string big = counted_bytes<std::int16_t>(24, Encoding::big_endian);
  const std::array<std::string, 6> files{
      "encoding: raw\nendian: little\n\n" + little,
      "encoding: raw\nendian: big\n\n" + big,
      "encoding: gzip\nendian: little\n\n" + zipped(little, Packed::gzip),
      "encoding: gz\nendian: big\n\n" + zipped(big, Packed::gzip),
      "encoding: ascii\n\n" + text,
      "encoding: raw\nendian: big\nline skip: 1\nbyte skip: 2\n\nsome text\nxx" + big};
  for (const std::string& file : files) {
    const Image image = read_bytes(volume + file);
    for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(image.data.all()[0].at(i), static_cast<double>(i)) << file;
  }
}

TEST(Nrrd, ValuesInAnotherFile) {
  const TemporaryFolder folder;
  const std::string big = counted_bytes<std::int16_t>(24, Encoding::big_endian);
  const auto value = [&](const std::string& fields) {
    return read_image(folder.file("a.nhdr", volume + "endian: big\n" + fields)).data.all()[0].at(23);
  };
  folder.put("a.raw", big);
  folder.put("b.raw", "a header of any length" + big);
  folder.put("c.raw.gz", zipped(big, Packed::gzip));
  EXPECT_EQ(value("encoding: raw\ndata file: a.raw\n"), 23);
  EXPECT_EQ(value("encoding: raw\nbyte skip: -1\ndatafile: b.raw"), 23);
  EXPECT_EQ(value("encoding: gzip\ndata file: c.raw.gz\n"), 23);
  EXPECT_THROW(value("encoding: raw\ndata file: d.raw\n"), InputError);
  EXPECT_THROW(value("encoding: raw\ndata file: LIST\na.raw\n"), InputError);
  ASSERT_EQ(::mkfifo((folder.path() / "pipe.raw").c_str(), 0600), 0);  // opened, it would wait for a writer
  const fs::path header = folder.path() / "a.nhdr";
  EXPECT_THAT(input_error(header, [&] { value("encoding: raw\ndata file: pipe.raw\n"); }),
              HasSubstr("a device or a pipe"));
  folder.put("a.raw", big.substr(1));
  EXPECT_THROW(value("encoding: raw\ndata file: a.raw\n"), InputError);
}

TEST(Nrrd, ComponentsMayStandOnAnyAxis) {
  const std::string end =
      "encoding: raw\nendian: little\n\n" + counted_bytes<std::int16_t>(12, Encoding::little_endian);
  const std::string start = "NRRD0005\ntype: int16\ndimension: 3\nspace: RAS\n";
  const Image first = read_bytes(start + "sizes: 2 3 2\nspace directions: none (1,0,0) (0,1,0)\n" + end);
  EXPECT_THAT(first.grid.shape, ElementsAre(3, 2, 1));
  EXPECT_EQ(first.data.all()[0].components, 2);
  EXPECT_EQ(first.data.all()[0].at(1, 1), 3);
  expect_near(first.grid.axes[2], {0, 0, 1});
  const Image last = read_bytes(start + "sizes: 3 2 2\nspace directions: (1,0,0) (0,1,0) none\n" + end);
  EXPECT_EQ(last.data.all()[0].components, 2);
  EXPECT_EQ(last.data.all()[0].at(1, 1), 7);
  const Image by_kind = read_bytes(start + "sizes: 3 2 2\nkinds: domain list domain\nspacings: 2 nan 3\n" + end);
  EXPECT_THAT(by_kind.grid.shape, ElementsAre(3, 2, 1));
  EXPECT_EQ(by_kind.data.all()[0].at(1, 1), 4);
  expect_near(by_kind.grid.axes[1], {0, 3, 0});
  EXPECT_THAT(by_kind.warnings, ElementsAre(HasSubstr("affine is missing")));
}

// ---- tensors

const SymTensor3d sample_tensor{3, 0.5, -0.25, 2, 0.75, 1};

/// A 2 × 1 × 1 image whose two voxels hold the same numbers.
Image tensor_image(const std::string& kind, const std::vector<double>& values, const std::string& more,
                   const std::string& space = "left-posterior-superior",
                   const std::string& component_direction = "none") {
  std::string bytes;
  for (int voxel = 0; voxel < 2; ++voxel) bytes += bytes_of(values, Encoding::big_endian);
  return read_bytes(fmt::format("NRRD0005\ntype: double\ndimension: 4\nspace: {}\nsizes: {} 2 1 1\n"
                                "space directions: {} (1,0,0) (0,1,0) (0,0,1)\nkinds: {} space space space\n{}"
                                "endian: big\nencoding: raw\n\n",
                                space, values.size(), component_direction, kind, more) +
                    bytes);
}

SymTensor3d tensor_at(const Image& image, std::size_t voxel) {
  std::vector<double> values;
  const DataArray& array = image.data.all()[0];
  for (int c = 0; c < array.components; ++c) values.push_back(array.at(voxel, c));
  return tensor_of(values, image.tensor_order.value());
}

void expect_tensor(const SymTensor3d& actual, const SymTensor3d& expected) {
  expect_near({actual.xx, actual.xy, actual.xz}, {expected.xx, expected.xy, expected.xz});
  expect_near({actual.yy, actual.yz, actual.zz}, {expected.yy, expected.yz, expected.zz});
}

TEST(Nrrd, ZeroDirectionOfTensorComponentsMeansNone) {
  const auto& t = sample_tensor;
  const std::string six = "3D-symmetric-matrix", seven = "3D-masked-symmetric-matrix", space = "RAS";
  for (const char* direction : {"(0,0,0)", "(nan,nan,nan)"}) {
    const Image plain = tensor_image(six, {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz}, "", space, direction);
    EXPECT_THAT(plain.grid.shape, ElementsAre(2, 1, 1));
    expect_tensor(tensor_at(plain, 1), t);
    const Image masked = tensor_image(seven, {1, t.xx, t.xy, t.xz, t.yy, t.yz, t.zz}, "", space, direction);
    expect_tensor(tensor_at(masked, 1), t);
  }
}

TEST(Nrrd, TensorsOfSixSevenAndNineComponents) {
  const auto& t = sample_tensor;
  const std::vector<double> six{t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
  const std::vector<double> nine{t.xx, t.xy, t.xz, t.xy, t.yy, t.yz, t.xz, t.yz, t.zz};
  std::vector<double> seven = six;
  seven.insert(seven.begin(), 1);
  const Image of_six = tensor_image("3D-symmetric-matrix", six, "", "RAS");
  const Image of_seven = tensor_image("3D-masked-symmetric-matrix", seven, "", "RAS");
  const Image of_nine = tensor_image("3D-matrix", nine, "", "RAS");
  for (const Image* image : {&of_six, &of_seven, &of_nine}) {
    ASSERT_EQ(image->tensor_order, TensorOrder::row);
    expect_tensor(tensor_at(*image, 1), t);
  }
  EXPECT_EQ(of_six.data.all().size(), 1U);
  EXPECT_EQ(of_seven.data.all()[0].components, 6);
  const DataArray* mask = of_seven.data.find("mask");
  ASSERT_NE(mask, nullptr);
  EXPECT_EQ(std::get<std::vector<std::uint8_t>>(mask->values), (std::vector<std::uint8_t>{1, 1}));
  seven[0] = 0.25;
  EXPECT_EQ(tensor_image("3D-masked-symmetric-matrix", seven, "").data.require("mask", "").at(0), 0);
  EXPECT_FALSE(tensor_image("list", six, "").tensor_order.has_value());
  EXPECT_FALSE(tensor_image("3D-symmetric-matrix", nine, "").tensor_order.has_value()) << "the count does not fit";
}

TEST(Nrrd, TheMeasurementFrameTurnsTensorsIntoTheWorld) {
  const auto& t = sample_tensor;
  const std::vector<double> six{t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
  const std::vector<double> nine{t.xx, t.xy, t.xz, t.xy, t.yy, t.yz, t.xz, t.yz, t.zz};
  // Without a frame the tensor is in the file's space: LPS to RAS turns the signs of what mixes z with x or y.
  expect_tensor(tensor_at(tensor_image("3D-symmetric-matrix", six, ""), 0), {t.xx, t.xy, -t.xz, t.yy, -t.yz, t.zz});
  // Measured x, y, z are y, z, x of the space.
  const std::string cyclic = "measurement frame: (0,1,0) (0,0,1) (1,0,0)\n";
  const SymTensor3d moved{t.zz, t.xz, t.yz, t.xx, t.xy, t.yy};
  expect_tensor(tensor_at(tensor_image("3D-symmetric-matrix", six, cyclic, "RAS"), 0), moved);
  expect_tensor(tensor_at(tensor_image("3D-matrix", nine, cyclic, "RAS"), 1), moved);
  // A rotation about z by an angle a, in LPS: along measured x means along (cos a, sin a, 0), in RAS both negated.
  const double c = std::cos(0.3), s = std::sin(0.3);
  const std::string rotation = fmt::format("measurement frame: ({},{},0) ({},{},0) (0,0,1)\n", c, s, -s, c);
  const Image turned = tensor_image("3D-symmetric-matrix", {5, 0, 0, 1, 0, 2}, rotation);
  expect_tensor(tensor_at(turned, 0), {5 * c * c + s * s, 4 * c * s, 0, 5 * s * s + c * c, 0, 2});
  // What mixes with z changes its sign with the space.
  const Image mixed = tensor_image("3D-symmetric-matrix", {0, 0, 1, 0, 0, 0}, rotation);
  expect_tensor(tensor_at(mixed, 0), {0, 0, -c, 0, -s, 0});
}

TEST(Nrrd, VectorsAreTurnedToo) {
  const DataArray array =
      tensor_image("3-vector", {1, 2, 3}, "measurement frame: (0,1,0) (1,0,0) (0,0,1)\n").data.all()[0];
  EXPECT_EQ(array.at(1, 0), -2);
  EXPECT_EQ(array.at(1, 1), -1);
  EXPECT_EQ(array.at(1, 2), 3);
}

TEST(Nrrd, BadHeadersAreRefused) {
  const std::string values = counted_bytes<std::int16_t>(24, Encoding::little_endian);
  const auto error = [&](const std::string& from, const std::string& to) {
    std::string header = volume + "encoding: raw\nendian: little\n\n";
    header.replace(header.find(from), from.size(), to);
    return image_content_error("a.nrrd", header + values);
  };
  EXPECT_THAT(error("NRRD", "DRRN"), HasSubstr("no NRRD file"));
  EXPECT_THAT(error("type: short\n", ""), HasSubstr("no field 'type'"));
  EXPECT_THAT(error("short", "block"), HasSubstr("'type'"));
  EXPECT_THAT(error("raw", "bzip2"), HasSubstr("encoding"));
  EXPECT_THAT(error("endian: little\n", ""), HasSubstr("endian"));
  EXPECT_THAT(error("2 3 4", "2 3"), HasSubstr("sizes"));
  EXPECT_THAT(error("2 3 4", "2 -3 4"), HasSubstr("sizes"));
  EXPECT_THAT(error("2 3 4", "2 3 400"), HasSubstr("too short"));
  EXPECT_THAT(error("2 3 4", "200000 300000 400000"), HasSubstr("sizes"));
  EXPECT_THAT(error("dimension: 3", "dimension: 99"), HasSubstr("dimension"));
  EXPECT_THAT(error("(0,3,0)", "(2,0,0)"), HasSubstr("affine")) << "singular";
  EXPECT_THAT(error("(0,3,0)", "(0,x,0)"), HasSubstr("space directions"));
  EXPECT_THAT(error("(0,3,0) ", ""), HasSubstr("space directions"));
  EXPECT_THAT(error("kinds: domain ", "kinds: "), HasSubstr("kinds"));
  EXPECT_THAT(error("# a comment", "nonsense"), HasSubstr("nonsense"));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
