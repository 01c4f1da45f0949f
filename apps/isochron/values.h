// Text on the command line to values: decimal only, the whole text, no silent limits.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
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

/// Reads a value of some type.
inline void read_value(std::string_view text, double& value) { value = parse_number(text); }
inline void read_value(std::string_view text, std::string& value) { value = text; }
void read_value(std::string_view text, std::filesystem::path& value);
inline void read_value(std::string_view text, std::vector<double>& value) { value = parse_numbers(text); }
inline void read_value(std::string_view text, std::vector<IdRange>& value) { value = parse_id_ranges(text); }
inline void read_value(std::string_view text, NameValue& value) { value = parse_name_value(text); }
inline void read_value(std::string_view text, Vec3d& value) { value = parse_point(text); }
template <std::integral T>
void read_value(std::string_view text, T& value) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const std::uint64_t number = parse_whole_number(text);
  if (number > limit) throw_too_large(text, limit);
  value = static_cast<T>(number);
}
template <class T>
T parse_as(std::string_view text) {
  T value{};
  read_value(text, value);
  return value;
}
template <class T>
void read_value(std::string_view text, std::optional<T>& value) {
  value = parse_as<T>(text);
}

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);
/// A share as a percentage: "0.49 %", "12 %", "100 %"; never in powers of ten.
std::string percent(double share);
/// "1 vertex", "2,000 vertices".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

}  // namespace isochron::cli
