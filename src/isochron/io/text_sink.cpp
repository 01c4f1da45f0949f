#include "isochron/io/text_sink.h"

#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "isochron/core/error.h"
#include "isochron/io/file_name.h"

namespace isochron {

TextSink::TextSink(const OutputFile& file) : target_(file.target) {
  descriptor_ = ::open(file.where.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) failed(errno);
  if (!FileName(target_).gzip) return;
  gzip_ = gzdopen(descriptor_, "wb6");
  if (gzip_ == nullptr) {
    ::close(descriptor_);
    failed(ENOMEM);
  }
}

TextSink::~TextSink() {
  if (gzip_ != nullptr) gzclose_w(static_cast<gzFile>(gzip_));
  else if (descriptor_ >= 0) ::close(descriptor_);
}

void TextSink::print_args(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= flush_size) flush();
}

void TextSink::flush() {
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    errno = 0;
    const auto written = gzip_ != nullptr ? gzwrite(static_cast<gzFile>(gzip_), data, static_cast<unsigned>(left))
                                          : ::write(descriptor_, data, left);
    if (written <= 0) {
      if (gzip_ == nullptr && errno == EINTR) continue;
      failed(errno);
    }
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void TextSink::close() {
  flush();
  errno = 0;
  const bool gzip = gzip_ != nullptr;
  const int result = gzip ? gzclose_w(static_cast<gzFile>(gzip_)) : ::close(descriptor_);
  gzip_ = nullptr;
  descriptor_ = -1;
  if (result != 0) failed(errno);
}

void TextSink::failed(int code) const {
  throw RuntimeError(fmt::format("{}: cannot be written ({}); free some space or choose another folder",
                                 target_.string(), code != 0 ? std::strerror(code) : "the system gave no reason"));
}

}  // namespace isochron
