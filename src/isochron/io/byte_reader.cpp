#include "isochron/io/byte_reader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <zlib.h>

#include "isochron/core/error.h"
#include "isochron/io/file_bytes.h"
#include "isochron/io/packed_bytes.h"
#include "isochron/io/text_scanner.h"
#include "isochron/io/unpack_limit.h"

namespace isochron {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_word = std::size_t{1} << 28;
constexpr std::string_view damaged = "the file may be cut short or damaged, get or write it again";

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

gzFile as_gz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

ByteReader::ByteReader(const std::filesystem::path& path) : path_(path), buffer_(chunk_bytes) {
  require_file(path);
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  file_ = gzopen(path.c_str(), "rb");
  if (file_ == nullptr) fail(fmt::format("cannot be opened ({})", std::strerror(errno)), "check its permissions");
  gzbuffer(as_gz(file_), 1 << 17);
  packed_ = gzdirect(as_gz(file_)) == 0;
  max_bytes_ = error ? ~std::uint64_t{0} : packed_ ? file_bytes * max_deflate_gain : file_bytes;
}

ByteReader::~ByteReader() {
  if (file_ != nullptr) gzclose_r(as_gz(file_));
}

void ByteReader::fail(std::string_view problem) const { fail(problem, damaged); }

void ByteReader::fail(std::string_view problem, std::string_view remedy) const {
  throw InputError(fmt::format("{}: {}; {}", path_.string(), problem, remedy));
}

bool ByteReader::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    taken_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const int got = gzread(as_gz(file_), buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  int code = Z_OK;
  const char* message = gzerror(as_gz(file_), &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    if (code == Z_ERRNO) fail(fmt::format("cannot be read ({})", std::strerror(errno)), "check the disk");
    fail(fmt::format("the compressed data is damaged ({})", code == Z_BUF_ERROR ? "it ends too early" : message));
  }
  if (packed_) UnpackLimit::take(static_cast<std::uint64_t>(got), path_);
  end_ += static_cast<std::size_t>(got);
  ended_ = got == 0;
  return !ended_;
}

bool ByteReader::at_end() { return begin_ == end_ && !fill(); }

std::string_view ByteReader::peek(std::size_t count) {
  while (end_ - begin_ < count && fill()) {
  }
  return {buffer_.data() + begin_, std::min(count, end_ - begin_)};
}

std::optional<std::string_view> ByteReader::line() {
  if (at_end()) return std::nullopt;
  std::size_t searched = 0;
  std::size_t length = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const void* found = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    if (found != nullptr) {
      length = static_cast<std::size_t>(static_cast<const char*>(found) - start);
      break;
    }
    searched = end_ - begin_;
    if (searched > longest_word) fail("a line does not end");
    if (!fill()) {
      length = searched;
      break;
    }
  }
  std::string_view text(buffer_.data() + begin_, length);
  begin_ = std::min(begin_ + length + 1, end_);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string_view ByteReader::token() {
  for (;;) {
    while (begin_ < end_ && is_space(buffer_[begin_])) ++begin_;
    if (begin_ < end_ || !fill()) break;
  }
  std::size_t length = 0;
  for (;;) {
    while (begin_ + length < end_ && !is_space(buffer_[begin_ + length])) ++length;
    if (begin_ + length < end_) break;
    if (length > longest_word) fail("a word does not end");
    if (!fill()) break;
  }
  const std::string_view word(buffer_.data() + begin_, length);
  begin_ += length;
  return word;
}

std::string_view ByteReader::require_token(std::string_view what) {
  const std::string_view word = token();
  if (word.empty()) fail(fmt::format("the file ends where {} should be", what));
  return word;
}

double ByteReader::parse_real(std::string_view word, std::string_view what) const {
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || (code != std::errc() && code != std::errc::result_out_of_range)) {
    fail(fmt::format("{} where {} should be", in_quotes(word), what));
  }
  return value;
}

double ByteReader::real(std::string_view what) { return parse_real(require_token(what), what); }

std::int64_t ByteReader::integer(std::string_view what) {
  const std::string_view word = require_token(what);
  const std::string_view digits = word.starts_with('+') ? word.substr(1) : word;
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size()) return value;
  // Some programs write whole numbers as "3.0" or "1e5".
  const double real_value = parse_real(word, what);
  if (!(real_value > -9.2e18 && real_value < 9.2e18)) fail(fmt::format("{} where {} should be", in_quotes(word), what));
  return static_cast<std::int64_t>(real_value);
}

std::size_t ByteReader::count(std::string_view what, std::size_t min_bytes) {
  const std::int64_t value = integer(what);
  if (value < 0) fail(fmt::format("{} is negative ({})", what, value));
  require_room(static_cast<std::size_t>(value), min_bytes);
  return static_cast<std::size_t>(value);
}

void ByteReader::require_room(std::size_t items, std::size_t min_bytes) {
  const std::uint64_t used = taken_ + begin_;
  // One byte more: the last word of a text file needs no white space behind it.
  const std::uint64_t left = (max_bytes_ > used ? max_bytes_ - used : 0) + 1;
  if (min_bytes > 0 && items > left / min_bytes) {
    fail(fmt::format("the file is too short for what it announces (items: {})", items));
  }
  const std::uint64_t buffered = end_ - begin_;  // these are counted already
  const std::uint64_t needed = items * min_bytes;
  if (packed_ && needed > buffered) UnpackLimit::require(needed - buffered, path_);
}

void ByteReader::read(void* to, std::size_t bytes) {
  char* target = static_cast<char*>(to);
  while (bytes > 0) {
    if (at_end()) fail("the file ends in the middle of its data");
    const std::size_t part = std::min(bytes, end_ - begin_);
    std::memcpy(target, buffer_.data() + begin_, part);
    begin_ += part;
    target += part;
    bytes -= part;
  }
}

void ByteReader::skip(std::size_t bytes) {
  while (bytes > 0) {
    if (at_end()) fail("the file ends in the middle of its data");
    const std::size_t part = std::min(bytes, end_ - begin_);
    begin_ += part;
    bytes -= part;
  }
}

}  // namespace isochron
