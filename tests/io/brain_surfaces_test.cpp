// GIFTI and FreeSurfer surfaces, put together by hand.
#include <fmt/ranges.h>

#include "io/image_samples.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<float> corner_points{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
const std::vector<std::int32_t> two_triangles{0, 1, 2, 0, 2, 3};

/// The text of values in one of GIFTI's encodings.
template <class T>
std::string encoded(const std::vector<T>& values, const std::string& how, Encoding e) {
  if (how == "ASCII") return fmt::format("{} ", fmt::join(values, " "));
  return base64(how == "Base64Binary" ? bytes_of(values, e) : zipped(bytes_of(values, e)));
}

std::string array(const std::string& intent, const std::string& type, std::size_t rows, std::size_t columns,
                  const std::string& how, Encoding e, const std::string& inside, const std::string& data) {
  return fmt::format(
      "<DataArray Intent=\"NIFTI_INTENT_{}\" DataType='NIFTI_TYPE_{}'\n ArrayIndexingOrder=\"RowMajorOrder\" "
      "Dimensionality=\"{}\" Dim0=\"{}\" Dim1=\"{}\" Encoding=\"{}\" Endian=\"{}\">{}<Data>{}</Data></DataArray>\n",
      intent, type, columns > 1 ? 2 : 1, rows, columns, how,
      e == Encoding::little_endian ? "LittleEndian" : "BigEndian", inside, data);
}

std::string surface(const std::string& how, Encoding e, const std::string& inside = "", const std::string& more = "") {
  return "<?xml version=\"1.0\"?><!DOCTYPE GIFTI SYSTEM \"x.dtd\">\n<GIFTI Version=\"1.0\"><!-- <DataArray> -->\n" +
         array("POINTSET", "FLOAT32", 4, 3, how, e, inside, encoded(corner_points, how, e)) +
         array("TRIANGLE", "INT32", 2, 3, how, e, "", encoded(two_triangles, how, e)) + more + "</GIFTI>\n";
}

TEST(Gifti, EveryEncodingGivesTheSameSurface) {
  for (const char* how : {"ASCII", "Base64Binary", "GZipBase64Binary"}) {
    for (const Encoding e : {Encoding::little_endian, Encoding::big_endian}) {
      const Dataset d = read_content("a.surf.gii", surface(how, e));
      EXPECT_THAT(d.points, ElementsAre(Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 2, 0}, Vec3d{0, 0, 3})) << how;
      EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(0, 1, 2), triangle(0, 2, 3))) << how;
      EXPECT_TRUE(d.warnings.empty());
    }
  }
}

TEST(Gifti, OnlyATransformToScannerSpaceIsApplied) {
  const auto first_point = [&](const char* from, const char* to) {
    const std::string transform = fmt::format(
        "<CoordinateSystemTransformMatrix><DataSpace><![CDATA[{}]]></DataSpace><TransformedSpace><![CDATA[{}]]>"
        "</TransformedSpace><MatrixData>0 1 0 10\n1 0 0 20\n0 0 2 30\n0 0 0 1</MatrixData>"
        "</CoordinateSystemTransformMatrix>",
        from, to);
    return read_content("a.gii", surface("ASCII", Encoding::little_endian, transform)).points[2];
  };
  EXPECT_EQ(first_point("NIFTI_XFORM_UNKNOWN", "NIFTI_XFORM_SCANNER_ANAT"), (Vec3d{12, 20, 30}));
  EXPECT_EQ(first_point("NIFTI_XFORM_UNKNOWN", "NIFTI_XFORM_TALAIRACH"), (Vec3d{0, 2, 0}));
  EXPECT_EQ(first_point("NIFTI_XFORM_SCANNER_ANAT", "NIFTI_XFORM_SCANNER_ANAT"), (Vec3d{0, 2, 0}));
}

TEST(Gifti, ArraysOnPointsAreKept) {
  const Encoding e = Encoding::little_endian;
  const std::string name = "<MetaData><MD><Name>Name</Name><Value><![CDATA[curvature]]></Value></MD></MetaData>";
  const std::string more = array("SHAPE", "FLOAT32", 4, 1, "ASCII", e, name, "0.5 1 2 3") +
                           array("LABEL", "INT32", 4, 1, "ASCII", e, "", "7 8 9 10") +
                           array("SHAPE", "FLOAT32", 3, 1, "ASCII", e, "", "1 2 3");
  const Dataset d = read_content("a.gii", surface("ASCII", e, "", more));
  EXPECT_THAT(d.point_data.names(), ElementsAre("curvature", "label"));
  EXPECT_EQ(d.point_data.require("curvature", "").at(0), 0.5);
  EXPECT_EQ(d.point_data.require("label", "").at(3), 10);
  EXPECT_THAT(d.warnings, ElementsAre(HasSubstr("left out")));
}

TEST(Gifti, ColumnsMayComeFirst) {
  std::string text = surface("ASCII", Encoding::little_endian);
  text.replace(text.find("RowMajorOrder"), 13, "ColumnMajorOrder");
  const Dataset d = read_content("a.gii", text);
  EXPECT_THAT(d.points[1], (Vec3d{0, 0, 0}));
  EXPECT_THAT(d.points[3], (Vec3d{1, 2, 3}));
}

TEST(Gifti, BadFilesAreRefused) {
  const auto error = [&](const std::string& how, const std::string& from, const std::string& to) {
    std::string text = surface(how, Encoding::little_endian);
    text.replace(text.find(from), from.size(), to);
    return content_error("a.gii", text);
  };
  EXPECT_THAT(content_error("b.gii", "no XML"), HasSubstr("no GIFTI file"));
  EXPECT_THAT(content_error("b.gii", "<GIFTI></GIFTI>"), HasSubstr("no points"));
  EXPECT_THAT(error("ASCII", "Dim0=\"4\"", "Dim0=\"4000000000\""), HasSubstr("numbers of an array"));
  EXPECT_THAT(error("Base64Binary", "Dim0=\"4\"", "Dim0=\"4000000000\""), HasSubstr("shorter"));
  EXPECT_THAT(error("GZipBase64Binary", "Dim0=\"4\"", "Dim0=\"4000000000\""), HasSubstr("too short"));
  EXPECT_THAT(error("GZipBase64Binary", "Dim0=\"4\"", "Dim0=\"5\""), HasSubstr("too short"));
  EXPECT_THAT(error("ASCII", "Dim0=\"4\"", "Dim0=\"x\""), HasSubstr("size"));
  EXPECT_THAT(error("ASCII", "Dim0=\"4\" Dim1=\"3\"", "Dim0=\"3\" Dim1=\"4\""), HasSubstr("three numbers"));
  EXPECT_THAT(error("ASCII", "NIFTI_TYPE_FLOAT32", "NIFTI_TYPE_COMPLEX"), HasSubstr("type"));
  EXPECT_THAT(error("ASCII", "ASCII", "ExternalFileBinary"), HasSubstr("encoding"));
  EXPECT_THAT(error("ASCII", "0 2 3 ", "0 2 4 "), HasSubstr("vertex 4"));
  EXPECT_THAT(error("ASCII", "0 2 3 ", "0 2 -1 "), HasSubstr("vertex -1"));
}

std::string freesurfer(const std::string& footer = "") {
  const Encoding e = Encoding::big_endian;
  return "\xff\xff\xfe" + std::string("created by somebody\n\n") + bytes_of<std::int32_t>(4, e) +
         bytes_of<std::int32_t>(2, e) + bytes_of(corner_points, e) + bytes_of(two_triangles, e) + footer;
}

TEST(FreeSurfer, IsReadByItsContentWhateverTheName) {
  for (const char* name : {"lh.pial", "rh.white.preaparc", "surface", "lh.pial.T1"}) {
    const Dataset d = read_content(name, freesurfer());
    EXPECT_THAT(d.points, ElementsAre(Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 2, 0}, Vec3d{0, 0, 3}));
    EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(0, 1, 2), triangle(0, 2, 3)));
    EXPECT_TRUE(d.warnings.empty());
  }
}

TEST(FreeSurfer, TheShiftToScannerSpaceIsTold) {
  const std::string footer =
      std::string("\0\0\0\x02", 4) + "valid = 1  # volume info valid\nvolume = 256 256 256\ncras   = 1.5 -2 0\n";
  EXPECT_THAT(read_content("lh.pial", freesurfer(footer)).warnings, ElementsAre(HasSubstr("1.5 -2 0")));
  std::string zero = footer;
  zero.replace(zero.find("1.5 -2"), 6, "0.0 00");
  EXPECT_THAT(read_content("lh.pial", freesurfer(zero)).warnings, ElementsAre());
}

TEST(FreeSurfer, BadFilesAreRefused) {
  std::string bytes = freesurfer();
  EXPECT_THAT(content_error("lh.pial", bytes.substr(0, bytes.size() - 1)), HasSubstr("cut short"));
  bytes.replace(24, 4, bytes_of<std::int32_t>(2000000000, Encoding::big_endian));
  EXPECT_THAT(content_error("lh.pial", bytes), HasSubstr("too short"));
  bytes.replace(24, 4, bytes_of<std::int32_t>(-5, Encoding::big_endian));
  EXPECT_THAT(content_error("lh.pial", bytes), HasSubstr("below zero"));
  bytes = freesurfer();
  bytes[bytes.size() - 1] = 4;
  EXPECT_THAT(content_error("lh.pial", bytes), HasSubstr("vertex 4"));
  EXPECT_THAT(content_error("lh.pial", "\xff\xff\xff quads"), HasSubstr("quads"));
  EXPECT_THAT(content_error("lh.pial", "something"), HasSubstr("magic"));
  EXPECT_THAT(content_error("a.unknown", "something"), HasSubstr("unknown extension"));
}

TEST(BrainSurfaces, AreOnlyRead) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_dataset(folder.path() / "a.gii", surface_mesh(), Overwrite::no), UsageError);
  EXPECT_THROW(check_writable(folder.path() / "lh.pial", Overwrite::no), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
