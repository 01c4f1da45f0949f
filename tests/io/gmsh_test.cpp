// Gmsh files of both versions, text and binary. The binary ones are put together here byte by byte.
#include "io/gmsh_samples.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Doubles = std::vector<double>;
using Ints = std::vector<std::int32_t>;

TEST(Gmsh, KeepsArraysAndTags) {
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"arrival_time", 1, Doubles{0, 0.1, 1e-9, INFINITY, 5, 1.0 / 3}});
  mesh.point_data.set({"with \"quotes\"", 3, std::vector<float>(18, 0.25F)});
  mesh.tets.data.set({"gmsh:physical", 1, Ints{3, 4}});
  mesh.tets.data.set({"gmsh:geometrical", 1, Ints{1, 2}});
  mesh.tets.data.set({"fiber", 3, Doubles{1, 0, 0, 0.1, 0.2, 0.3}});
  mesh.triangles.data.set({"fiber", 3, Doubles{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  mesh.line_data.set({"fiber", 6, Doubles(12, 0.5)});
  const Dataset again = write_and_read("a.msh", mesh);
  expect_same_array(mesh.point_data.all()[0], again.point_data);
  EXPECT_EQ(again.point_data.require("with _quotes_", "points").tuple_count(), 6U);
  expect_same_arrays(mesh.tets.data, again.tets.data);
  expect_same_arrays(mesh.triangles.data, again.triangles.data);
  expect_same_arrays(mesh.line_data, again.line_data);
  EXPECT_TRUE(again.warnings.empty());
}

TEST(Gmsh, RegionsOfOtherFormatsBecomePhysicalGroups) {
  Dataset mesh = mixed_mesh();
  mesh.tets.data.set({"region", 1, Ints{30, 31}});
  const Dataset again = write_and_read("a.msh", mesh);
  EXPECT_EQ(again.tets.data.require("gmsh:physical", "tets").at(1), 31);
  EXPECT_EQ(again.tets.data.require("region", "tets").at(0), 30);
}

class GmshSample : public ::testing::TestWithParam<gmsh_samples::Encoding> {};

TEST_P(GmshSample, Version2IsRead) {
  gmsh_samples::expect_sample(read_content("a.msh", gmsh_samples::version_2(GetParam())));
}

TEST_P(GmshSample, Version4IsRead) {
  gmsh_samples::expect_sample(read_content("a.msh", gmsh_samples::version_4(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Encodings, GmshSample,
                         ::testing::Values(gmsh_samples::Encoding::text, gmsh_samples::Encoding::binary,
                                           gmsh_samples::Encoding::swapped));

const std::string head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string nodes = "$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 0\n$EndNodes\n";

TEST(Gmsh, PartialAndRepeatedDataIsReported) {
  const std::string data = "$NodeData\n1\n\"u\"\n1\n0\n3\n0\n1\n1\n2 7.5\n$EndNodeData\n";
  const Dataset d = read_content("a.msh", head + nodes + data + data + data);
  const DataArray& u = d.point_data.require("u", "points");
  EXPECT_EQ(u.at(1), 7.5);
  EXPECT_TRUE(std::isnan(u.at(0)));
  EXPECT_THAT(d.warnings, ElementsAre(HasSubstr("1 of 3"), HasSubstr("more than once")));
}

TEST(Gmsh, PartitionedEntitiesPointToTheirParents) {
  const Dataset d =
      read_content("a.msh",
                   "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n1 0 0 0 1 1 0 1 5 0\n$EndEntities\n"
                   "$PartitionedEntities\n2\n0\n0 0 1 0\n7 2 1 1 2 0 0 0 1 1 0 1 5 0\n$EndPartitionedEntities\n"
                   "$Nodes\n1 3 1 3\n2 7 0 3\n1\n2\n3\n0 0 0\n1 0 0\n0 1 0\n$EndNodes\n"
                   "$Elements\n1 1 1 1\n2 7 2 1\n1 1 2 3\n$EndElements\n");
  EXPECT_EQ(d.triangles.data.require("gmsh:physical", "t").at(0), 5);
  EXPECT_EQ(d.triangles.data.require("gmsh:geometrical", "t").at(0), 1);
}

TEST(Gmsh, ParametricNodesAndSparseNumbersAreRead) {
  const Dataset d =
      read_content("a.msh",
                   "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 3 1 9000000000\n2 1 1 3\n9000000000\n20\n3\n"
                   "0 0 0 .1 .2\n1 0 0 .1 .2\n0 1 0 .1 .2\n$EndNodes\n$Elements\n1 1 1 1\n2 1 2 1\n1 3 20 "
                   "9000000000\n$EndElements\n");
  EXPECT_EQ(d.points[1], (Vec3d{1, 0, 0}));
  EXPECT_THAT(d.triangles.cells, ElementsAre(triangle(2, 1, 0)));
}

TEST(Gmsh, SaysWhatIsWrong) {
  const auto error = [&](const std::string& content) { return content_error("a.msh", content); };
  EXPECT_THAT(error("(0 \"Fluent\")\n"), HasSubstr("not a Gmsh file"));
  EXPECT_THAT(error("$MeshFormat\n4 0 8\n$EndMeshFormat\n"), HasSubstr("version 4 "));
  EXPECT_THAT(error(head + nodes + "$Elements\n1\n1 2 2 0 1 1 2 4\n$EndElements\n"), HasSubstr("line 12: node 4"));
  EXPECT_THAT(error(head + nodes + "$Elements\n1\n1 77 2 0 1 1 2 4\n$EndElements\n"), HasSubstr("element type 77"));
  EXPECT_THAT(error(head + nodes + nodes), HasSubstr("second $Nodes"));
  EXPECT_THAT(error(head + "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n"), HasSubstr("same number"));
  EXPECT_THAT(error(head + "$Nodes\n1\n1 0 nan 0\n$EndNodes\n"), HasSubstr("line 6: a coordinate is nan"));
  EXPECT_THAT(error(head + "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n"), HasSubstr("$EndNodes was expected"));
  EXPECT_THAT(error(head), HasSubstr("no $Nodes"));
  EXPECT_THAT(error(head + "$Comments\nhello\n"), HasSubstr("ends early"));
  EXPECT_THAT(error(head + "$Nodes\n4000000000\n"), HasSubstr("cannot be right"));
}

}  // namespace TEST_FILE
}  // namespace isochron::test
