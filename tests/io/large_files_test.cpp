// Files that are large enough for several threads: the same bytes and the same errors as with one.
#include <numeric>

#include <zlib.h>

#include "io/io_test_support.h"
#include "isochron/generate.h"
#include "isochron/io/values.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Files are read and written with so many threads while it lives.
class FileThreads {
 public:
  explicit FileThreads(int threads) { limit_usual_threads(threads); }
  ~FileThreads() { limit_usual_threads(0); }
  FileThreads(const FileThreads&) = delete;
  FileThreads& operator=(const FileThreads&) = delete;
};

constexpr std::size_t many = 1'000'003;

void write_numbers(const fs::path& path) {
  ByteWriter writer({path, path});
  writer.print("{} numbers\n", many);
  write_each<std::int32_t>(writer, many, Encoding::big_endian, [](std::size_t i) { return 7 * i; });
  writer.print("end");
  writer.finish();
}

std::string unpacked_by_zlib(const fs::path& path) {
  const std::unique_ptr<gzFile_s, decltype(&gzclose_r)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  std::string text(4 * many + 4096, '\0');
  const int bytes = gzread(file.get(), text.data(), static_cast<unsigned>(text.size()));
  text.resize(static_cast<std::size_t>(std::max(bytes, 0)));
  return text;
}

TEST(LargeFiles, AreTheSameForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  std::string plain, packed;
  for (const int threads : {1, 2, 5}) {
    const FileThreads limit(threads);
    write_numbers(folder.path() / "a.off");
    write_numbers(folder.path() / "a.off.gz");
    if (threads == 1) {
      plain = content_of(folder.path() / "a.off");
      packed = content_of(folder.path() / "a.off.gz");
      EXPECT_EQ(plain.size(), std::string("1000003 numbers\n").size() + 4 * many + 3);
      EXPECT_EQ(unpacked_by_zlib(folder.path() / "a.off.gz"), plain);
    }
    EXPECT_EQ(content_of(folder.path() / "a.off"), plain) << threads;
    EXPECT_EQ(content_of(folder.path() / "a.off.gz"), packed) << threads;
    EXPECT_EQ(FileBytes(folder.path() / "a.off").text(), plain) << threads;
    EXPECT_EQ(FileBytes(folder.path() / "a.off.gz").text(), plain) << threads;
  }
}

TEST(LargeFiles, NumbersStandBetweenWords) {
  const TemporaryFolder folder;
  for (const char* name : {"a.off", "a.off.gz"}) {
    write_numbers(folder.path() / name);
    for (const int threads : {1, 4}) {
      const FileThreads limit(threads);
      ByteReader reader(folder.path() / name);
      EXPECT_EQ(reader.count("numbers", 4), many);
      reader.line();
      std::vector<std::int32_t> read(many, -1);
      for_each_tuple<std::int32_t>(
          reader, Encoding::big_endian, many,
          [&](std::size_t i, const std::array<std::int32_t, 1>& value) { read[i] = value[0]; });
      for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(read[i], static_cast<std::int32_t>(7 * i));
      EXPECT_EQ(reader.token(), "end");
      EXPECT_TRUE(reader.at_end());
    }
  }
}

TEST(LargeFiles, TheFirstErrorIsReported) {
  const TemporaryFolder folder;
  write_numbers(folder.path() / "a.off");
  for (const int threads : {1, 2, 4}) {
    const FileThreads limit(threads);
    ByteReader reader(folder.path() / "a.off");
    reader.line();
    const auto read = [&] {
      for_each_tuple<std::int32_t>(reader, Encoding::big_endian, many,
                                   [&](std::size_t i, const std::array<std::int32_t, 1>&) {
                                     if (i >= 200'000) reader.fail("number {} is bad", i);
                                   });
    };
    EXPECT_THAT(read, ThrowsMessage<InputError>(HasSubstr("number 200000 is bad")));
  }
}

TEST(LargeFiles, WhatIsMissingAtTheEndIsAnError) {
  const TemporaryFolder folder;
  write_numbers(folder.path() / "a.off");
  const FileThreads limit(4);
  ByteReader reader(folder.path() / "a.off");
  std::vector<char> bytes(4 * many + 100);
  EXPECT_THROW(reader.read(bytes.data(), bytes.size()), InputError);
  ByteReader again(folder.path() / "a.off");
  fs::resize_file(folder.path() / "a.off", many);  // while it is read
  EXPECT_THAT([&] { again.read(bytes.data(), 4 * many); }, ThrowsMessage<InputError>(HasSubstr("in the middle")));
}

TEST(LargeFiles, AWordMayFollowNumbersThatTheBufferHadAlready) {
  const TemporaryFolder folder;
  write_numbers(folder.path() / "a.off");
  const FileThreads limit(4);
  ByteReader reader(folder.path() / "a.off");
  const std::size_t header = reader.line()->size() + 1;
  EXPECT_EQ(reader.peek(4 * many + 100).size(), 4 * many + 3) << "all of the file is in the buffer";
  std::vector<char> bytes(4 * many);
  reader.read(bytes.data(), bytes.size());
  EXPECT_EQ(std::string_view(bytes.data(), bytes.size()), content_of(folder.path() / "a.off").substr(header, 4 * many));
  EXPECT_EQ(reader.token(), "end");
}

Dataset cube() {
  TetMesh mesh = generate_cube({.nx = 40, .ny = 40, .nz = 40});
  Dataset dataset;
  std::vector<float> numbers(mesh.element_count());
  std::iota(numbers.begin(), numbers.end(), 0.5F);
  restore_mesh(dataset, std::move(mesh));
  dataset.tets.data.set({"numbers", 1, std::move(numbers)});
  return dataset;
}

TEST(LargeFiles, MeshesComeBackWithAnyNumberOfThreads) {
  const TemporaryFolder folder;
  Dataset mesh = cube();
  for (const bool with_line : {false, true}) {
    if (with_line) mesh.lines.push_back({VertexId(0), VertexId(1), VertexId(2)});  // cells differ in their corners
    for (const char* name : {"a.vtk", "a.vtu", "a.vtk.gz"}) {
      const fs::path path = folder.path() / name;
      std::string first;
      for (const int threads : {1, 3}) {
        const FileThreads limit(threads);
        write_dataset(path, mesh, Overwrite::yes);
        if (first.empty()) first = content_of(path);
        EXPECT_EQ(content_of(path), first) << name;
        const Dataset read = read_dataset(path);
        EXPECT_EQ(read.points, mesh.points) << name;
        EXPECT_EQ(read.tets.cells, mesh.tets.cells) << name;
        EXPECT_EQ(read.lines, mesh.lines) << name;
        const DataArray* numbers = read.tets.data.find("numbers");
        ASSERT_NE(numbers, nullptr) << name;
        EXPECT_EQ(numbers->values, mesh.tets.data.find("numbers")->values) << name;
      }
    }
  }
}

TEST(LargeFiles, TheFirstBadIdIsReported) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.vtk";
  write_dataset(path, cube(), Overwrite::no);
  std::string bytes = content_of(path);
  const std::size_t cells = bytes.find('\n', bytes.find("\nCELLS ") + 1) + 1;
  const auto spoil = [&](std::size_t cell, std::string_view id) { bytes.replace(cells + 20 * cell + 8, 4, id); };
  spoil(300'000, {"\0\1\0\0", 4});
  folder.put("a.vtk", bytes);
  for (const int threads : {1, 4}) {
    const FileThreads limit(threads);
    EXPECT_THAT([&] { static_cast<void>(read_dataset(path)); },
                ThrowsMessage<InputError>(HasSubstr("cell 300000 refers to point 65536")));
  }
  spoil(150'000, "\xff\xff\xff\xfe");
  folder.put("a.vtk", bytes);
  for (const int threads : {1, 4}) {
    const FileThreads limit(threads);
    EXPECT_THAT([&] { static_cast<void>(read_dataset(path)); },
                ThrowsMessage<InputError>(HasSubstr("cell 150000 refers to point -2")));
  }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
