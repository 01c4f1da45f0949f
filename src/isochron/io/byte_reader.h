// Reads plain or gzipped files as lines, words or bytes, and turns every surprise into an InputError that names the
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isochron {

/// A forward-only view of one file. Views returned by `peek`, `line` and `token` live until the next call.
class ByteReader {
 public:
  /// Opens the file; gzip is recognised by content. Throws InputError.
  explicit ByteReader(const std::filesystem::path& path);
  ~ByteReader();
  ByteReader(const ByteReader&) = delete;
  ByteReader& operator=(const ByteReader&) = delete;

  [[nodiscard]] bool at_end();
  /// The next bytes without taking them; fewer than `count` only at the end of the file.
  std::string_view peek(std::size_t count);
  /// The rest of the current line without its end ("\n" or "\r\n"); nothing at the end of the file.
  std::optional<std::string_view> line();
  /// The next word between white space; empty at the end of the file.
  std::string_view token();
  /// The same; throws, saying that `what` is missing, at the end of the file.
  std::string_view require_token(std::string_view what);
  /// The next word as a number. Throws, naming `what`.
  double real(std::string_view what);
  std::int64_t integer(std::string_view what);
  /// The next word as a count that the rest of the file can hold, each item taking at least `min_bytes` bytes.
  std::size_t count(std::string_view what, std::size_t min_bytes);
  /// Throws unless the rest of the file can hold `items` of `min_bytes` each, so that a damaged count allocates
  /// nothing.
  void require_room(std::size_t items, std::size_t min_bytes);
  /// Takes exactly `bytes` bytes. Throws when the file ends before.
  void read(void* to, std::size_t bytes);
  void skip(std::size_t bytes);

  /// Throws InputError "path: problem; remedy".
  [[noreturn]] void fail(std::string_view problem) const;
  [[noreturn]] void fail(std::string_view problem, std::string_view remedy) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  bool fill();  ///< Reads more behind what is there; false at the end of the file.
  double parse_real(std::string_view word, std::string_view what) const;

  std::filesystem::path path_;
  void* file_ = nullptr;  // a gzFile
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t taken_ = 0;      // bytes that have left the buffer's front
  std::uint64_t max_bytes_ = 0;  // the file cannot unpack to more
  bool packed_ = false;
};

}  // namespace isochron
