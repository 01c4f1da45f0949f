#include "isochron/io/bytes.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

#include <zlib.h>

namespace isochron {
namespace {

/// Readers are many and take no options; each reads on the thread that asked.
thread_local UnpackLimit* current = nullptr;

constexpr std::array<std::int8_t, 256> base64_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int8_t>(i);
  return values;
}

[[noreturn]] void unreadable(const std::filesystem::path& path, std::string_view why) {
  bad_file(path, "cannot be read ({}); check the file and its permissions", why);
}

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
constexpr std::size_t zlib_bytes = std::size_t{1} << 17;  // its own buffer
constexpr std::size_t longest_word = std::size_t{1} << 28;

}  // namespace

UnpackLimit::UnpackLimit(std::uint64_t max_bytes) : max_(max_bytes), left_(max_bytes), outer_(current) {
  current = this;
}

UnpackLimit::~UnpackLimit() { current = outer_; }

std::uint64_t UnpackLimit::left() {
  return current == nullptr ? std::numeric_limits<std::uint64_t>::max() : current->left_;
}

void UnpackLimit::require(std::uint64_t bytes, const std::filesystem::path& path) {
  if (bytes > left())
    throw UnpackedTooLarge(
        fmt::format("unpacks to more than {} bytes (no more are allowed); give a smaller file", current->max_),
        path.string());
}

void UnpackLimit::take(std::uint64_t bytes, const std::filesystem::path& path) {
  require(bytes, path);
  if (current != nullptr) current->left_ -= bytes;
}

std::string unpacked(std::string_view packed, std::size_t expected, const std::filesystem::path& path) {
  constexpr std::string_view too_short = "the compressed data is too short for what the file announces";
  if (expected / max_deflate_gain > packed.size()) damaged_file(path, "{}", too_short);
  UnpackLimit::take(expected, path);
  z_stream stream{};
  constexpr int zlib_or_gzip = 15 + 32;
  if (inflateInit2(&stream, zlib_or_gzip) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> end(&stream, inflateEnd);
  std::string result(expected, '\0');
  std::size_t taken = 0, made = 0;
  while (made < expected) {  // zlib counts in 32 bits
    const auto piece = [](std::size_t left) { return static_cast<uInt>(std::min<std::size_t>(left, 1U << 30U)); };
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = piece(packed.size() - taken);
    stream.next_out = reinterpret_cast<Bytef*>(result.data() + made);
    stream.avail_out = piece(expected - made);
    const uInt room = stream.avail_out, input = stream.avail_in;
    const int code = inflate(&stream, Z_NO_FLUSH);
    taken += input - stream.avail_in;
    made += room - stream.avail_out;
    if (code == Z_STREAM_END || code == Z_BUF_ERROR) break;  // nothing more to be had
    if (code != Z_OK) damaged_file(path, "the compressed data is damaged");
  }
  if (made < expected) damaged_file(path, "{}", too_short);
  return result;
}

std::string from_base64(std::string_view text, const std::filesystem::path& path) {
  static constexpr auto values = base64_values();
  std::string result;
  result.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    if (is_blank(c)) continue;
    const std::int8_t value = values[static_cast<unsigned char>(c)];
    if (value < 0) damaged_file(path, "the base64 data has other characters in it");
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    result += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xffU);
  }
  return result;
}

FileBytes::FileBytes(const std::filesystem::path& path) {
  require_file(path);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const std::size_t known = error ? 0 : static_cast<std::size_t>(size);
  const std::unique_ptr<gzFile_s, decltype(&gzclose_r)> file(gzopen(path.c_str(), "rb"), gzclose_r);
  if (!file) unreadable(path, std::strerror(errno));
  gzbuffer(file.get(), static_cast<unsigned>(error ? zlib_bytes : std::clamp<std::size_t>(known, 4096, zlib_bytes)));
  const bool packed = gzdirect(file.get()) == 0;
  // One more than is allowed, or than a plain file has, so that it is seen without growing.
  const std::uint64_t limit = packed ? UnpackLimit::left() : std::numeric_limits<std::uint64_t>::max();
  const std::size_t max_size = std::min<std::uint64_t>(limit, std::numeric_limits<std::size_t>::max() - 1) + 1;
  std::size_t capacity = std::min(packed ? 4 * known + 4096 : known + 1, max_size);
  resize(capacity);
  for (;;) {
    errno = 0;
    const std::size_t room = std::min<std::size_t>(capacity - size_, 1 << 30);
    const int got = gzread(file.get(), data_.get() + size_, static_cast<unsigned>(room));
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      if (!packed) unreadable(path, std::strerror(errno));
      bad_file(path, "damaged gzip data ({}); copy or compress it again",
               code == Z_BUF_ERROR ? "it ends early" : message);
    }
    if (got == 0) break;
    if (packed) UnpackLimit::take(static_cast<std::uint64_t>(got), path);
    size_ += static_cast<std::size_t>(got);
    if (size_ == capacity) resize(capacity = std::min(2 * capacity + 4096, max_size));
  }
  if (size_ == 0) bad_file(path, "is empty (0 bytes inside); export it again");
  if (packed) resize(size_);
}

void FileBytes::resize(std::size_t capacity) {
  void* grown = std::realloc(data_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(static_cast<char*>(grown));
}

ByteReader::ByteReader(const std::filesystem::path& path) : path_(path) {
  require_file(path);
  std::error_code error;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, error);
  const std::uint64_t known = error ? chunk_bytes : std::max<std::uint64_t>(file_bytes, 4096);
  // Small files have small buffers. Nothing may be thrown once the file is open: it would stay so.
  buffer_.resize(std::min<std::uint64_t>(known, chunk_bytes));
  file_ = gzopen(path.c_str(), "rb");
  if (file_ == nullptr) bad_file(path, "cannot be opened ({}); check its permissions", std::strerror(errno));
  gzbuffer(file_, static_cast<unsigned>(std::min<std::uint64_t>(known, zlib_bytes)));
  packed_ = gzdirect(file_) == 0;
  max_bytes_ = error ? ~std::uint64_t{0} : packed_ ? file_bytes * max_deflate_gain : file_bytes;
}

ByteReader::~ByteReader() { gzclose_r(file_); }

bool ByteReader::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    taken_ += begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const int got = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  int code = Z_OK;
  const char* message = gzerror(file_, &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    if (code == Z_ERRNO) bad_file(path_, "cannot be read ({}); check the disk", std::strerror(errno));
    fail("the compressed data is damaged ({})", code == Z_BUF_ERROR ? "it ends too early" : message);
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
  std::size_t length = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const void* found = std::memchr(start + length, '\n', end_ - begin_ - length);
    length = found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : end_ - begin_;
    if (found == nullptr && length > longest_word) fail("a line does not end");
    if (found != nullptr || !fill()) break;
  }
  std::string_view text(buffer_.data() + begin_, length);
  begin_ = std::min(begin_ + length + 1, end_);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

std::string_view ByteReader::token() {
  for (;;) {
    while (begin_ < end_ && is_blank(buffer_[begin_])) ++begin_;
    if (begin_ < end_ || !fill()) break;
  }
  std::size_t length = 0;
  for (;;) {
    while (begin_ + length < end_ && !is_blank(buffer_[begin_ + length])) ++length;
    if (begin_ + length < end_) break;
    if (length > longest_word) fail("a word does not end");
    if (!fill()) break;
  }
  const std::string_view word(buffer_.data() + begin_, length);
  begin_ += length;
  return word;
}

void ByteReader::require_end(std::string_view what, std::size_t count) {
  if (!token().empty()) fail("more follows than the {} that are announced ({})", what, count);
}

std::string_view ByteReader::require_token(std::string_view what) {
  const std::string_view word = token();
  if (word.empty()) fail("the file ends where {} should be", what);
  return word;
}

double ByteReader::real(std::string_view what) {
  const std::string_view word = require_token(what);
  const auto value = parse_real(word);
  if (!value) fail("{} where {} should be", in_quotes(word), what);
  return *value;
}

std::int64_t ByteReader::integer(std::string_view what) {
  const std::string_view word = require_token(what);
  if (const auto value = parse_number<std::int64_t>(without_plus(word))) return *value;
  // Some programs write whole numbers as "3.0" or "1e5".
  const auto real = parse_real(word);
  const auto value = real ? converted<std::int64_t>(*real) : std::nullopt;
  if (!value) fail("{} where {} should be", in_quotes(word), what);
  return *value;
}

std::size_t ByteReader::count(std::string_view what, std::size_t min_bytes) {
  const std::int64_t value = integer(what);
  if (value < 0) fail("{} is negative ({})", what, value);
  require_room(static_cast<std::size_t>(value), min_bytes);
  return static_cast<std::size_t>(value);
}

void ByteReader::require_room(std::size_t items, std::size_t min_bytes) {
  const std::uint64_t used = taken_ + begin_;
  // One byte more: the last word of a text file needs no white space behind it.
  const std::uint64_t left = (max_bytes_ > used ? max_bytes_ - used : 0) + 1;
  if (min_bytes > 0 && items > left / min_bytes)
    fail("the file is too short for what it announces at byte {} (items: {})", used, items);
  const std::uint64_t buffered = end_ - begin_;  // these are counted already
  const std::uint64_t needed = items * min_bytes;
  if (packed_ && needed > buffered) UnpackLimit::require(needed - buffered, path_);
}

void ByteReader::read(void* to, std::size_t bytes) {
  for (char* target = static_cast<char*>(to); bytes > 0;) {
    if (at_end()) fail("the file ends in the middle of its data, at byte {}", taken_ + begin_);
    const std::size_t part = std::min(bytes, end_ - begin_);
    if (target != nullptr) target = std::copy_n(buffer_.data() + begin_, part, target);
    begin_ += part;
    bytes -= part;
  }
}

ByteWriter::ByteWriter(const OutputFile& file) : target_(file.target) {
  errno = 0;
  file_ = gzopen(file.where.c_str(), FileName(file.target).compressed() ? "wbe" : "wbTe");
  if (file_ == nullptr) fail(errno);
}

ByteWriter::~ByteWriter() {
  if (file_ != nullptr) gzclose_w(file_);
}

void ByteWriter::fail(int error_number) const {
  const char* remedy = error_number == ENOSPC ? "free some space or write elsewhere" : "check the folder and the disk";
  throw RuntimeError(fmt::format("cannot be written ({}); {}",
                                 error_number != 0 ? std::strerror(error_number) : "unknown reason", remedy),
                     target_.string());
}

void ByteWriter::print_args(fmt::string_view format, fmt::format_args args) {
  fmt::vformat_to(std::back_inserter(buffer_), format, args);
  if (buffer_.size() >= chunk_bytes) flush();
}

void ByteWriter::flush() {
  const auto left = static_cast<unsigned>(buffer_.size());
  errno = 0;
  if (left > 0 && gzwrite(file_, buffer_.data(), left) != static_cast<int>(left)) fail(errno);
  buffer_.clear();
}

void ByteWriter::finish() {
  flush();
  errno = 0;
  if (gzclose_w(std::exchange(file_, nullptr)) != Z_OK) fail(errno);
}

}  // namespace isochron
