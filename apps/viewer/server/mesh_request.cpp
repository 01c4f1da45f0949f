#include "apps/viewer/server/mesh_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "apps/viewer/server/fields.h"
#include "isochron/core/error.h"

namespace isochron::viewer {
namespace {

constexpr std::size_t most_sources = 10000;
constexpr std::size_t most_regions = 64;

double positive(const Json& value, const std::string& what) {
  const double number = as_number(value, what);
  if (!(number > 0)) throw InputError(fmt::format("{} is {:g}; give a positive number", what, number));
  return number;
}

/// One number for all directions, or along and across the fibre, or along, across and normal to the sheet.
Velocities parse_velocities(const Json& value, const std::string& what) {
  if (!value.is_array()) {
    const double speed = positive(value, what);
    return {speed, speed, speed};
  }
  std::vector<double> numbers = number_list(value, what, 3);
  for (const Json& number : value) positive(number, what);
  while (numbers.size() < 3) numbers.push_back(numbers.back());
  return {numbers[0], numbers[1], numbers[2]};
}

std::int64_t parse_region(const std::string& text) {
  std::int64_t region = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), region);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(fmt::format("'regions' names '{}', which is not a whole number; give the regions' numbers", text));
  return region;
}

/// The distinct values when they are whole numbers and few.
std::optional<std::vector<std::int64_t>> whole_values(const DataArray& array) {
  if (array.components != 1) return std::nullopt;
  std::set<double> values;
  for (std::size_t i = 0; i < array.tuple_count(); ++i) {
    const double value = array.at(i);
    if (value != std::floor(value) || std::abs(value) > 1e15) return std::nullopt;
    if (values.insert(value).second && values.size() > most_regions) return std::nullopt;
  }
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
  return result;
}

void parse_regions(const Json& regions, const DataArrays& cell_data, const Velocities& elsewhere,
                   MetricRequest& request) {
  request.region_array = text_field(regions, "array");
  const auto values = whole_values(cell_data.require(request.region_array, "cells"));
  if (!values)
    throw InputError(
        fmt::format("array '{}' does not number regions (whole numbers, at most {} of them); choose "
                    "another",
                    request.region_array, most_regions));
  const Json* speeds = find_field(regions, "speeds");
  if (speeds == nullptr || !speeds->is_object())
    throw InputError("'speeds' of 'regions' is not an object; give a speed or velocities for each region");
  std::map<std::int64_t, Velocities> given;
  for (const auto& [name, value] : speeds->items())
    given[parse_region(name)] = parse_velocities(value, fmt::format("the speed of region {}", name));
  for (const std::int64_t region : *values) {
    const auto found = given.find(region);
    request.table.push_back({region, found == given.end() ? elsewhere : found->second});
  }
}

}  // namespace

std::optional<Regions> find_regions(const DataArrays& cell_data) {
  for (const char* name : {"region", "gmsh:physical", "medit:ref"}) {
    const DataArray* array = cell_data.find(name);
    if (array == nullptr) continue;
    if (auto values = whole_values(*array)) return Regions{name, std::move(*values)};
  }
  return std::nullopt;
}

Sources parse_sources(const Json& body, std::size_t vertex_count) {
  const Json* list = find_field(body, "sources");
  if (list == nullptr || !list->is_array() || list->empty())
    throw InputError("there are no sources (the front starts nowhere); give at least one");
  if (list->size() > most_sources)
    throw InputError(fmt::format("there are {} sources; give at most {}", list->size(), most_sources));
  Sources sources;
  for (const Json& source : *list) {
    const double time = number_field(source, "time", 0);
    if (find_field(source, "vertex") != nullptr) {
      const std::uint32_t id = id_field(source, "vertex");
      if (id >= vertex_count)
        throw InputError(
            fmt::format("vertex {} is out of range (there are {}); give one that is there", id, vertex_count));
      sources.vertices.push_back({VertexId(id), time});
    } else {
      sources.points.push_back({point_field(source, "point"), time});
    }
  }
  return sources;
}

MetricRequest parse_metric(const Json& body, const DataArrays& cell_data) {
  MetricRequest request;
  request.zero_fibers = ZeroFibers::isotropic;
  Velocities everywhere;
  if (const Json* fibers = find_field(body, "fibers")) {
    request.fiber_array = text_field(*fibers, "array");
    if (const Json* velocity = find_field(*fibers, "velocity")) everywhere = parse_velocities(*velocity, "'velocity'");
    request.velocities = everywhere;
  } else if (find_field(body, "speed_array") != nullptr) {
    request.speed_array = text_field(body, "speed_array");
  } else if (const Json* speed = find_field(body, "speed")) {
    everywhere = parse_velocities(*speed, "'speed'");
    request.speed = everywhere.fiber;
  }
  if (const Json* regions = find_field(body, "regions")) {
    if (!request.speed_array.empty())
      throw InputError("'regions' and 'speed_array' exclude each other; leave one of them out");
    parse_regions(*regions, cell_data, everywhere, request);
    request.speed.reset();
    request.velocities.reset();
  }
  return request;
}

std::optional<IsochroneRequest> parse_isochrones(const Json& body) {
  const Json* wanted = find_field(body, "isochrones");
  if (wanted == nullptr) return std::nullopt;
  IsochroneRequest request;
  if (const Json* spacing = find_field(*wanted, "spacing")) request.spacing = positive(*spacing, "'spacing'");
  request.about = static_cast<int>(std::clamp(number_field(*wanted, "about", request.about), 1.0, 200.0));
  return request;
}

}  // namespace isochron::viewer
