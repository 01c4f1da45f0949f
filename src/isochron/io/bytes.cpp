#include "isochron/io/bytes.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/io/packed_blocks.h"
#include "isochron/io/stretches.h"

namespace isochron {
namespace {

/// Readers are many and take no options; each counts for the thread that asked.
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

/// Gives whole pages of a block of memory back to the system. They hold nothing afterwards, and can be written again.
void give_back_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t page = std::uintptr_t{1} << 16U;  // no page is larger
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (address + page - 1) / page * page, end = (address + bytes) / page * page;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
#endif
}

/// Of an open file: the same while nobody writes to it.
FileIdentity identity_of(const Descriptor& file) {
  struct stat found {};
  if (::fstat(file.number(), &found) != 0) return {};
  return {found.st_ino, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// Repeats a call of the system that a signal interrupted.
template <class Call>
auto uninterrupted(Call&& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// Reads so many bytes from a place of a file. Returns how many there are, less only at its end, or −1.
ssize_t read_at_place(int file, char* to, std::size_t bytes, std::uint64_t place) {
  std::size_t got = 0;
  while (got < bytes) {
    const std::size_t part = std::min<std::size_t>(bytes - got, 1 << 30);
    const auto now = uninterrupted([&] { return ::pread(file, to + got, part, static_cast<off_t>(place + got)); });
    if (now < 0) return -1;
    if (now == 0) break;
    got += static_cast<std::size_t>(now);
  }
  return static_cast<ssize_t>(got);
}

/// How many items one thread takes at a time.
std::size_t stretch_of(std::size_t item_bytes) { return std::max<std::size_t>(1, task_bytes / item_bytes); }

/// Calls `body(first, count)` for stretches of so many items at once, on several threads where it is worth it.
template <class Body>
void for_stretches(std::size_t items, std::size_t item_bytes, Body&& body) {
  const int threads = items * item_bytes < worth_threads ? 1 : usual_threads();
  parallel_stretches(threads, items, stretch_of(item_bytes), body);
}

struct OpenFile {
  Descriptor descriptor;
  std::uint64_t bytes = 0;
  bool plain = false;  ///< a regular file that is not packed
};

/// Opens a file to be read and looks at its first two bytes, which tell gzip.
OpenFile open_to_read(const std::filesystem::path& path) {
  OpenFile file{Descriptor(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }))};
  if (!file.descriptor.is_open()) unreadable(path, std::strerror(errno));
  struct stat found {};
  if (::fstat(file.descriptor.number(), &found) != 0) unreadable(path, std::strerror(errno));
  if (!S_ISREG(found.st_mode)) return file;
  file.bytes = static_cast<std::uint64_t>(found.st_size);
  std::array<char, 2> magic{};
  if (read_at_place(file.descriptor.number(), magic.data(), magic.size(), 0) < 0)
    unreadable(path, std::strerror(errno));
  file.plain = magic != std::array{'\x1f', '\x8b'};
  return file;
}

/// zlib's view of an open file, which it closes.
gzFile_s* unpacking(OpenFile& file, const std::filesystem::path& path) {
  const int copy = ::dup(file.descriptor.number());  // zlib must not close what somebody else does too
  gzFile_s* const result = copy < 0 ? nullptr : gzdopen(copy, "rb");
  if (result == nullptr) {
    const int code = errno;
    if (copy >= 0) ::close(copy);
    unreadable(path, std::strerror(code));
  }
  static_cast<void>(file.descriptor.close());
  return result;
}

/// Bytes to be written.
struct Bytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  Bytes() = default;
  explicit Bytes(std::size_t count) : data(new char[count]), size(count) {}
  explicit Bytes(std::string_view text) : Bytes(text.size()) { std::copy(text.begin(), text.end(), data.get()); }
  [[nodiscard]] std::string_view text() const { return {data.get(), size}; }
};

/// Buffers of one size that several threads use again and again: the pages of new ones would cost as much as the bytes.
class BufferPool {
 public:
  explicit BufferPool(std::size_t bytes) : bytes_(bytes) {}

  Bytes take(std::size_t size) {
    Bytes result;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        result = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!result.data) result = Bytes(bytes_);
    result.size = size;
    return result;
  }
  void give_back(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(bytes));
  }

 private:
  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<Bytes> free_;
};

/// A whole member of a gzip file. Throws bad_alloc.
Bytes gzip_member(std::string_view bytes) {
  z_stream stream{};
  constexpr int gzip = 15 + 16, usual_memory = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, usual_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> end(&stream, deflateEnd);
  Bytes result(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data.get());
  stream.avail_out = static_cast<uInt>(result.size);
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::bad_alloc();  // the bound is too small: never
  result.size -= stream.avail_out;
  return result;
}

}  // namespace

int Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0 ? 0 : errno;
}

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

FileBytes::FileBytes(const std::filesystem::path& path, Fetch fetch) : path_(path) {
  require_file(path);
  OpenFile file = open_to_read(path);
  if (!file.plain) {
    const std::uint64_t bytes = file.bytes;
    const std::unique_ptr<gzFile_s, decltype(&gzclose_r)> unpacked_file(unpacking(file, path), gzclose_r);
    read_packed(path, *unpacked_file, bytes);
    return;
  }
  resize(file.bytes);
  size_ = file.bytes;
  advise_huge_pages(data_.get(), size_);
  plain_ = std::move(file.descriptor);
  opened_ = identity_of(plain_);
  if (fetch == Fetch::asked) return;
  this->fetch(text());
  static_cast<void>(plain_.close());
}

void FileBytes::fetch(std::string_view part) const {
  if (!plain_.is_open()) return;
  const auto begin = static_cast<std::size_t>(part.data() - data_.get());
  for_stretches(part.size(), 1, [&](std::size_t first, std::size_t count) {
    read_at(begin + first, data_.get() + begin + first, count);
  });
}

void FileBytes::read_at(std::size_t place, char* to, std::size_t bytes) const {
  const ssize_t got = read_at_place(plain_.number(), to, bytes, place);
  if (got < 0) unreadable(path_, std::strerror(errno));
  if (static_cast<std::size_t>(got) < bytes) unreadable(path_, "it became shorter meanwhile");
}

void FileBytes::read_items(std::string_view part, std::size_t item_bytes, const TakeItems& take) const {
  if (!plain_.is_open()) return take_items(part, item_bytes, take);
  const auto begin = static_cast<std::size_t>(part.data() - data_.get());
  BufferPool buffers(stretch_of(item_bytes) * item_bytes);
  for_stretches(part.size() / item_bytes, item_bytes, [&](std::size_t first, std::size_t count) {
    Bytes bytes = buffers.take(count * item_bytes);
    read_at(begin + first * item_bytes, bytes.data.get(), bytes.size);
    take(first, count, bytes.data.get());
    buffers.give_back(std::move(bytes));
  });
}

void FileBytes::read_to(std::string_view part, const PlaceOfBytes& place) const {
  const auto begin = static_cast<std::size_t>(part.data() - data_.get());
  for_stretches(part.size(), 1, [&](std::size_t first, std::size_t count) {
    if (plain_.is_open()) read_at(begin + first, place(first, count), count);
    else std::memcpy(place(first, count), part.data() + first, count);
  });
}

void FileBytes::read_part(std::string_view part, char* to) const {
  if (plain_.is_open()) read_at(static_cast<std::size_t>(part.data() - data_.get()), to, part.size());
  else std::memcpy(to, part.data(), part.size());
}

void FileBytes::forget(std::string_view part) const {
  if (!plain_.is_open() || part.empty()) return;
  give_back_pages(data_.get() + (part.data() - data_.get()), part.size());
}

void FileBytes::require_unchanged() const {
  if (plain_.is_open() && identity_of(plain_) != opened_)
    bad_file(path_, "was changed meanwhile (the output takes arrays over from it); run the command again");
}

void take_items(std::string_view bytes, std::size_t item_bytes, const TakeItems& take) {
  for_stretches(bytes.size() / item_bytes, item_bytes,
                [&](std::size_t first, std::size_t count) { take(first, count, bytes.data() + first * item_bytes); });
}

void FileBytes::read_packed(const std::filesystem::path& path, gzFile_s& file, std::uint64_t file_bytes) {
  const auto known = static_cast<std::size_t>(file_bytes);
  gzbuffer(&file, static_cast<unsigned>(known == 0 ? zlib_bytes : std::clamp<std::size_t>(known, 4096, zlib_bytes)));
  const bool packed = gzdirect(&file) == 0;
  // One more than is allowed, so that it is seen without growing.
  const std::uint64_t limit = packed ? UnpackLimit::left() : std::numeric_limits<std::uint64_t>::max();
  const std::size_t max_size = std::min<std::uint64_t>(limit, std::numeric_limits<std::size_t>::max() - 1) + 1;
  std::size_t capacity = std::min(4 * known + 4096, max_size);
  resize(capacity);
  for (;;) {
    errno = 0;
    const std::size_t room = std::min<std::size_t>(capacity - size_, 1 << 30);
    const int got = gzread(&file, data_.get() + size_, static_cast<unsigned>(room));
    int code = Z_OK;
    const char* message = gzerror(&file, &code);
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
  resize(size_);
}

void FileBytes::resize(std::size_t capacity) {
  void* grown = std::realloc(data_.get(), capacity);
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(data_.release());
  data_.reset(static_cast<char*>(grown));
}

ByteReader::ByteReader(const std::filesystem::path& path) : path_(path) {
  require_file(path);
  OpenFile file = open_to_read(path);
  const std::uint64_t known = file.bytes == 0 ? chunk_bytes : std::max<std::uint64_t>(file.bytes, 4096);
  // Small files have small buffers. Nothing may be thrown once zlib has the file: it would stay open.
  buffer_.resize(std::min<std::uint64_t>(known, chunk_bytes));
  if (file.plain) {
    plain_ = std::move(file.descriptor);
    max_bytes_ = file.bytes;
    return;
  }
  file_ = unpacking(file, path);
  gzbuffer(file_, static_cast<unsigned>(std::min<std::uint64_t>(known, zlib_bytes)));
  packed_ = gzdirect(file_) == 0;
  max_bytes_ = file.bytes == 0 ? ~std::uint64_t{0} : file.bytes * (packed_ ? max_deflate_gain : 1);
}

ByteReader::~ByteReader() {
  if (file_ != nullptr) gzclose_r(file_);
}

std::size_t ByteReader::read_more(char* to, std::size_t bytes) {
  if (plain_.is_open()) {
    const std::uint64_t place = taken_ + end_;
    if (bytes >= worth_threads && max_bytes_ > place && max_bytes_ - place >= worth_threads) {
      const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, max_bytes_ - place));
      for_stretches(now, 1, [&](std::size_t first, std::size_t count) { read_at(place + first, to + first, count); });
      return now;
    }
    const ssize_t got = read_at_place(plain_.number(), to, bytes, place);
    if (got < 0) bad_file(path_, "cannot be read ({}); check the disk", std::strerror(errno));
    return static_cast<std::size_t>(got);
  }
  const int got = gzread(file_, to, static_cast<unsigned>(bytes));
  int code = Z_OK;
  const char* message = gzerror(file_, &code);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    if (code == Z_ERRNO) bad_file(path_, "cannot be read ({}); check the disk", std::strerror(errno));
    fail("the compressed data is damaged ({})", code == Z_BUF_ERROR ? "it ends too early" : message);
  }
  if (packed_) UnpackLimit::take(static_cast<std::uint64_t>(got), path_);
  return static_cast<std::size_t>(got);
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
  const std::size_t got = read_more(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
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

std::string_view ByteReader::required(std::string_view word, std::string_view what) const {
  if (word.empty()) fail("the file ends where {} should be", what);
  return word;
}

double ByteReader::real_of(std::string_view word, std::string_view what) const {
  const auto value = parse_real(required(word, what));
  if (!value) fail("{} where {} should be", in_quotes(word), what);
  return *value;
}

std::int64_t ByteReader::integer_of(std::string_view word, std::string_view what) const {
  if (const auto value = parse_number<std::int64_t>(without_plus(required(word, what)))) return *value;
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
  if (plain_.is_open() && bytes >= worth_threads) {
    require_room(bytes, 1);
    const std::uint64_t place = pass_over(bytes);
    if (to == nullptr) return read_at(place + bytes - 1, buffer_.data(), 1);  // it must be there
    return for_stretches(bytes, 1, [&](std::size_t first, std::size_t count) {
      read_at(place + first, static_cast<char*>(to) + first, count);
    });
  }
  for (char* target = static_cast<char*>(to); bytes > 0;) {
    if (at_end()) fail("the file ends in the middle of its data, at byte {}", taken_ + begin_);
    const std::size_t part = std::min(bytes, end_ - begin_);
    if (target != nullptr) target = std::copy_n(buffer_.data() + begin_, part, target);
    begin_ += part;
    bytes -= part;
  }
}

void ByteReader::read_to(std::size_t bytes, const PlaceOfBytes& place) {
  if (plain_.is_open() && bytes >= worth_threads) {
    require_room(bytes, 1);
    const std::uint64_t begin = pass_over(bytes);
    return for_stretches(
        bytes, 1, [&](std::size_t first, std::size_t count) { read_at(begin + first, place(first, count), count); });
  }
  for (std::size_t first = 0; first < bytes; first += task_bytes) {
    const std::size_t count = std::min(task_bytes, bytes - first);
    read(place(first, count), count);
  }
}

std::uint64_t ByteReader::pass_over(std::uint64_t bytes) {
  const std::uint64_t place = taken_ + begin_;
  taken_ = place + bytes;
  begin_ = end_ = 0;
  ended_ = false;
  return place;
}

void ByteReader::read_at(std::uint64_t place, char* to, std::size_t bytes) const {
  const ssize_t got = read_at_place(plain_.number(), to, bytes, place);
  if (got < 0) bad_file(path_, "cannot be read ({}); check the disk", std::strerror(errno));
  if (static_cast<std::size_t>(got) < bytes)
    fail("the file ends in the middle of its data, at byte {}", place + static_cast<std::size_t>(got));
}

void ByteReader::read_items(std::size_t items, std::size_t item_bytes, const TakeItems& take) {
  require_room(items, item_bytes);
  if (plain_.is_open() && items * item_bytes >= worth_threads) {
    const std::uint64_t place = pass_over(items * item_bytes);
    BufferPool buffers(stretch_of(item_bytes) * item_bytes);
    return for_stretches(items, item_bytes, [&](std::size_t first, std::size_t count) {
      Bytes bytes = buffers.take(count * item_bytes);
      read_at(place + first * item_bytes, bytes.data.get(), bytes.size);
      take(first, count, bytes.data.get());
      buffers.give_back(std::move(bytes));
    });
  }
  const std::size_t stretch = std::min(items, stretch_of(item_bytes));
  const Bytes bytes(stretch * item_bytes);
  for (std::size_t first = 0; first < items; first += stretch) {
    const std::size_t count = std::min(stretch, items - first);
    read(bytes.data.get(), count * item_bytes);
    take(first, count, bytes.data.get());
  }
}

ByteWriter::ByteWriter(const OutputFile& file) : target_(file.target), packed_(FileName(file.target).compressed()) {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  file_ = Descriptor(uninterrupted([&] { return ::open(file.where.c_str(), flags, 0666); }));
  if (!file_.is_open()) fail(errno);
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

void ByteWriter::put(std::string_view bytes) {
  empty_ = empty_ && bytes.empty();
  if (memory_ != nullptr) {
    memory_->append(bytes);
    return;
  }
  while (!bytes.empty()) {
    errno = 0;
    const auto done = uninterrupted(
        [&] { return ::write(file_.number(), bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30)); });
    if (done <= 0) fail(errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
}

void ByteWriter::flush() {
  const std::string_view bytes(buffer_.data(), buffer_.size());
  if (packed_ && !bytes.empty()) put(gzip_member(bytes).text());
  else put(bytes);
  buffer_.clear();
}

void ByteWriter::write_large(const char* bytes, std::size_t count) {
  if (packed_)
    return write_items(count, 1,
                       [&](std::size_t first, std::size_t some, char* to) { std::memcpy(to, bytes + first, some); });
  flush();
  put({bytes, count});
}

void ByteWriter::write_items(std::size_t items, std::size_t item_bytes, const MakeItems& make) {
  if (items * item_bytes < task_bytes) {
    const std::size_t before = buffer_.size();
    buffer_.resize(before + items * item_bytes);
    if (items > 0) make(0, items, buffer_.data() + before);
    if (buffer_.size() >= chunk_bytes) flush();
    return;
  }
  flush();
  const std::size_t stretch = std::max<std::size_t>(1, (packed_ ? chunk_bytes : task_bytes) / item_bytes);
  const int threads = items * item_bytes < worth_threads ? 1 : usual_threads();
  BufferPool buffers(stretch * item_bytes);
  parallel_in_order<Bytes>(
      threads, (items + stretch - 1) / stretch,
      [&](std::size_t i, const std::atomic<bool>&) {
        const std::size_t first = i * stretch, count = std::min(stretch, items - first);
        Bytes bytes = buffers.take(count * item_bytes);
        make(first, count, bytes.data.get());
        if (!packed_) return bytes;
        Bytes member = gzip_member(bytes.text());
        buffers.give_back(std::move(bytes));
        return member;
      },
      [&](std::size_t, Bytes bytes) {
        put(bytes.text());
        if (!packed_) buffers.give_back(std::move(bytes));
      });
}

void ByteWriter::print_rows(std::size_t rows, const PrintRows& print) {
  const std::size_t stretch = packed_ ? 32768 : 4096;
  if (rows <= stretch) {  // few: into the buffer, behind what is there
    PrintedText text;
    print(0, rows, text);
    return write(text.text());
  }
  flush();
  parallel_in_order<Bytes>(
      usual_threads(), (rows + stretch - 1) / stretch,
      [&](std::size_t i, const std::atomic<bool>&) {
        PrintedText text;
        print(i * stretch, std::min(stretch, rows - i * stretch), text);
        return packed_ ? gzip_member(text.text()) : Bytes(text.text());
      },
      [&](std::size_t, const Bytes& bytes) { put(bytes.text()); });
}

void ByteWriter::finish() {
  flush();
  if (packed_ && empty_) put(gzip_member({}).text());
  if (const int code = file_.close(); code != 0) fail(code);
}

}  // namespace isochron
