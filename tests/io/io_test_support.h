// Folders that vanish, small data sets, and comparing what was read with what was written.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "isochron/error.h"
#include "isochron/io.h"

namespace isochron::test {

namespace fs = std::filesystem;

/// An empty folder for one test, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> counter{0};
    folder_ =
        fs::temp_directory_path() / ("isochron_io_" + std::to_string(::getpid()) + "_" + std::to_string(counter++));
    fs::create_directories(folder_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return folder_; }
  /// Writes a file; the second one returns its path.
  void put(const std::string& name, const std::string& content) const {
    fs::remove(folder_ / name);  // some file systems wait for the disk when a file is overwritten
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] fs::path file(const std::string& name, const std::string& content) const {
    put(name, content);
    return folder_ / name;
  }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  fs::path folder_;
};

inline std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::array<VertexId, 3> triangle(std::size_t a, std::size_t b, std::size_t c) {
  return {VertexId(a), VertexId(b), VertexId(c)};
}
inline std::array<VertexId, 4> tet(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  return {VertexId(a), VertexId(b), VertexId(c), VertexId(d)};
}

/// Six points with awkward numbers, two tetrahedra, three triangles, two lines; no arrays.
inline Dataset mixed_mesh() {
  Dataset d;
  d.points = {{0, 0, 0}, {1, 0, 0}, {0, 1.0 / 3, 0}, {0, 0, 1e-300}, {-2.5e17, 0.1, 3}, {7, 8, 9.000000000000002}};
  d.tets.cells = {tet(0, 1, 2, 3), tet(5, 4, 3, 2)};
  d.triangles.cells = {triangle(0, 1, 2), triangle(5, 1, 0), triangle(3, 4, 5)};
  d.lines = {{VertexId(0), VertexId(5)}, {VertexId(2), VertexId(3)}};
  return d;
}

/// The same without the tetrahedra, which some formats refuse.
inline Dataset surface_mesh() {
  Dataset d = mixed_mesh();
  d.tets = {};
  return d;
}

/// The InputError message that `read` ends with; a failure when there is none, or when it is not one line that starts
/// with the path.
template <class Read>
std::string input_error(const fs::path& named_in_message, Read&& read) {
  try {
    static_cast<void>(read());
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(named_in_message.string() + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << named_in_message << " was read without an error";
  return "";
}
inline std::string reading_error(const fs::path& path, const fs::path& named_in_message) {
  return input_error(named_in_message, [&] { return read_dataset(path); });
}
inline std::string reading_error(const fs::path& path) { return reading_error(path, path); }

/// Reading must succeed or end with an InputError, one line about a file in the folder. Returns whether it succeeded.
template <class Read>
bool expect_read_or_refused(const fs::path& folder, Read&& read) {
  try {
    read();
    return true;
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(folder.string())) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  return false;
}

/// What reading a file of this name and content gives, or the error that it ends with.
inline Dataset read_content(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return read_dataset(folder.file(name, content));
}
inline std::string content_error(const std::string& name, const std::string& content) {
  const TemporaryFolder folder;
  return reading_error(folder.file(name, content));
}
/// A file's content, and a part of the message that it is refused with.
struct Refused {
  std::string content, message;
};
inline void expect_refused(const std::string& name, std::initializer_list<Refused> cases) {
  for (const Refused& one : cases)
    EXPECT_THAT(content_error(name, one.content), testing::HasSubstr(one.message)) << one.content;
}
/// What comes back of a data set that was written under this name.
inline Dataset write_and_read(const std::string& name, const Dataset& dataset) {
  const TemporaryFolder folder;
  write_dataset(folder.path() / name, dataset, Overwrite::no);
  return read_dataset(folder.path() / name);
}

/// All values of an array, tuple after tuple.
inline std::vector<double> values_of(const DataArray& array) {
  std::vector<double> values;
  for (std::size_t i = 0; i < array.tuple_count(); ++i)
    for (int k = 0; k < array.components; ++k) values.push_back(array.at(i, k));
  return values;
}

inline void expect_same_array(const DataArray& expected, const DataArrays& arrays) {
  const DataArray* actual = arrays.find(expected.name);
  ASSERT_NE(actual, nullptr) << expected.name;
  ASSERT_EQ(actual->components, expected.components) << expected.name;
  ASSERT_EQ(actual->tuple_count(), expected.tuple_count()) << expected.name;
  for (std::size_t i = 0; i < expected.tuple_count(); ++i)
    for (int k = 0; k < expected.components; ++k)
      EXPECT_EQ(actual->at(i, k), expected.at(i, k)) << expected.name << " tuple " << i;
}

inline void expect_same_arrays(const DataArrays& expected, const DataArrays& actual) {
  for (const DataArray& array : expected.all()) expect_same_array(array, actual);
}

}  // namespace isochron::test
