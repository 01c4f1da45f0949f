// Damaged images: reading ends with InputError or a valid image; it never crashes, hangs or takes absurd memory.
#include "io/image_samples.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

struct Sample {
  std::string name;
  std::string content;
};

std::vector<Sample> samples() {
  std::vector<Sample> result;
  const TemporaryFolder folder;
  Image image = counted_image<float>(6);
  image.tensor_order = TensorOrder::row;
  for (const char* name : {"a.nii", "a.nii.gz", "a.nrrd", "a.npy", "a.mgh", "a.mgz"}) {
    write_image(folder.path() / name, image, Overwrite::no);
    result.push_back({name, content_of(folder.path() / name)});
  }
  // A text file: its values are damaged one by one.
  result.push_back({"b.nrrd",
                    "NRRD0004\ntype: double\ndimension: 4\nspace: LPS\nsizes: 7 2 1 2\n"
                    "space directions: none (1,0,0) (0,1,0) (0,0,1.5)\nkinds: 3D-masked-symmetric-matrix domain domain "
                    "domain\nmeasurement frame: (0,1,0) (1,0,0) (0,0,1)\nencoding: ascii\nspace origin: (1,2,3)\n\n"
                    "1 1 0 0 1 0 1 1 2 0 0 2 0 2\n0 3 0 0 3 0 3 1 1e-3 nan 0 1 0 1\n"});
  return result;
}

void read_damaged(const TemporaryFolder& folder, const Sample& sample, const std::string& damaged,
                  const std::string& how) {
  try {
    const Image image = read_image(folder.file(sample.name, damaged));
    EXPECT_GT(image.grid.voxel_count(), 0U) << sample.name << " " << how;
    EXPECT_LT(image.grid.voxel_count(), std::size_t{1} << 24U) << sample.name << " " << how;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(folder.path().string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  } catch (const std::exception& error) {
    ADD_FAILURE() << sample.name << " " << how << ": " << error.what();
  }
}

TEST(DamagedImage, EveryTruncationIsRefused) {
  for (const Sample& sample : samples()) {
    const TemporaryFolder folder;
    const std::size_t size = sample.content.size();
    // Every length in the header, and some in the values.
    for (std::size_t length = 0; length + 1 < size; length += length < 400 ? 3 : 37) {
      const fs::path path = folder.file(sample.name, sample.content.substr(0, length));
      EXPECT_THROW(static_cast<void>(read_image(path)), InputError) << sample.name << " cut to " << length;
    }
  }
}

TEST(DamagedImage, BytesChangedAtRandom) {
  for (const Sample& sample : samples()) {
    const TemporaryFolder folder;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      Random random(seed);
      std::string damaged = sample.content;
      for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
        // Half of the changes hit the first bytes, half keep a text plausible.
        const std::size_t reach = random.below(2) == 0 ? std::min<std::size_t>(400, damaged.size()) : damaged.size();
        char& byte = damaged[random.below(reach)];
        byte = random.below(2) == 0 ? static_cast<char>(random.bits()) : "0123456789-.e (),\n:"[random.below(19)];
      }
      read_damaged(folder, sample, damaged, "seed " + std::to_string(seed));
    }
  }
}

TEST(DamagedImage, PiecesRemovedOrRepeated) {
  for (const Sample& sample : samples()) {
    const TemporaryFolder folder;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Random random(1000 + seed);
      const std::size_t from = random.below(sample.content.size());
      const std::size_t length = 1 + random.below(20);
      std::string damaged = sample.content;
      if (seed % 2 == 0) damaged.erase(from, length);
      else damaged.insert(from, sample.content.substr(from, length));
      read_damaged(folder, sample, damaged, "seed " + std::to_string(1000 + seed));
    }
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
