// Number types as files name them, and how they are read into a data set's arrays.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "isochron/io/byte_reader.h"
#include "isochron/mesh/dataset.h"

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

/// All types by name: "uint8", "float32", …
constexpr std::array<std::pair<std::string_view, ScalarType>, 10> scalar_type_names{{{"uint8", ScalarType::uint8},
                                                                                     {"int8", ScalarType::int8},
                                                                                     {"uint16", ScalarType::uint16},
                                                                                     {"int16", ScalarType::int16},
                                                                                     {"uint32", ScalarType::uint32},
                                                                                     {"int32", ScalarType::int32},
                                                                                     {"uint64", ScalarType::uint64},
                                                                                     {"int64", ScalarType::int64},
                                                                                     {"float32", ScalarType::float32},
                                                                                     {"float64", ScalarType::float64}}};

inline std::optional<ScalarType> scalar_type_named(std::string_view name) {
  for (const auto& [known, type] : scalar_type_names)
    if (known == name) return type;
  return std::nullopt;
}

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
  auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// One value in the file's encoding.
template <class T>
T read_value(ByteReader& reader, Encoding encoding) {
  if (encoding == Encoding::text) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(reader.real("a number"));
    const std::int64_t value = reader.integer("a whole number");
    return static_cast<T>(value);
  }
  T value;
  reader.read(&value, sizeof(T));
  return encoding == native_encoding ? value : byte_swapped(value);
}

/// Calls `take(value)` for each of `count` values of type T.
template <class T, class Take>
void for_each_value(ByteReader& reader, Encoding encoding, std::size_t count, Take&& take) {
  reader.require_room(count, encoding == Encoding::text ? 2 : sizeof(T));
  if (encoding == Encoding::text) {
    for (std::size_t i = 0; i < count; ++i) take(read_value<T>(reader, encoding));
    return;
  }
  std::vector<T> part(std::min<std::size_t>(count, 1 << 14));
  while (count > 0) {
    const std::size_t n = std::min(count, part.size());
    reader.read(part.data(), n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) take(encoding == native_encoding ? part[i] : byte_swapped(part[i]));
    count -= n;
  }
}

/// `count` values of a file's type as a DataArray keeps them.
inline DataArray::Values read_values(ByteReader& reader, ScalarType type, Encoding encoding, std::size_t count) {
  return with_type(type, [&]<class T>() -> DataArray::Values {
    reader.require_room(count, encoding == Encoding::text ? 2 : sizeof(T));
    std::vector<Stored<T>> values;
    values.reserve(count);
    for_each_value<T>(reader, encoding, count, [&](T value) { values.push_back(to_stored(value)); });
    return values;
  });
}

/// The numbers in some bytes as a DataArray keeps them; what is left at the end is not looked at.
inline DataArray::Values values_of_bytes(std::string_view bytes, ScalarType type, Encoding encoding) {
  return with_type(type, [&]<class T>() -> DataArray::Values {
    std::vector<Stored<T>> values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
      T value;
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
      values[i] = to_stored(encoding == native_encoding ? value : byte_swapped(value));
    }
    return values;
  });
}

/// The type a DataArray's values have.
inline ScalarType scalar_type(const DataArray::Values& values) {
  constexpr std::array types{ScalarType::float32, ScalarType::float64, ScalarType::int32, ScalarType::int64,
                             ScalarType::uint8};
  return types[values.index()];
}

}  // namespace isochron
