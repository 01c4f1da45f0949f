#include "apps/isochron/values.h"

#include <charconv>
#include <cmath>

#include "apps/isochron/console.h"
#include "isochron/core/delimited_text.h"

namespace isochron::cli {
namespace {

std::uint32_t parse_id(std::string_view text) {
  std::uint32_t id = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  const bool too_large = error == std::errc::result_out_of_range || id == VertexId::invalid_value;
  if (too_large) throw_too_large(text, VertexId::invalid_value - 1);
  if (error != std::errc() || stop != text.data() + text.size())
    throw usage_error("'{}' is not an id (a whole number from 0 on); write a list like 0,5,10-20", text);
  return id;
}

}  // namespace

double parse_number(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || stop != digits.data() + digits.size())
    throw usage_error("'{}' is not a number; write one like 0.5 or 1e-6", text);
  if (error != std::errc() || !std::isfinite(value))
    throw usage_error("'{}' is not a finite number; write one like 0.5 or 1e-6", text);
  return value;
}

std::uint64_t parse_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) throw_too_large(text, std::numeric_limits<std::uint64_t>::max());
  if (error != std::errc() || stop != text.data() + text.size())
    throw usage_error("'{}' is not a whole number (decimal, not negative); write one like 42", text);
  return value;
}

std::int32_t parse_label(std::string_view text) {
  std::int32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    throw usage_error("'{}' is too large for a label; labels are from {} to {}", text,
                      std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  if (error != std::errc() || stop != text.data() + text.size())
    throw usage_error("'{}' is not a label (a whole number like 3 or -1); name each label by itself", text);
  return value;
}

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (const std::string_view part : split_text(text, ",")) numbers.push_back(parse_number(part));
  return numbers;
}

std::vector<IdRange> parse_id_ranges(std::string_view text) {
  std::vector<IdRange> ranges;
  for (const std::string_view part : split_text(text, ",")) {
    const auto ends = split_text(part, "-");
    if (ends.size() > 2 || ends.front().empty() || ends.back().empty())
      throw usage_error("'{}' is not a list of ids (they count from 0); write it like 0,5,10-20", text);
    const IdRange range{parse_id(ends.front()), parse_id(ends.back())};
    if (range.first > range.last) throw usage_error("the range '{}' runs backwards; write the smaller id first", part);
    ranges.push_back(range);
  }
  return ranges;
}

NameValue parse_name_value(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0)
    throw usage_error("'{}' is not a name and a value; write it like region=3", text);
  return {std::string(text.substr(0, equals)), parse_number(text.substr(equals + 1))};
}

Vec3d parse_point(std::string_view text) {
  std::vector<double> x;
  try {
    x = parse_numbers(text);
  } catch (const UsageError&) {  // the hint below says more than one about a single number
  }
  if (x.size() != 2 && x.size() != 3)
    throw usage_error("'{}' is not a point (two or three finite numbers); write it like 1.5,2,0.25", text);
  return {x[0], x[1], x.size() == 3 ? x[2] : 0.0};
}

std::vector<std::uint32_t> parse_size(std::string_view text, std::size_t axes) {
  std::vector<std::uint32_t> size;
  for (const std::string_view part : split_text(text, ",")) size.push_back(parse_as<std::uint32_t>(part));
  if (size.size() == 1) size.resize(axes, size[0]);
  if (size.size() != axes)
    throw usage_error("'{}' is not a size; write it like 64 or {}", text, axes == 2 ? "64,32" : "64,64,32");
  return size;
}

void throw_too_large(std::string_view text, std::uint64_t limit) {
  throw usage_error("{} is too large; use at most {}", text, grouped(limit));
}

void read_value(std::string_view text, std::filesystem::path& value) {
  if (text.empty()) throw UsageError("the file name is empty; give one");
  value = text;
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string percent(double share) {
  const double value = 100 * share;
  if (value > 0 && value < 0.01) return "below 0.01 %";
  return value < 9.95 ? fmt::format("{:.2g} %", value) : fmt::format("{:.0f} %", value);
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

}  // namespace isochron::cli
