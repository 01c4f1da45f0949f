#include "isochron/io/tables.h"

#include <cmath>

#include "io/io_test_support.h"

namespace isochron::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const fs::path& bval, const fs::path& bvec) {
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
  EXPECT_THAT(error_of(bval, folder.file("w", "1 nan\n0 0\n0 0\n")), HasSubstr("volume 1 is not finite"));
}

TEST(GradientFiles, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto bval = folder.file("b", "0 1000");
  const auto bvec = folder.file("v", "0 1\n0 0\n0 0\n");
  EXPECT_THAT(error_of(folder.file("b3", "0 1000 1000"), bvec), HasSubstr("b-values: 3, b-vectors: 2"));
  EXPECT_THAT(error_of(bval, folder.file("ragged", "0 1\n0 0\n0\n")), HasSubstr("rows: 3"));
  EXPECT_THAT(error_of(bval, folder.file("two", "0 1\n0 0\n")), HasSubstr("rows: 2, values in the first: 2"));
  EXPECT_THAT(error_of(folder.file("word", "0 many"), bvec), HasSubstr("'many'"));
  EXPECT_THAT(error_of(folder.file("negative", "0 -5"), bvec), HasSubstr("-5 is no b-value"));
  EXPECT_THAT(error_of(folder.path() / "none", bvec), HasSubstr("no such file"));
  EXPECT_THAT(error_of(bval, folder.file("blank", " \n")), HasSubstr("no b-vectors"));
}

}  // namespace
}  // namespace isochron::test
