// Damaged files: reading ends with InputError or a valid data set; it never crashes, hangs or takes absurd memory.
#include "io/gmsh_samples.h"
#include "io/io_test_support.h"
#include "isochron/core/random.h"

namespace isochron::test {
namespace TEST_FILE {

struct Sample {
  std::string main;                            // the file that is opened
  std::map<std::string, std::string> content;  // all files of the set
};

std::vector<Sample> samples() {
  std::vector<Sample> result;
  TemporaryFolder folder;
  Dataset mesh = mixed_mesh();
  mesh.point_data.set({"time", 1, std::vector<double>{0, 0.1, 2, 3, 4, 5}});
  mesh.tets.data.set({"region", 1, std::vector<std::int32_t>{30, 31}});
  mesh.tets.data.set({"fiber", 3, std::vector<double>{1, 0, 0, 0.1, 0.2, 0.3}});
  for (const char* name : {"a.off", "a.msh", "a.mesh", "a.ele", "a.elem", "z.off.gz", "z.elem.gz"}) {
    TemporaryFolder own;
    write_dataset(own.path() / name, std::string_view(name).find(".off") == 1 ? surface_mesh() : mesh, Overwrite::no);
    Sample& sample = result.emplace_back();
    sample.main = name;
    for (const auto& entry : fs::directory_iterator(own.path())) {
      sample.content[entry.path().filename().string()] = content_of(entry.path());
    }
  }
  using gmsh_samples::Encoding;
  for (const Encoding encoding : {Encoding::text, Encoding::binary, Encoding::swapped}) {
    result.push_back({"a.msh", {{"a.msh", gmsh_samples::version_2(encoding)}}});
    result.push_back({"a.msh", {{"a.msh", gmsh_samples::version_4(encoding)}}});
  }
  return result;
}

// Reads the sample with one file replaced.
void read_damaged(const TemporaryFolder& folder, const Sample& sample, const std::string& name,
                  const std::string& damaged, const std::string& how) {
  for (const auto& [other, content] : sample.content) {
    static_cast<void>(folder.file(other, other == name ? damaged : content));
  }
  try {
    const Dataset d = read_dataset(folder.path() / sample.main);
    EXPECT_FALSE(d.points.empty()) << name << " " << how;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(folder.path().string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  } catch (const std::exception& error) {
    ADD_FAILURE() << name << " " << how << ": " << error.what();
  }
}

TEST(DamagedFile, TruncatedAnywhere) {
  for (const Sample& sample : samples()) {
    TemporaryFolder folder;
    for (const auto& [name, content] : sample.content) {
      for (int part = 0; part < 41; ++part) {
        const std::size_t length = content.size() * static_cast<std::size_t>(part) / 41;
        read_damaged(folder, sample, name, content.substr(0, length), "cut to " + std::to_string(length));
      }
    }
  }
}

TEST(DamagedFile, BytesChangedAtRandom) {
  for (const Sample& sample : samples()) {
    TemporaryFolder folder;
    for (const auto& [name, content] : sample.content) {
      for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed);
        std::string damaged = content;
        for (std::uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
          char& byte = damaged[random.below(damaged.size())];
          // Half of the changes keep the text plausible, so that they get past the first check.
          byte = random.below(2) == 0 ? static_cast<char>(random.bits()) : "0123456789-.e \n$#"[random.below(17)];
        }
        read_damaged(folder, sample, name, damaged, "seed " + std::to_string(seed));
      }
    }
  }
}

TEST(DamagedFile, PiecesRemovedOrRepeated) {
  for (const Sample& sample : samples()) {
    TemporaryFolder folder;
    for (const auto& [name, content] : sample.content) {
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Random random(1000 + seed);
        const std::size_t from = random.below(content.size());
        const std::size_t length = 1 + random.below(20);
        std::string damaged = content;
        if (seed % 2 == 0) damaged.erase(from, length);
        else damaged.insert(from, content.substr(from, length));
        read_damaged(folder, sample, name, damaged, "seed " + std::to_string(1000 + seed));
      }
    }
  }
}

TEST(DamagedFile, HugeCountsTakeNoMemory) {
  TemporaryFolder folder;
  const std::string huge = "4000000000";
  static_cast<void>(folder.file("c.node", huge + " 3 0 0\n0 0 0 0\n"));
  static_cast<void>(folder.file("c.ele", huge + " 4 0\n0 0 0 0 0\n"));
  static_cast<void>(folder.file("d.pts", "1\n0 0 0\n"));
  static_cast<void>(folder.file("d.elem", huge + "\nTt 0 0 0 0 1\n"));
  reading_error(folder.file("a.off", "OFF\n" + huge + " 1 0\n0 0 0\n"));
  reading_error(folder.file("b.off", "OFF\n1 " + huge + " 0\n0 0 0\n"));
  reading_error(folder.file("a.mesh", "MeshVersionFormatted 1\nDimension 3\nVertices " + huge + "\n0 0 0 0\n"));
  reading_error(folder.path() / "c.node");
  reading_error(folder.path() / "d.pts", folder.path() / "d.elem");
}

}  // namespace TEST_FILE
}  // namespace isochron::test
