#include "isochron/io/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include <fmt/format.h>
#include <zlib.h>

#include "isochron/core/error.h"
#include "isochron/io/unpack_limit.h"

namespace isochron {
namespace {

[[noreturn]] void unreadable(const std::filesystem::path& path, std::string_view why) {
  throw InputError(fmt::format("{}: cannot be read ({}); check the file and its permissions", path.string(), why));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};

}  // namespace

void require_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw InputError(fmt::format("{}: no such file (nothing has this name); check the path", path.string()));
  }
  if (error) unreadable(path, error.message());
  if (std::filesystem::is_directory(status)) {
    throw InputError(fmt::format("{}: is a folder (a file was expected); name the file in it", path.string()));
  }
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) == 0) {
    throw InputError(fmt::format("{}: is empty (0 bytes); copy or export it again", path.string()));
  }
}

FileBytes::FileBytes(const std::filesystem::path& path) {
  require_file(path);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const std::size_t known = error ? 0 : static_cast<std::size_t>(size);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) unreadable(path, std::strerror(errno));
  char magic[2];
  const std::size_t got = std::fread(magic, 1, sizeof(magic), file.get());
  if (got == 2 && magic[0] == '\x1f' && magic[1] == '\x8b') {
    read_gzip(path, known);
  } else {
    resize(std::max<std::size_t>(known, got) + 1);  // one more, so that the end is seen without growing
    std::memcpy(data_.get(), magic, got);
    size_ = got;
    read_plain(path, file.get(), std::max<std::size_t>(known, got) + 1);
  }
  if (size_ == 0) throw InputError(fmt::format("{}: is empty (0 bytes inside); export it again", path.string()));
}

void FileBytes::resize(std::size_t capacity) {
  void* grown = std::realloc(data_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(static_cast<char*>(grown));
}

void FileBytes::read_plain(const std::filesystem::path& path, std::FILE* file, std::size_t capacity) {
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(data_.get() + size_, 1, capacity - size_, file);
    size_ += got;
    if (std::ferror(file) != 0) unreadable(path, std::strerror(errno));
    if (std::feof(file) != 0 || got == 0) return;
    if (size_ == capacity) resize(capacity = 2 * capacity + 4096);
  }
}

void FileBytes::read_gzip(const std::filesystem::path& path, std::size_t size) {
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) unreadable(path, std::strerror(errno));
  gzbuffer(file.get(), 1 << 17);
  // One more than is allowed, so that it is seen.
  const std::size_t most =
      std::min<std::uint64_t>(UnpackLimit::left(), std::numeric_limits<std::size_t>::max() - 1) + 1;
  std::size_t capacity = std::min(4 * size + 4096, most);
  resize(capacity);
  for (;;) {
    const std::size_t room = std::min<std::size_t>(capacity - size_, 1 << 30);
    const int got = gzread(file.get(), data_.get() + size_, static_cast<unsigned>(room));
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      throw InputError(fmt::format("{}: damaged gzip data ({}); copy or compress it again", path.string(),
                                   code == Z_BUF_ERROR ? "it ends early" : message));
    }
    if (got == 0) break;
    UnpackLimit::take(static_cast<std::uint64_t>(got), path);
    size_ += static_cast<std::size_t>(got);
    if (size_ == capacity) resize(capacity = std::min(2 * capacity, most));
  }
  if (size_ > 0) resize(size_);
}

}  // namespace isochron
