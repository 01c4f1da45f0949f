// Text on the command line to values: decimal only, the whole text, no silent limits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isochron/types.h"

namespace isochron::cli {

using Paths = std::vector<std::filesystem::path>;

/// Vertex ids from `first` to `last`, both included.
struct IdRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// A name and the number it should have: "region=3".
struct NameValue {
  std::string name;
  double value = 0;
};

/// A finite decimal number. All of these throw UsageError that quotes the text.
double parse_number(std::string_view text);
std::uint64_t parse_whole_number(std::string_view text);
/// A whole number that may be negative.
std::int32_t parse_label(std::string_view text);
/// Finite numbers separated by commas, without blanks.
std::vector<double> parse_numbers(std::string_view text);
/// "0,5,10-20"
std::vector<IdRange> parse_id_ranges(std::string_view text);
NameValue parse_name_value(std::string_view text);
/// "x,y,z", or "x,y" with z = 0.
Vec3d parse_point(std::string_view text);

/// "64", the same along every axis, or a number for each: "64,64,32".
std::vector<std::uint32_t> parse_size(std::string_view text, std::size_t axes);

[[noreturn]] void throw_too_large(std::string_view text, std::uint64_t limit);

/// How a type is read from text; see `into`.
template <class T>
struct Value {
  static T parse(std::string_view text) {
    static_assert(std::is_integral_v<T>);
    constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const std::uint64_t value = parse_whole_number(text);
    if (value > limit) throw_too_large(text, limit);
    return static_cast<T>(value);
  }
};
template <>
struct Value<double> {
  static double parse(std::string_view text) { return parse_number(text); }
};
template <>
struct Value<std::string> {
  static std::string parse(std::string_view text) { return std::string(text); }
};
template <>
struct Value<std::filesystem::path> {
  static std::filesystem::path parse(std::string_view text);
};
template <>
struct Value<std::vector<double>> {
  static std::vector<double> parse(std::string_view text) { return parse_numbers(text); }
};
template <>
struct Value<std::vector<IdRange>> {
  static std::vector<IdRange> parse(std::string_view text) { return parse_id_ranges(text); }
};
template <>
struct Value<NameValue> {
  static NameValue parse(std::string_view text) { return parse_name_value(text); }
};
template <>
struct Value<Vec3d> {
  static Vec3d parse(std::string_view text) { return parse_point(text); }
};
template <class T>
struct Value<std::optional<T>> {
  static std::optional<T> parse(std::string_view text) { return Value<T>::parse(text); }
};

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
/// A share as a percentage: "0.49 %", "12 %", "100 %"; never in powers of ten.
std::string percent(double share);
/// "1 vertex", "2,000 vertices".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

}  // namespace isochron::cli
