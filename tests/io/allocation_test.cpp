// Each allocation of readers and writers fails once: they say so, files are as they were, and sanitizers see no leak.
#include "io/image_samples.h"
#include "io/io_test_support.h"
#include "isochron/generate.h"
#include "support/failing_allocations.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(Allocation, FailsOnceWhileMeshesAreWrittenAndRead) {
  const Dataset mesh = surface_mesh();
  for (const char* name : {"a.vtu", "a.vtk", "a.msh", "a.node", "a.ply", "a.off.gz"}) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / name;
    fail_each_allocation([&] { write_dataset(path, mesh, Overwrite::no); },
                         [&] { EXPECT_EQ(folder.entries(), 0U) << name; });
    const std::string whole = content_of(path);
    const std::size_t entries = folder.entries();
    fail_each_allocation([&] { write_dataset(path, mesh, Overwrite::yes); },
                         [&] {
                           EXPECT_EQ(content_of(path), whole) << name;
                           EXPECT_EQ(folder.entries(), entries) << name;
                         });
    fail_each_allocation([&] { static_cast<void>(read_dataset(path)); }, [] {});
  }
}

TEST(Allocation, FailsOnceWhileImagesAreWrittenAndRead) {
  Image image;
  image.grid.shape = {3, 4, 5};
  image.data.set({"values", 1, std::vector<float>(image.grid.voxel_count(), 1.0F)});
  for (const char* name : {"a.nii.gz", "a.nrrd", "a.npy", "a.mgz", "a.vti"}) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / name;
    fail_each_allocation([&] { write_image(path, image, Overwrite::no); },
                         [&] { EXPECT_EQ(folder.entries(), 0U) << name; });
    fail_each_allocation([&] { static_cast<void>(read_image(path)); }, [] {});
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
