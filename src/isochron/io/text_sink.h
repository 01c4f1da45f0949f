// Buffered text output, compressed when the name asks for it.
#pragma once

#include <filesystem>

#include <fmt/format.h>

namespace isochron {

/// A file to be written: the name the user knows, and the temporary place where it is written first.
struct OutputFile {
  std::filesystem::path target;
  std::filesystem::path where;
};

/// Writes formatted text to `file.where`, gzipped when the target's name ends in ".gz". Throws RuntimeError (full disk,
/// no permission) that begins with the target's name.
class TextSink {
 public:
  explicit TextSink(const OutputFile& file);
  ~TextSink();
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print_args(format, fmt::make_format_args(args...));
  }
  /// Must be called last: errors can show as late as here.
  void close();

 private:
  // Not a template: fmt's whole formatting engine would be compiled again with every writer.
  void print_args(fmt::string_view format, fmt::format_args args);
  static constexpr std::size_t flush_size = 1 << 16;
  void flush();
  [[noreturn]] void failed(int code) const;

  std::filesystem::path target_;
  fmt::memory_buffer buffer_;
  int descriptor_ = -1;
  void* gzip_ = nullptr;  // a gzFile
};

}  // namespace isochron
