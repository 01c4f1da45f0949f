// The numbers of files: their types, how they are read into the arrays of a data set, and how those are written.
#pragma once

#include <bit>
#include <cassert>
#include <limits>
#include <span>
#include <type_traits>

#include "isochron/dataset.h"
#include "isochron/io.h"
#include "isochron/io/bytes.h"
#include "isochron/io/words.h"

namespace isochron {

enum class ScalarType { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

enum class Encoding { text, little_endian, big_endian };

constexpr Encoding native_encoding =
    std::endian::native == std::endian::little ? Encoding::little_endian : Encoding::big_endian;

/// Calls `body.template operator()<T>()` with the C++ type.
template <class Body>
decltype(auto) with_type(ScalarType type, Body&& body) {
  switch (type) {
    case ScalarType::int8: return body.template operator()<std::int8_t>();
    case ScalarType::uint8: return body.template operator()<std::uint8_t>();
    case ScalarType::int16: return body.template operator()<std::int16_t>();
    case ScalarType::uint16: return body.template operator()<std::uint16_t>();
    case ScalarType::int32: return body.template operator()<std::int32_t>();
    case ScalarType::uint32: return body.template operator()<std::uint32_t>();
    case ScalarType::int64: return body.template operator()<std::int64_t>();
    case ScalarType::uint64: return body.template operator()<std::uint64_t>();
    case ScalarType::float32: return body.template operator()<float>();
    case ScalarType::float64: break;
  }
  return body.template operator()<double>();
}

inline std::size_t size_of(ScalarType type) {
  return with_type(type, []<class T>() { return sizeof(T); });
}

/// A type, and the names that a format has for it with '|' between them. The first is the one that is written.
struct TypeNames {
  ScalarType type;
  std::string_view names;
};
std::optional<ScalarType> type_named(std::span<const TypeNames> table, std::string_view name);
std::string_view name_of(std::span<const TypeNames> table, ScalarType type);

/// All types by name: "uint8", "float32", …
inline constexpr TypeNames scalar_type_names[] = {{ScalarType::uint8, "uint8"},     {ScalarType::int8, "int8"},
                                                  {ScalarType::uint16, "uint16"},   {ScalarType::int16, "int16"},
                                                  {ScalarType::uint32, "uint32"},   {ScalarType::int32, "int32"},
                                                  {ScalarType::uint64, "uint64"},   {ScalarType::int64, "int64"},
                                                  {ScalarType::float32, "float32"}, {ScalarType::float64, "float64"}};

/// The type a DataArray keeps a T in: the same, or the next larger that holds its values (uint64 is cut at 2⁶³ − 1).
template <class T>
using Stored = std::conditional_t<
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::uint8_t>, T,
    std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, std::int32_t>, std::int32_t, std::int64_t>>;

template <class T>
constexpr Stored<T> to_stored(T value) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
  } else {
    return static_cast<Stored<T>>(value);
  }
}

template <class T>
T byte_swapped(T value) {
  if constexpr (sizeof(T) == 1) return value;
  else if constexpr (sizeof(T) == 2) return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<std::uint16_t>(value)));
  else if constexpr (sizeof(T) == 4) return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<std::uint32_t>(value)));
  else return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
}

/// A value in another byte order than the machine's, or in its own.
template <class T>
T native(T value, Encoding encoding) {
  return encoding == native_encoding ? value : byte_swapped(value);
}
/// Puts the bytes of a value here.
template <class T>
void put_value(char* bytes, T value, Encoding encoding) {
  value = native(value, encoding);
  std::memcpy(bytes, &value, sizeof(T));
}
/// The value whose bytes begin here.
template <class T>
T value_at(const char* bytes, Encoding encoding) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return native(value, encoding);
}

/// A word of a text file as a value; an empty one stands for the end of the file.
template <class T>
T value_of_word(const ByteReader& reader, std::string_view word) {
  const auto fitting = [&](auto value) {
    if (const auto result = converted<T>(value)) return *result;
    reader.fail("{} is out of the range of its type", value);
  };
  if constexpr (std::is_floating_point_v<T>) return fitting(reader.real_of(word, "a number"));
  else return fitting(reader.integer_of(word, "a whole number"));
}

/// Takes the next word of a text as such a value.
template <class T>
T next_value(const ByteReader& reader, std::string_view& text) {
  using Number = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  std::string_view left = text;
  if (const auto number = next_plain_number<Number>(left))
    if (const auto value = converted<T>(*number)) {
      text = left;
      return *value;
    }
  return value_of_word<T>(reader, next_word(text));
}

/// One value in the file's encoding.
template <class T>
T read_value(ByteReader& reader, Encoding encoding) {
  if (encoding == Encoding::text) return value_of_word<T>(reader, reader.token());
  T value;
  reader.read(&value, sizeof(T));
  return native(value, encoding);
}

/// The bytes that a value takes at least.
inline std::size_t min_bytes(ScalarType type, Encoding encoding) {
  return encoding == Encoding::text ? 2 : size_of(type);
}

/// Calls `take(i, values)` for each of `count` tuples of N values of type T. Several threads do so at once.
template <class T, std::size_t N = 1, class Take>
void for_each_tuple(ByteReader& reader, Encoding encoding, std::size_t count, Take&& take) {
  if (encoding == Encoding::text) {
    reader.require_room(count, 2 * N);
    return read_words(reader, count * N, N, [&](std::size_t first, std::size_t words, std::string_view text) {
      std::array<T, N> own;
      for (std::size_t i = first / N; i < (first + words) / N; ++i) {
        for (T& value : own) value = next_value<T>(reader, text);
        take(i, own);
      }
    });
  }
  reader.read_items(count, N * sizeof(T), [&](std::size_t first, std::size_t some, const char* bytes) {
    std::array<T, N> own;
    for (std::size_t i = 0; i < some; ++i, bytes += sizeof(own)) {
      for (std::size_t k = 0; k < N; ++k) own[k] = value_at<T>(bytes + k * sizeof(T), encoding);
      take(first + i, own);
    }
  });
}

/// `count` values of a file's type as a DataArray keeps them.
DataArray::Values read_values(ByteReader& reader, ScalarType type, Encoding encoding, std::size_t count);

/// The same for those in a part of a file, which need not be fetched; what is left at the end is not looked at.
DataArray::Values read_values(const FileBytes& file, std::string_view part, ScalarType type, Encoding encoding);

/// The numbers in some bytes as a DataArray keeps them; what is left at the end is not looked at.
DataArray::Values values_of_bytes(std::string_view bytes, ScalarType type, Encoding encoding);

/// No values, of the type that a DataArray keeps a file's type in.
DataArray::Values empty_values(ScalarType type);

/// The type a DataArray's values have.
inline ScalarType scalar_type(const DataArray::Values& values) {
  constexpr std::array types{ScalarType::float32, ScalarType::float64, ScalarType::int32, ScalarType::int64,
                             ScalarType::uint8};
  return types[values.index()];
}

/// Throws InputError about the file unless every array has that many tuples. `kind` are those ("points"), `what` is
/// "mesh" or "image".
void check_arrays(const std::filesystem::path& path, const DataArrays& arrays, std::size_t tuples,
                  std::string_view kind, std::string_view what);

/// Whether an array that a file calls so has to be read: it may get one of the wanted names, as it is or with a number
/// behind (`add_named`).
bool may_be_wanted(std::string_view name, const ArrayNames& wanted);
/// Leaves the wanted arrays alone.
void keep_wanted(DataArrays& data, const ArrayNames& wanted);

/// Adds the array under its name, under `fallback` if it has none, or with a number behind if the name is taken.
void add_named(DataArrays& data, DataArray array, const std::string& fallback);

/// Control characters in the names become question marks: names are shown, and no text format could hold them.
void make_names_printable(DataArrays& data);

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
    return value_at<T>(bytes_.data() + offset, encoding_);
  }
  /// Several values of type T in a row, converted.
  template <class T, std::size_t N, class To = T>
  [[nodiscard]] std::array<To, N> list(std::size_t offset) const {
    std::array<To, N> values;
    for (std::size_t i = 0; i < N; ++i) values[i] = static_cast<To>(at<T>(offset + i * sizeof(T)));
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
    value = native(value, encoding_);
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }
  /// Several values in a row, converted to T.
  template <class T, class List>
  void put_list(std::size_t offset, const List& values) {
    for (const auto value : values) {
      put(offset, static_cast<T>(value));
      offset += sizeof(T);
    }
  }
  void put_text(std::size_t offset, std::string_view text) { bytes_.replace(offset, text.size(), text); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] Encoding encoding() const { return encoding_; }

 private:
  std::string bytes_;
  Encoding encoding_;
};

/// Writes one value in the given byte order.
template <class T>
void write_value(ByteWriter& writer, T value, Encoding encoding) {
  value = native(value, encoding);
  writer.write(&value, sizeof(T));
}

/// A stretch of cells (or points) and the arrays on it.
struct ArrayBlock {
  const DataArrays* data;
  std::size_t tuples;
  std::string kind;  ///< "points", "triangles", …
};

/// One array over several blocks. Cells of blocks without it get NaN, or 0 in an array of whole numbers.
struct JoinedArray {
  struct Part {
    const DataArray* array;  ///< null: padding
    std::size_t tuples;
  };
  std::string name;
  int components = 1;
  ScalarType type = ScalarType::float64;
  std::vector<Part> parts;

  [[nodiscard]] std::size_t value_count() const;
  [[nodiscard]] std::size_t byte_count() const { return value_count() * size_of(type); }
};

/// The arrays of all blocks, joined by name. An array whose type differs between blocks becomes double; one whose
/// number of components differs is kept apart as NAME_KIND. Every array must fit its block. Empty blocks add no array,
/// unless all are empty.
std::vector<JoinedArray> join_arrays(std::span<const ArrayBlock> blocks);

/// Writes all values in their type, in the given byte order (never text).
void write_values(ByteWriter& writer, const JoinedArray& array, Encoding encoding);

/// Writes `count` values, `value_of(i)` each, in the given byte order. Several threads ask for them at once.
template <class T, class ValueOf>
void write_each(ByteWriter& writer, std::size_t count, Encoding encoding, ValueOf&& value_of) {
  writer.write_items(count, sizeof(T), [&](std::size_t first, std::size_t some, char* to) {
    for (std::size_t i = 0; i < some; ++i) put_value(to + i * sizeof(T), static_cast<T>(value_of(first + i)), encoding);
  });
}

/// Float when that holds every coordinate exactly, so that files need not store double.
ScalarType smallest_type(const std::vector<Vec3d>& points);

/// Writes x y z of every point, as float or double.
void write_points(ByteWriter& writer, std::span<const Vec3d> points, ScalarType type, Encoding encoding);

}  // namespace isochron
