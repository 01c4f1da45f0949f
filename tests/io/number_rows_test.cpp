#include "isochron/io/tables.h"

#include "io/io_test_support.h"
#include "isochron/io/image/formats.h"

namespace isochron::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string image_error(const fs::path& path) {
  try {
    static_cast<void>(read_text_image(path));
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
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
  EXPECT_THAT(image_error(folder.file("a", "1 2\n3 4 5\n")), HasSubstr("row 2 has 3 numbers, the first one 2"));
  EXPECT_THAT(image_error(folder.file("b", "1 2 3\n")), HasSubstr("rows: 1"));
  EXPECT_THAT(image_error(folder.file("c", "1 2\n3 x\n")), HasSubstr("line 2"));
}

}  // namespace
}  // namespace isochron::test
