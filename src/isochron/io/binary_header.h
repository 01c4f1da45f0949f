// The fixed fields at the front of binary files.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstring>
#include <string>

#include "isochron/io/byte_reader.h"
#include "isochron/io/scalar_type.h"

namespace isochron {

/// Some bytes of a file and the order that their numbers have.
class BinaryHeader {
 public:
  /// Takes the next `size` bytes. Throws InputError when the file is shorter.
  BinaryHeader(ByteReader& reader, std::size_t size, Encoding encoding) : bytes_(size, '\0'), encoding_(encoding) {
    reader.read(bytes_.data(), size);
  }
  /// An empty header to be filled and written.
  BinaryHeader(std::size_t size, Encoding encoding) : bytes_(size, '\0'), encoding_(encoding) {}

  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    assert(offset + sizeof(T) <= bytes_.size());
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return encoding_ == native_encoding ? value : byte_swapped(value);
  }
  template <class T, std::size_t N>
  [[nodiscard]] std::array<T, N> list(std::size_t offset) const {
    std::array<T, N> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = at<T>(offset + i * sizeof(T));
    return values;
  }
  /// The characters up to a zero byte, at most `size`.
  [[nodiscard]] std::string text(std::size_t offset, std::size_t size) const {
    const std::string all = bytes_.substr(offset, size);
    return all.substr(0, all.find('\0'));
  }

  template <class T>
  void put(std::size_t offset, T value) {
    assert(offset + sizeof(T) <= bytes_.size());
    if (encoding_ != native_encoding) value = byte_swapped(value);
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  void put_text(std::size_t offset, std::string_view text) { bytes_.replace(offset, text.size(), text); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] Encoding encoding() const { return encoding_; }

 private:
  std::string bytes_;
  Encoding encoding_;
};

}  // namespace isochron
