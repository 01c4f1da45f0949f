// Writes plain or gzipped files; a full disk is a RuntimeError, never a short file taken for a whole one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isochron/io/text_sink.h"

namespace isochron {

/// A buffered output file. Call `finish` at the end: only then is everything known to be written.
class ByteWriter {
 public:
  /// Opens `file.where`, gzipped when the target's name asks for it (".gz", ".mgz"). Throws RuntimeError; messages
  /// begin with the target.
  explicit ByteWriter(const OutputFile& file);
  ~ByteWriter();
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  void write(const void* bytes, std::size_t count);
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print_args(format, fmt::make_format_args(args...));
  }
  /// Flushes and closes.
  void finish();

 private:
  void print_args(fmt::string_view format, fmt::format_args args);  // not a template, as in TextSink
  void flush();
  [[noreturn]] void fail(int error_number) const;

  std::filesystem::path target_;
  void* file_ = nullptr;  // a gzFile
  std::vector<char> buffer_;
  std::string text_;
};

}  // namespace isochron
