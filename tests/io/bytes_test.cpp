#include "isochron/io/bytes.h"

#include <limits>
#include <string>

#include <zlib.h>

#include "io/io_test_support.h"
#include "isochron/io/image_io.h"

namespace isochron {
namespace TEST_FILE {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint64_t mega = 1'000'000;

/// A grid of 100³ zeros as float: 4 MB in a few kilobytes.
Image zeros() {
  Image image;
  image.grid.shape = {100, 100, 100};
  image.data.set({"values", 1, std::vector<float>(image.grid.voxel_count(), 0.0F)});
  return image;
}

TEST(UnpackLimit, HoldsForCompressedImages) {
  const test::TemporaryFolder folder;
  for (const char* name : {"a.nii.gz", "a.npy.gz", "a.mgz"}) {
    const auto path = folder.path() / name;
    write_image(path, zeros(), Overwrite::no);
    ASSERT_LT(std::filesystem::file_size(path), 50'000U) << name;
    {
      const UnpackLimit enough(4 * mega + 2000);
      EXPECT_EQ(read_image(path).grid.voxel_count(), 1'000'000U) << name;
      EXPECT_LT(UnpackLimit::left(), 2000U) << "everything is counted";
      EXPECT_THROW(static_cast<void>(read_image(path)), UnpackedTooLarge) << "all files together";
    }
    const UnpackLimit limit(3 * mega);
    EXPECT_THAT([&] { static_cast<void>(read_image(path)); },
                ThrowsMessage<UnpackedTooLarge>(HasSubstr(std::string(name) + ": unpacks to more than 3000000 bytes")));
    EXPECT_GT(UnpackLimit::left(), mega) << "known from the header: no more than a buffer was unpacked";
  }
}

TEST(UnpackLimit, HoldsForFilesThatAreUnpackedAsAWhole) {
  const test::TemporaryFolder folder;
  Dataset mesh = test::surface_mesh();
  mesh.points.resize(100'000);
  const auto path = folder.path() / "a.off.gz";
  write_dataset(path, mesh, Overwrite::no);
  const std::uint64_t bytes = [&] {
    const UnpackLimit none(std::numeric_limits<std::uint64_t>::max());
    static_cast<void>(read_dataset(path));
    return std::numeric_limits<std::uint64_t>::max() - UnpackLimit::left();
  }();
  ASSERT_GT(bytes, 500'000U);
  {
    const UnpackLimit just_enough(bytes);
    EXPECT_EQ(read_dataset(path).points.size(), mesh.points.size());
    EXPECT_EQ(UnpackLimit::left(), 0U);
  }
  const UnpackLimit one_too_few(bytes - 1);
  EXPECT_THROW(static_cast<void>(read_dataset(path)), UnpackedTooLarge);
}

TEST(UnpackLimit, HoldsForDataInsideOtherFiles) {
  const std::string plain(10'000, 'x');
  std::string packed(compressBound(plain.size()), '\0');
  uLongf size = packed.size();
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                     plain.size()),
            Z_OK);
  packed.resize(size);
  const UnpackLimit limit(15'000);
  EXPECT_EQ(unpacked(packed, plain.size(), "a.vtu"), plain);
  EXPECT_THROW(unpacked(packed, plain.size(), "a.vtu"), UnpackedTooLarge);
}

TEST(UnpackLimit, LetsPlainFilesAlone) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "a.npy";
  write_image(path, zeros(), Overwrite::no);
  const UnpackLimit limit(10);
  EXPECT_EQ(read_image(path).grid.voxel_count(), 1'000'000U);
}

TEST(UnpackLimit, EndsWithItsScope) {
  EXPECT_EQ(UnpackLimit::left(), std::numeric_limits<std::uint64_t>::max());
  const UnpackLimit outer(10);
  {
    const UnpackLimit inner(20);
    UnpackLimit::take(5, "a");
    EXPECT_EQ(UnpackLimit::left(), 15U);
  }
  EXPECT_EQ(UnpackLimit::left(), 10U);
  EXPECT_THROW(UnpackLimit::take(11, "a"), UnpackedTooLarge);
  EXPECT_EQ(UnpackLimit::left(), 10U);
}

}  // namespace TEST_FILE
}  // namespace isochron
