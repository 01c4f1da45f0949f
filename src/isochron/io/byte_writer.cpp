#include "isochron/io/byte_writer.h"

#include <cerrno>
#include <cstring>
#include <iterator>

#include <zlib.h>

#include "isochron/core/error.h"
#include "isochron/io/file_name.h"

namespace isochron {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

gzFile as_gz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

ByteWriter::ByteWriter(const OutputFile& file) : target_(file.target) {
  buffer_.reserve(chunk_bytes);
  errno = 0;
  file_ = gzopen(file.where.c_str(), FileName(file.target).compressed() ? "wb" : "wbT");
  if (file_ == nullptr) fail(errno);
}

ByteWriter::~ByteWriter() {
  if (file_ != nullptr) gzclose_w(as_gz(file_));
}

void ByteWriter::fail(int error_number) const {
  const char* remedy = error_number == ENOSPC ? "free some space or write elsewhere" : "check the folder and the disk";
  throw RuntimeError(fmt::format("{}: cannot be written ({}); {}", target_.string(),
                                 error_number != 0 ? std::strerror(error_number) : "unknown reason", remedy));
}

void ByteWriter::flush() {
  const char* from = buffer_.data();
  std::size_t left = buffer_.size();
  errno = 0;
  if (left > 0 && gzwrite(as_gz(file_), from, static_cast<unsigned>(left)) != static_cast<int>(left)) fail(errno);
  buffer_.clear();
}

void ByteWriter::write(const void* bytes, std::size_t count) {
  const char* from = static_cast<const char*>(bytes);
  while (count > 0) {
    const std::size_t part = std::min(count, chunk_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), from, from + part);
    from += part;
    count -= part;
    if (buffer_.size() == chunk_bytes) flush();
  }
}

void ByteWriter::print_args(fmt::string_view format, fmt::format_args args) {
  text_.clear();
  fmt::vformat_to(std::back_inserter(text_), format, args);
  write(text_.data(), text_.size());
}

void ByteWriter::finish() {
  flush();
  void* file = file_;
  file_ = nullptr;
  errno = 0;
  if (gzclose_w(as_gz(file)) != Z_OK) fail(errno);
}

}  // namespace isochron
