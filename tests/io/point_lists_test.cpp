#include "isochron/io/tables.h"

#include "io/io_test_support.h"

namespace isochron::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Read>
std::string error_of(Read&& read, const fs::path& path) {
  try {
    static_cast<void>(read(path));
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ": ")) << error.what();
    return error.what();
  }
  return "no error";
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
  EXPECT_THAT(error_of(read_vtx, folder.file("b.vtx", "1\nintra\n5\n0\n")), HasSubstr("line 4: more ids"));
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
}

TEST(SourceFile, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of(read_source_file, folder.file("a.txt", "1 2\n1 2 3\n")), HasSubstr("line 2: more than two"));
  EXPECT_THAT(error_of(read_source_file, folder.file("b.txt", "# nothing\n")), HasSubstr("no sources"));
  EXPECT_THAT(error_of(read_source_file, folder.file("c.txt", "1 nan\n")), HasSubstr("line 1: a time is nan"));
  EXPECT_THAT(error_of(read_source_file, folder.file("d.txt", "4294967295\n")), HasSubstr("too large"));
  EXPECT_THAT(error_of(read_source_file, folder.file("e.txt", "1.5\n")), HasSubstr("whole number"));
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
  EXPECT_THAT(error_of(read_points, folder.file("f.txt", "1 P1 2 3\n")), HasSubstr("line 1"));
  EXPECT_THAT(error_of(read_points, folder.file("g.txt", "P1 1 2 3 Q\n")), HasSubstr("line 1"));
  EXPECT_THAT(error_of(read_points, folder.file("c.txt", "x y z\nx y z\n")), HasSubstr("line 2"));
  EXPECT_THAT(error_of(read_points, folder.file("d.txt", "x y z\n")), HasSubstr("no points"));
  EXPECT_THAT(error_of(read_points, folder.file("e.txt", "1 2 inf\n")), HasSubstr("finite"));
}

}  // namespace
}  // namespace isochron::test
