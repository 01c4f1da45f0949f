// Each allocation of readers and writers fails once: they say so, files are as they were, and sanitizers see no leak.
#include <cstdlib>
#include <new>

#include "io/image_samples.h"
#include "io/io_test_support.h"
#include "isochron/generate.h"

namespace isochron::test {

/// Allocations of this thread until one fails; 0: none does.
thread_local long allocations_left = 0;

}  // namespace isochron::test

// All allocations of the program that are aligned as usual come through here. Inlined, they look to the compiler as if
// memory of one kind were given back as another.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (isochron::test::allocations_left > 0 && --isochron::test::allocations_left == 0) throw std::bad_alloc();
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (isochron::test::allocations_left > 0 && --isochron::test::allocations_left == 0) return nullptr;
  return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace isochron::test {
namespace TEST_FILE {

/// Calls `work` with its n-th allocation failing; true when it succeeds all the same.
bool succeeds(const std::function<void()>& work, long n) {
  allocations_left = n;
  try {
    work();
    allocations_left = 0;
    return true;
  } catch (const std::bad_alloc&) {
    allocations_left = 0;
  } catch (const Error& error) {
    allocations_left = 0;
    EXPECT_THAT(error.what(), testing::HasSubstr("memory"));
  }
  return false;
}

/// Calls `work` with its n-th allocation failing, for all n until it succeeds; after each failure calls `check`.
void fail_each_allocation(const std::function<void()>& work, const std::function<void()>& check) {
  constexpr long most = 10'000;
  for (long n = 1; n < most; ++n) {
    if (succeeds(work, n)) return;
    check();
  }
  FAIL() << "it never succeeds";
}

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
