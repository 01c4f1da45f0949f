#include "isochron/io/tables.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "io/io_test_support.h"
#include "isochron/io/image/formats.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Read>
std::string error_of(Read&& read, const fs::path& path) {
  return input_error(path, [&] { return read(path); });
}

TEST(Vtx, ReadsIds) {
  TemporaryFolder folder;
  EXPECT_THAT(read_vtx(folder.file("a.vtx", "3\nintra\n5\n0\n7\n")),
              ElementsAre(VertexId(5), VertexId(0), VertexId(7)));
  EXPECT_THAT(read_vtx(folder.file("b.vtx", "1 # one\nextra # both\n5 # here")), ElementsAre(VertexId(5)));
  EXPECT_THAT(read_vtx(folder.file("c.vtx", "2\n5\n6\n")), ElementsAre(VertexId(5), VertexId(6)));
  EXPECT_TRUE(read_vtx(folder.file("d.vtx", "0\nextra\n")).empty());
}

TEST(Vtx, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(read_vtx, folder.file("a.vtx", "3\nintra\n5\n0\n")), HasSubstr("ends early"));
  EXPECT_THAT(error_of(read_vtx, folder.file("b.vtx", "1\nintra\n5\n0\n")),
              HasSubstr("line 4: more follows than the ids that are announced (1)"));
  EXPECT_THAT(error_of(read_vtx, folder.file("c.vtx", "1\nintra\n-5\n")), HasSubstr("line 3"));
  EXPECT_THAT(error_of(read_vtx, folder.file("d.vtx", "99999999\nintra\n5\n")), HasSubstr("cannot be right"));
  EXPECT_THAT(error_of(read_vtx, folder.path() / "none.vtx"), HasSubstr("no such file"));
}

TEST(SourceFile, ReadsIdsWithAndWithoutTime) {
  TemporaryFolder folder;
  const auto rows = read_source_file(folder.file("a.txt", "# node time\n3 125.25\n\n4\n5, -1e-3 # early\n"));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].vertex, VertexId(3));
  EXPECT_EQ(rows[0].time, 125.25);
  EXPECT_FALSE(rows[1].time.has_value());
  EXPECT_EQ(rows[2].time, -1e-3);
  EXPECT_EQ(read_source_file(folder.file("a.vtx", "1\nintra\n9\n"))[0].vertex, VertexId(9));
  const auto points = read_source_file(folder.file("p.txt", "# x y z time\n1 2.5 -3 7\n4,5,6\n"));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].point, (Vec3d{1, 2.5, -3}));
  EXPECT_EQ(points[0].time, 7);
  EXPECT_EQ(points[1].point, (Vec3d{4, 5, 6}));
  EXPECT_FALSE(points[1].time);
}

TEST(SourceFile, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(read_source_file, folder.file("a.txt", "1 2\n1 2 3\n")), HasSubstr("line 2: more than two"));
  EXPECT_THAT(error_of(read_source_file, folder.file("f.txt", "1 2 3\n4 5\n6 7 8\n")), HasSubstr("line 2: fewer"));
  EXPECT_THAT(error_of(read_source_file, folder.file("g.txt", "1 2 3 4 5\n")), HasSubstr("more than four"));
  EXPECT_THAT(error_of(read_source_file, folder.file("b.txt", "# nothing\n")), HasSubstr("no sources"));
  EXPECT_THAT(error_of(read_source_file, folder.file("c.txt", "1 nan\n")), HasSubstr("line 1: a time is nan"));
  EXPECT_THAT(error_of(read_source_file, folder.file("d.txt", "4294967295\n")), HasSubstr("too large"));
  EXPECT_THAT(error_of(read_source_file, folder.file("e.txt", "1.5\n")), HasSubstr("whole number"));
}

TEST(ShotTables, ReadsMeasuredTimes) {
  TemporaryFolder folder;
  const ShotTable table = read_shot_table(
      folder.file(
          "a.csv",
          "\xef\xbb\xbf# picks\r\nShot, Name ,TIME,weight,y,X,comment\r\n\r\n\"a, \"\"b\"\"\",S1,1.5,,2,1,none\n"
          "# one is left out\n7,,+2e-1,0,\"5\",4,\n"),
      ShotTableKind::measured_times);
  EXPECT_TRUE(table.has_shots);
  EXPECT_THAT(table.ignored, ElementsAre("comment"));
  ASSERT_EQ(table.rows.size(), 2U);
  const ShotRow &first = table.rows[0], &second = table.rows[1];
  EXPECT_EQ(first.shot, "a, \"b\"");
  EXPECT_EQ(first.name, "S1");
  EXPECT_EQ(first.point, (Vec3d{1, 2, 0}));
  EXPECT_EQ(first.time, 1.5);
  EXPECT_EQ(first.weight, 1);
  EXPECT_EQ(first.line, 4U);
  EXPECT_EQ(second.shot, "7");
  EXPECT_EQ(second.point, (Vec3d{4, 5, 0}));
  EXPECT_EQ(second.time, 0.2);
  EXPECT_EQ(second.weight, 0);
  EXPECT_EQ(second.line, 6U);
}

TEST(ShotTables, ReadsVerticesAndSources) {
  TemporaryFolder folder;
  const ShotTable times = read_shot_table(folder.file("a.csv", "time;vertex\n1;5\n2;0"), ShotTableKind::measured_times);
  EXPECT_FALSE(times.has_shots);
  ASSERT_EQ(times.rows.size(), 2U);
  EXPECT_EQ(times.rows[0].vertex, VertexId(5));
  EXPECT_FALSE(times.rows[0].point);
  const ShotTable sources = read_shot_table(folder.file("b.csv", "shot,source,x,y,z,time\na,0,1,2,3,\na,1,4,5,6,7\n"),
                                            ShotTableKind::sources);
  EXPECT_TRUE(sources.ignored.empty());
  ASSERT_EQ(sources.rows.size(), 2U);
  EXPECT_EQ(sources.rows[0].point, (Vec3d{1, 2, 3}));
  EXPECT_FALSE(sources.rows[0].time);
  EXPECT_EQ(sources.rows[1].time, 7);
}

TEST(ShotTables, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto error = [&](const char* text, ShotTableKind kind = ShotTableKind::measured_times) {
    return error_of([&](const fs::path& path) { return read_shot_table(path, kind); }, folder.file("a.csv", text));
  };
  EXPECT_THAT(error("1,2,3\n"), HasSubstr("line 1: there is no line of column names"));
  EXPECT_THAT(error("x,y\n1,2\n"), HasSubstr("line 1: there is no column 'time'"));
  EXPECT_THAT(error("x,time\n1,2\n"), HasSubstr("no columns 'x' and 'y' or 'vertex'"));
  EXPECT_THAT(error("y,vertex,time\n1,2,3\n"), HasSubstr("no columns 'x' and 'y' or 'vertex'"));
  EXPECT_THAT(error("x,y,vertex,time\n1,2,3,4\n"), HasSubstr("leave one out"));
  EXPECT_THAT(error("x,y,X,time\n1,2,3,4\n"), HasSubstr("two columns have the name 'x'"));
  EXPECT_THAT(error("vertex,time\n"), HasSubstr("there are no rows"));
  EXPECT_THAT(error("# nothing\n"), HasSubstr("there are no rows"));
  EXPECT_THAT(error("vertex,time\n1,2\n1,2,3\n"), HasSubstr("line 3: the number of values, 3, is not that"));
  EXPECT_THAT(error("vertex,time\n\n1,soon\n"), HasSubstr("line 3: 'soon' is not a number"));
  EXPECT_THAT(error("vertex,time\n1,nan\n"), HasSubstr("line 2: a time is nan"));
  EXPECT_THAT(error("vertex,time\n1,inf\n"), HasSubstr("line 2: a time is inf"));
  EXPECT_THAT(error("vertex,time\n1,\n"), HasSubstr("line 2: the column 'time' is empty"));
  EXPECT_THAT(error("vertex,time\n1,# later\n"), HasSubstr("line 2: a number is missing"));
  EXPECT_THAT(error("vertex,time\n1,2 3\n"), HasSubstr("line 2: '3' follows a number"));
  EXPECT_THAT(error("vertex,time\n-1,2\n"), HasSubstr("line 2: '-1' is not a whole number"));
  EXPECT_THAT(error("vertex,time\n1.5,2\n"), HasSubstr("line 2: '1.5' is not a whole number"));
  EXPECT_THAT(error("vertex,time\n4294967295,2\n"), HasSubstr("too large"));
  EXPECT_THAT(error("vertex,time,weight\n1,2,-1\n"), HasSubstr("line 2: the weight -1 is negative"));
  EXPECT_THAT(error("shot,vertex,time\n,1,2\n"), HasSubstr("line 2: the column 'shot' is empty"));
  EXPECT_THAT(error("vertex,time\n1,2\n", ShotTableKind::sources), HasSubstr("line 1: there is no column 'shot'"));
}

TEST(Points, ReadsSeveralStyles) {
  TemporaryFolder folder;
  const auto expected = ElementsAre(Vec3d{1, 2, 3}, Vec3d{4, 5, 6});
  EXPECT_THAT(read_points(folder.file("a.txt", "# probes\n1 2 3\n\n4 5 6")).points, expected);
  EXPECT_THAT(read_points(folder.file("b.csv", "x,y,z\r\n1,2,3\r\n4, 5, 6\r\n")).points, expected);
  EXPECT_THAT(read_points(folder.file("c.csv", "\"x\";\"y\";\"z\"\n1;2;3\n4;5;6\n")).points, expected);
  EXPECT_THAT(read_points(folder.file("d.txt", "Label X Y Z\nP1 1 2 3\nP2 4 5 6\n")).points, expected);
  EXPECT_THAT(read_points(folder.file("e.txt", "1 2\n4 5\n")).points, ElementsAre(Vec3d{1, 2, 0}, Vec3d{4, 5, 0}));
}

TEST(Points, KeepsNames) {
  TemporaryFolder folder;
  const auto names = [&](const char* text) {
    const NamedPoints read = read_points(folder.file("a.csv", text));
    EXPECT_THAT(read.points, ElementsAre(Vec3d{1, 2, 3}, Vec3d{4, 5, 6})) << text;
    return read.names;
  };
  EXPECT_THAT(names("1 2 3\n4 5 6\n"), ElementsAre());
  EXPECT_THAT(names("Label X Y Z\nP1 1 2 3\n\"P2\" 4 5 6\n"), ElementsAre("P1", "P2"));
  EXPECT_THAT(names("x,y,z,name\n1,2,3,P1\n4,5,6,P2\n"), ElementsAre("P1", "P2"));
  EXPECT_THAT(names("7 1 2 3\n008 4 5 6\n"), ElementsAre("7", "008"));
  EXPECT_THAT(names("x,y,z,id\n1,2,3,7\n4,5,6,8\n"), ElementsAre("7", "8"));
  EXPECT_THAT(names("P1 1 2 3\n4 5 6\n"), ElementsAre("P1", ""));
}

TEST(Points, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(read_points, folder.file("a.txt", "1 2 3\n1 2\n")), HasSubstr("line 2"));
  EXPECT_THAT(error_of(read_points, folder.file("b.txt", "1 2 3 4 5\n")), HasSubstr("line 1"));
  for (const std::string number : {"1e999", "-1.5E999", "0x1f", "1.5d0", ".5D-3"})
    for (const std::string& row :
         {number + " 2 3", "1 2 " + number, number + " 2 3 4", "1 2 3 " + number, number + " " + number + " " + number})
      EXPECT_THAT(error_of(read_points, folder.file("n.txt", row + "\n")), HasSubstr(number + "' is no number")) << row;
  for (const std::string name : {"2nd", "e1", "0xg", "10-20", "1e", "d2", "-"})
    EXPECT_THAT(read_points(folder.file("o.txt", name + " 1 2 3\n")).names, ElementsAre(name));
  EXPECT_THAT(error_of(read_points, folder.file("f.txt", "1 P1 2 3\n")), HasSubstr("line 1"));
  EXPECT_THAT(error_of(read_points, folder.file("g.txt", "P1 1 2 3 Q\n")), HasSubstr("line 1"));
  EXPECT_THAT(error_of(read_points, folder.file("c.txt", "x y z\nx y z\n")), HasSubstr("line 2"));
  EXPECT_THAT(error_of(read_points, folder.file("d.txt", "x y z\n")), HasSubstr("no points"));
  EXPECT_THAT(error_of(read_points, folder.file("e.txt", "1 2 inf\n")), HasSubstr("finite"));
}

TEST(NumberRows, ReadsEachLine) {
  TemporaryFolder folder;
  EXPECT_THAT(read_number_rows(folder.file("a", "1 2,3\n\n# none\n-4e2 # five\n")),
              ElementsAre(ElementsAre(1, 2, 3), ElementsAre(-400)));
}

TEST(TextImage, LinesAreTheSecondAxis) {
  TemporaryFolder folder;
  const Image image = read_text_image(folder.file("a", "1\t2\t3\t\n4\t5\t6\t\n"));
  EXPECT_EQ(image.grid.shape, (std::array<std::uint32_t, 3>{3, 2, 1}));
  EXPECT_EQ(image.data.all()[0].at(image.grid.voxel(2, 1, 0).index()), 6);
  EXPECT_EQ(image.data.all()[0].at(image.grid.voxel(2, 0, 0).index()), 3);
}

TEST(TextImage, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(read_text_image, folder.file("a", "1 2\n3 4 5\n")),
              HasSubstr("row 2 has 3 numbers, the first one 2"));
  EXPECT_THAT(error_of(read_text_image, folder.file("b", "1 2 3\n")), HasSubstr("rows: 1"));
  EXPECT_THAT(error_of(read_text_image, folder.file("c", "1 2\n3 x\n")), HasSubstr("line 2"));
}

std::string gradient_error(const fs::path& bval, const fs::path& bvec) {
  try {
    static_cast<void>(read_gradients(bval, bvec));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(GradientFiles, ReadsRowsAndColumns) {
  TemporaryFolder folder;
  const auto wide = read_gradients(folder.file("bval", "0 1000 2e3 5\n"), folder.file("bvec",
                                                                                      "0 1 0 0.6\n"
                                                                                      "0 0 1 0.8 \n"
                                                                                      "0 0 0 0\n\n"));
  EXPECT_THAT(wide.b, ElementsAre(0, 1000, 2000, 5));
  EXPECT_THAT(wide.direction, ElementsAre(Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0.6, 0.8, 0}));
  const auto tall = read_gradients(folder.file("b.txt", "0\n1000\n2e3\n5"),
                                   folder.file("v.txt", "0 0 0\n1,0,0\n0\t1 0\r\n0.6 0.8 0"));
  EXPECT_EQ(tall.b, wide.b);
  EXPECT_EQ(tall.direction, wide.direction);
}

TEST(GradientFiles, ThreeByThreeHasAColumnPerVolume) {
  TemporaryFolder folder;
  const auto table = read_gradients(folder.file("b", "1 2 3"), folder.file("v", "1 2 3\n4 5 6\n7 8 9\n"));
  EXPECT_EQ(table.direction[0], (Vec3d{1, 4, 7}));
}

TEST(GradientFiles, DirectionsOfUnweightedVolumesMayBeMissing) {
  TemporaryFolder folder;
  const auto bval = folder.file("b", "0 1000");
  const auto table = read_gradients(bval, folder.file("v", "nan 1\nnan 0\nnan 0\n"));
  EXPECT_TRUE(std::isnan(table.direction[0].x));
  EXPECT_THAT(gradient_error(bval, folder.file("w", "1 nan\n0 0\n0 0\n")), HasSubstr("volume 1 is not finite"));
}

TEST(GradientFiles, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto bval = folder.file("b", "0 1000");
  const auto bvec = folder.file("v", "0 1\n0 0\n0 0\n");
  EXPECT_THAT(gradient_error(folder.file("b3", "0 1000 1000"), bvec), HasSubstr("b-values: 3, b-vectors: 2"));
  EXPECT_THAT(gradient_error(bval, folder.file("ragged", "0 1\n0 0\n0\n")), HasSubstr("rows: 3"));
  EXPECT_THAT(gradient_error(bval, folder.file("two", "0 1\n0 0\n")), HasSubstr("rows: 2, values in the first: 2"));
  EXPECT_THAT(gradient_error(folder.file("word", "0 many"), bvec), HasSubstr("'many'"));
  EXPECT_THAT(gradient_error(folder.file("negative", "0 -5"), bvec), HasSubstr("-5 is no b-value"));
  EXPECT_THAT(gradient_error(folder.path() / "none", bvec), HasSubstr("no such file"));
  EXPECT_THAT(gradient_error(bval, folder.file("blank", " \n")), HasSubstr("no b-vectors"));
}

std::string written(const fs::path& path, std::size_t columns, const std::vector<std::vector<double>>& rows) {
  NpyWriter writer({path, path}, rows.size(), columns);
  for (const auto& row : rows) writer.row(row);
  writer.finish();
  return content_of(path);
}

TEST(NpyFile, HasTheHeaderThatNumPyExpects) {
  const TemporaryFolder folder;
  for (const std::size_t columns : {0U, 1U, 9U, 10U, 99U, 100U, 12345678U}) {
    const std::string bytes = written(folder.path() / "a.npy", columns, {});
    ASSERT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    EXPECT_EQ(bytes.size(), 10 + length) << "no row, no number";
    EXPECT_EQ(bytes.size() % 64, 0U);
    EXPECT_EQ(bytes.back(), '\n');
    const std::string shape = "'shape': (0, " + std::to_string(columns) + "), }";
    EXPECT_THAT(bytes, ::testing::HasSubstr("{'descr': '<f8', 'fortran_order': False, " + shape));
  }
}

TEST(NpyFile, HoldsTheNumbersRowByRow) {
  const TemporaryFolder folder;
  const double inf = std::numeric_limits<double>::infinity();
  const std::string bytes = written(folder.path() / "a.npy", 3, {{0, 0.1, inf}, {-1e300, 5e-324, 2}});
  std::vector<double> numbers(6);
  ASSERT_EQ(bytes.size(), 128 + 48U);
  std::memcpy(numbers.data(), bytes.data() + 128, 48);
  EXPECT_EQ(numbers, (std::vector<double>{0, 0.1, inf, -1e300, 5e-324, 2}));
}

TEST(NpyFile, AFullDiskIsAnError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_THROW(written("/dev/full", 4, {{1, 2, 3, 4}}), RuntimeError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
