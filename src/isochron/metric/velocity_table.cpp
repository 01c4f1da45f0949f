#include "isochron/metric.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "isochron/core/delimited_text.h"
#include "isochron/core/join_text.h"
#include "isochron/error.h"

namespace isochron {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  text = trim(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Fills the velocities from one to three numbers; false when there are more, none, or one is not positive or far out
/// of range. Only all of them may be 0.
bool fill(const std::vector<double>& numbers, Velocities& velocities) {
  if (numbers.empty() || numbers.size() > 3) return false;
  const bool all_zero = std::all_of(numbers.begin(), numbers.end(), [](double v) { return v == 0; });
  const auto usable = [](double v) {  // squares are computed with
    return v > 0 && std::isnormal(v * v) && std::isnormal(1 / (v * v));
  };
  if (!all_zero && !std::all_of(numbers.begin(), numbers.end(), usable)) return false;
  velocities.fiber = numbers[0];
  velocities.sheet = numbers[std::min<std::size_t>(1, numbers.size() - 1)];
  velocities.normal = numbers.back();
  return true;
}

std::string content_of(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);  // opens like a file, and is empty
  std::ifstream file(path);
  if (folder || !file)
    throw InputError(fmt::format("cannot be read as a velocity table ({}); check the path, or give rows like 1:0.6,0.3",
                                 folder ? "it is a folder" : std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Velocities parse_velocities(std::string_view text) {
  std::vector<double> numbers;
  bool good = true;
  for (const std::string_view part : split_text(text, ",")) {
    numbers.push_back(0);
    good = parse_number(part, numbers.back()) && good;
  }
  Velocities result;
  if (!good || !fill(numbers, result))
    throw UsageError(fmt::format(
        "'{}' is not a list of up to three positive velocities; write them like 0.6,0.3 (fibre,transverse)", text));
  return result;
}

std::vector<RegionVelocities> parse_velocity_table(std::string_view text) {
  struct Row {
    std::string_view region;
    std::vector<double> numbers;
    bool good = true;
  };
  std::vector<Row> rows;
  // A part with a colon starts a row, so rows may also follow one another after a comma.
  for (const std::string_view whole_line : split_text(text, "\n")) {
    const std::string_view line = trim(whole_line.substr(0, whole_line.find('#')));
    bool starts_line = true;
    for (std::string_view part : split_text(line, ";,")) {
      part = trim(part);
      const auto colon = part.find(':');
      if (colon != std::string_view::npos) {
        rows.push_back({trim(part.substr(0, colon)), {}, true});
        part = part.substr(colon + 1);
      } else if (part.empty()) {
        continue;
      } else if (rows.empty() || starts_line) {
        throw InputError(fmt::format("velocity table: '{}' has no region; write rows like 1:0.6,0.3", line));
      }
      starts_line = false;
      double number = 0;
      rows.back().good = parse_number(part, number) && rows.back().good;
      rows.back().numbers.push_back(number);
    }
  }

  std::vector<RegionVelocities> result;
  for (const Row& row : rows) {
    RegionVelocities entry;
    if (!row.good || !parse_number(row.region, entry.region) || !fill(row.numbers, entry.velocities))
      throw InputError(
          fmt::format("velocity table: the row of region '{}' needs a whole number and one to three positive "
                      "velocities, or 0 where nothing conducts; write it like 1:0.6,0.3",
                      row.region));
    for (const RegionVelocities& other : result)
      if (other.region == entry.region)
        throw InputError(fmt::format("velocity table: region {} has two rows; keep one", entry.region));
    result.push_back(entry);
  }
  return result;
}

std::string region_list(std::span<const double> regions) {
  constexpr std::size_t most = 20;
  const auto shown = regions.first(std::min(most, regions.size()));
  const std::string more = regions.size() > most ? fmt::format(" and {} more", regions.size() - most) : "";
  return fmt::format("{}{}", join_text(shown, ", "), more);
}

std::vector<RegionVelocities> read_velocity_table(const std::string& path) {
  try {
    auto table = parse_velocity_table(content_of(path));
    if (!table.empty()) return table;
  } catch (const InputError& error) {
    throw InputError(error.detail(), path);
  }
  throw InputError("there are no rows (every line is blank or a comment); write rows like 1:0.6,0.3", path);
}

}  // namespace isochron
