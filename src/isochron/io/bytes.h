// The bytes of files, plain or compressed: whole, as a stream, and written. Compressed data is unpacked here and in
// packed_blocks alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isochron/io/file.h"
#include "isochron/io/printed_text.h"
#include "isochron/io/text.h"

struct gzFile_s;  // zlib's

namespace isochron {

/// A file unpacks to more than the limit that is set.
class UnpackedTooLarge : public InputError {
 public:
  using InputError::InputError;
};

/// While one lives, this thread reads no more than so many bytes out of compressed files, all of them together: a few
/// kilobytes can stand for gigabytes. What is more is refused before there is memory for it. Of several that live the
/// last one counts.
class UnpackLimit {
 public:
  explicit UnpackLimit(std::uint64_t max_bytes);
  ~UnpackLimit();
  UnpackLimit(const UnpackLimit&) = delete;
  UnpackLimit& operator=(const UnpackLimit&) = delete;

  /// How many bytes may still be unpacked; the largest number where no limit is set.
  static std::uint64_t left();
  /// Throws UnpackedTooLarge about the file when so many more are too many.
  static void require(std::uint64_t bytes, const std::filesystem::path& path);
  /// The same, and counts them.
  static void take(std::uint64_t bytes, const std::filesystem::path& path);

 private:
  std::uint64_t max_;
  std::uint64_t left_;
  UnpackLimit* outer_;
};

/// An open file; it is closed when this goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { static_cast<void>(close()); }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// Returns 0 or errno.
  int close();

 private:
  int number_ = -1;
};

/// The bytes of base64 text, in which white space does not count. Throws InputError about the file.
std::string from_base64(std::string_view text, const std::filesystem::path& path);

/// Takes `count` of several items, which are at `bytes`; `first` are before them.
using TakeItems = std::function<void(std::size_t first, std::size_t count, const char* bytes)>;
/// Gives items of so many bytes that are in memory to `take`, in stretches. Several threads call it at once.
void take_items(std::string_view bytes, std::size_t item_bytes, const TakeItems& take);
/// Where `count` of several bytes go; `first` are before them.
using PlaceOfBytes = std::function<char*(std::size_t first, std::size_t count)>;

/// A whole file in memory, decompressed.
class FileBytes {
 public:
  enum class Fetch { all, asked };

  /// Reads the file; gzip is recognised by its first two bytes. Throws InputError: missing, unreadable, a folder,
  /// empty, damaged gzip, more than an UnpackLimit allows. Where only what is asked for is fetched, bytes must not be
  /// looked at before.
  explicit FileBytes(const std::filesystem::path& path, Fetch fetch = Fetch::all);
  [[nodiscard]] std::string_view text() const { return {data_.get(), size_}; }
  /// Reads a part of the text, unless all is there already. Throws InputError.
  void fetch(std::string_view part) const;
  /// Gives a part of the text, which need not be fetched and is not kept, to `take(first, count, bytes)`: stretches of
  /// items of so many bytes. Several threads call it at once; of several errors that of the first stretch is rethrown.
  void read_items(std::string_view part, std::size_t item_bytes, const TakeItems& take) const;
  /// The same for bytes that are put where `place` says.
  void read_to(std::string_view part, const PlaceOfBytes& place) const;
  /// The same for a part that is put at `to`, on this thread.
  void read_part(std::string_view part, char* to) const;
  /// Gives the memory of a part back that was fetched, where it can be fetched again.
  void forget(std::string_view part) const;
  /// Throws InputError when the file was written to since it was opened. Another one may have got its name.
  void require_unchanged() const;

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  void resize(std::size_t capacity);
  void read_at(std::size_t place, char* to, std::size_t bytes) const;
  void read_packed(const std::filesystem::path& path, gzFile_s& file, std::uint64_t file_bytes);

  std::unique_ptr<char, Free> data_;  // malloc, because realloc grows large blocks without copying
  std::size_t size_ = 0;
  Descriptor plain_;            // open where parts are fetched
  FileIdentity opened_;         // likewise
  std::filesystem::path path_;  // likewise
};

/// A line or word of so many bytes is refused: binary data has no end of lines.
inline constexpr std::size_t longest_word = std::size_t{1} << 28;

/// A forward-only view of one file as lines, words or bytes. Views returned by `peek`, `line` and `token` live until
/// the next call. Every surprise is an InputError about the file.
class ByteReader {
 public:
  /// Opens the file; gzip is recognised by content.
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
  std::string_view require_token(std::string_view what) { return required(token(), what); }
  /// The next word as a number. Throws, naming `what`.
  double real(std::string_view what) { return real_of(token(), what); }
  std::int64_t integer(std::string_view what) { return integer_of(token(), what); }
  /// A word as a number; an empty one stands for the end of the file. Throws, naming `what`.
  [[nodiscard]] double real_of(std::string_view word, std::string_view what) const;
  [[nodiscard]] std::int64_t integer_of(std::string_view word, std::string_view what) const;
  /// The next word as a count that the rest of the file can hold, each item taking at least `min_bytes` bytes.
  std::size_t count(std::string_view what, std::size_t min_bytes);
  /// Throws unless the rest of the file can hold `items` of `min_bytes` each, so that a damaged count allocates
  /// nothing.
  void require_room(std::size_t items, std::size_t min_bytes);
  /// Throws where a word follows the `count` things that the file announces.
  void require_end(std::string_view what, std::size_t count);
  /// Takes exactly `bytes` bytes, to nowhere if `to` is null. Throws when the file ends before. Many are read by
  /// several threads.
  void read(void* to, std::size_t bytes);
  /// Takes so many bytes to where `place` says for stretches of them; several threads ask at once.
  void read_to(std::size_t bytes, const PlaceOfBytes& place);
  /// Takes `items` of so many bytes. `take(first, count, bytes)` gets stretches of them; where the file is not packed,
  /// several threads call it at once. If several calls throw, the error of the first stretch is rethrown.
  void read_items(std::size_t items, std::size_t item_bytes, const TakeItems& take);
  void skip(std::size_t bytes) { read(nullptr, bytes); }

  /// Throws InputError: the file may be damaged.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> problem, Args&&... args) const {
    damaged_file(path_, problem, std::forward<Args>(args)...);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::string_view required(std::string_view word, std::string_view what) const;
  bool fill();  ///< Reads more behind what is there; false at the end of the file.
  std::size_t read_more(char* to, std::size_t bytes);
  /// The next bytes are taken without the buffer: their place in the file.
  std::uint64_t pass_over(std::uint64_t bytes);
  void read_at(std::uint64_t place, char* to, std::size_t bytes) const;

  std::filesystem::path path_;
  Descriptor plain_;          // open where the file is not packed
  gzFile_s* file_ = nullptr;  // else
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::uint64_t taken_ = 0;      // bytes that have left the buffer's front
  std::uint64_t max_bytes_ = 0;  // the file cannot unpack to more
  bool packed_ = false;
};

/// A buffered output file, of bytes or text; gzipped files are several members behind one another, each packed by
/// itself. Call `finish` at the end: only then is everything known to be written. A full disk is a RuntimeError about
/// the target, never a short file taken for a whole one.
class ByteWriter {
 public:
  /// Opens `file.where`, gzipped when the target's name asks for it (".gz", ".mgz").
  explicit ByteWriter(const OutputFile& file);
  /// Writes behind what is in `memory` instead.
  explicit ByteWriter(std::string& memory) : memory_(&memory), packed_(false) {}

  void write(const void* bytes, std::size_t count) {
    if (count >= chunk_bytes) return write_large(static_cast<const char*>(bytes), count);
    buffer_.append(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + count);
    if (buffer_.size() >= chunk_bytes) flush();
  }
  void write(std::string_view bytes) { write(bytes.data(), bytes.size()); }
  /// Writes `items` of so many bytes, which `make(first, count, to)` fills in; several threads call it at once.
  using MakeItems = std::function<void(std::size_t first, std::size_t count, char* to)>;
  void write_items(std::size_t items, std::size_t item_bytes, const MakeItems& make);
  /// Writes the text of `rows` rows, which `print(first, count, text)` makes; several threads call it at once.
  using PrintRows = std::function<void(std::size_t first, std::size_t count, PrintedText& text)>;
  void print_rows(std::size_t rows, const PrintRows& print);
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    print_args(format, fmt::make_format_args(args...));
  }
  /// Flushes and closes.
  void finish();

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  // Not a template: fmt's whole formatting engine would be compiled again with every writer.
  void print_args(fmt::string_view format, fmt::format_args args);
  void write_large(const char* bytes, std::size_t count);
  void put(std::string_view bytes);  ///< to the file, as they are
  void flush();
  [[noreturn]] void fail(int error_number) const;

  std::filesystem::path target_;
  Descriptor file_;
  std::string* memory_ = nullptr;  // where there is no file
  bool packed_;
  bool empty_ = true;  // nothing is in the file yet
  fmt::memory_buffer buffer_;
};

}  // namespace isochron
