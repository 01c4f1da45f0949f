// Damaged meshes and images: reading ends with InputError or with valid data; it never crashes, hangs or takes absurd
// memory.
#include "io/gmsh_samples.h"
#include "io/image_samples.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

struct Sample {
  std::string main;                            // the file that is opened
  std::map<std::string, std::string> content;  // all files of the set
};
using Samples = std::vector<Sample>;

/// What `write(path)` writes under these names, each in a folder of its own.
template <class Write>
Samples written_samples(std::initializer_list<const char*> names, Write&& write) {
  Samples result;
  for (const char* name : names) {
    const TemporaryFolder folder;
    write(folder.path() / name);
    Sample& sample = result.emplace_back(Sample{name, {}});
    for (const auto& entry : fs::directory_iterator(folder.path()))
      sample.content[entry.path().filename().string()] = content_of(entry.path());
  }
  return result;
}

Samples mesh_samples() {
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"time", 1, std::vector<double>{0, 0.1, 2, 3, 4, 5}});
  mesh.tets.data.set({"region", 1, std::vector<std::int32_t>{30, 31}});
  mesh.tets.data.set({"fiber", 3, std::vector<double>{1, 0, 0, 0.1, 0.2, 0.3}});
  Samples result = written_samples({"a.off", "a.msh", "a.mesh", "a.ele", "a.elem", "z.off.gz", "z.elem.gz"},
                                   [&](const fs::path& path) {
                                     const bool surface = path.string().find(".off") != std::string::npos;
                                     write_dataset(path, surface ? surface_mesh() : mesh, Overwrite::no);
                                   });
  using gmsh_samples::Encoding;
  for (const Encoding encoding : {Encoding::text, Encoding::binary, Encoding::swapped}) {
    result.push_back({"a.msh", {{"a.msh", gmsh_samples::version_2(encoding)}}});
    result.push_back({"a.msh", {{"a.msh", gmsh_samples::version_4(encoding)}}});
  }
  return result;
}

Samples image_samples() {
  Image image = counted_image<float>(6);
  image.tensor_order = TensorOrder::row;
  Samples result = written_samples({"a.nii", "a.nii.gz", "a.nrrd", "a.npy", "a.mgh", "a.mgz"},
                                   [&](const fs::path& path) { write_image(path, image, Overwrite::no); });
  // A text file: its values are damaged one by one.
  const std::string text =
      "NRRD0004\ntype: double\ndimension: 4\nspace: LPS\nsizes: 7 2 1 2\n"
      "space directions: none (1,0,0) (0,1,0) (0,0,1.5)\nkinds: 3D-masked-symmetric-matrix domain domain "
      "domain\nmeasurement frame: (0,1,0) (1,0,0) (0,0,1)\nencoding: ascii\nspace origin: (1,2,3)\n\n"
      "1 1 0 0 1 0 1 1 2 0 0 2 0 2\n0 3 0 0 3 0 3 1 1e-3 nan 0 1 0 1\n";
  result.push_back({"b.nrrd", {{"b.nrrd", text}}});
  return result;
}

/// Reads each sample with each of its files replaced by `damaged(content, seed)` for so many seeds.
template <class Damaged>
void read_damaged(const Samples& samples, std::uint64_t seeds, Damaged&& damaged) {
  for (const Sample& sample : samples) {
    const TemporaryFolder folder;
    for (const auto& [name, content] : sample.content)
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(fmt::format("{} seed {}", name, seed));
        for (const auto& [other, whole] : sample.content)
          folder.put(other, other == name ? damaged(content, seed) : whole);
        const fs::path path = folder.path() / sample.main;
        expect_read_or_refused(folder.path(), [&] {
          const bool image = is_image_file(path);
          const std::size_t items = image ? read_image(path).grid.voxel_count() : read_dataset(path).points.size();
          EXPECT_TRUE(items > 0 && (!image || items < std::size_t{1} << 24U)) << items;
        });
      }
  }
}

/// Half of the changes keep a text plausible, so that they get past the first check; half hit the first bytes, if any.
auto with_changed_bytes(std::string_view plausible, std::size_t first_bytes) {
  return [=](std::string text, std::uint64_t seed) {
    Random random(seed);
    for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      const bool in_front = first_bytes > 0 && random.below(2) == 0;
      char& byte = text[random.below(in_front ? std::min(first_bytes, text.size()) : text.size())];
      byte = random.below(2) == 0 ? static_cast<char>(random.bits()) : plausible[random.below(plausible.size())];
    }
    return text;
  };
}

std::string with_a_piece_removed_or_repeated(std::string text, std::uint64_t seed) {
  Random random(1000 + seed);
  const std::size_t from = random.below(text.size());
  const std::size_t length = 1 + random.below(20);
  return seed % 2 == 0 ? text.erase(from, length) : text.insert(from, text.substr(from, length));
}

TEST(DamagedFile, TruncatedAnywhere) {
  read_damaged(mesh_samples(), 41, [](const std::string& text, std::uint64_t part) {
    return text.substr(0, text.size() * static_cast<std::size_t>(part) / 41);
  });
}

TEST(DamagedFile, BytesChangedAtRandom) {
  read_damaged(mesh_samples(), 300, with_changed_bytes("0123456789-.e \n$#", 0));
}

TEST(DamagedFile, PiecesRemovedOrRepeated) { read_damaged(mesh_samples(), 100, with_a_piece_removed_or_repeated); }

TEST(DamagedFile, HugeCountsTakeNoMemory) {
  const TemporaryFolder folder;
  const std::string huge = "4000000000";
  folder.put("c.node", huge + " 3 0 0\n0 0 0 0\n");
  folder.put("c.ele", huge + " 4 0\n0 0 0 0 0\n");
  folder.put("d.pts", "1\n0 0 0\n");
  folder.put("d.elem", huge + "\nTt 0 0 0 0 1\n");
  content_error("a.off", "OFF\n" + huge + " 1 0\n0 0 0\n");
  content_error("b.off", "OFF\n1 " + huge + " 0\n0 0 0\n");
  content_error("a.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices " + huge + "\n0 0 0 0\n");
  reading_error(folder.path() / "c.node");
  reading_error(folder.path() / "d.pts", folder.path() / "d.elem");
}

TEST(DamagedImage, EveryTruncationIsRefused) {
  for (const Sample& sample : image_samples()) {
    const std::string& whole = sample.content.at(sample.main);
    // Every length in the header, and some in the values.
    for (std::size_t length = 0; length + 1 < whole.size(); length += length < 400 ? 3 : 37) {
      SCOPED_TRACE(fmt::format("{} cut to {}", sample.main, length));
      image_content_error(sample.main, whole.substr(0, length));
    }
  }
}

TEST(DamagedImage, BytesChangedAtRandom) {
  read_damaged(image_samples(), 400, with_changed_bytes("0123456789-.e (),\n:", 400));
}

TEST(DamagedImage, PiecesRemovedOrRepeated) { read_damaged(image_samples(), 100, with_a_piece_removed_or_repeated); }

}  // namespace TEST_FILE
}  // namespace isochron::test
