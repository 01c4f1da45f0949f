// A whole file in memory, decompressed.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

namespace isochron {

/// Owns a file's bytes.
class FileBytes {
 public:
  /// Reads the file; gzip is recognised by its first two bytes. Throws InputError that begins with the path: missing,
  /// unreadable, a folder, empty, damaged gzip, more than an UnpackLimit allows.
  explicit FileBytes(const std::filesystem::path& path);
  [[nodiscard]] std::string_view text() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  void resize(std::size_t capacity);
  void read_plain(const std::filesystem::path& path, std::FILE* file, std::size_t capacity);
  void read_gzip(const std::filesystem::path& path, std::size_t size);

  std::unique_ptr<char, Free> data_;  // malloc, because realloc grows large blocks without copying
  std::size_t size_ = 0;
};

/// Throws InputError that begins with the path unless it is an existing, non-empty file that is not a folder.
void require_file(const std::filesystem::path& path);

}  // namespace isochron
