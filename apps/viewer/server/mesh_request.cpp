#include "apps/viewer/server/mesh_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace {

constexpr std::size_t max_sources = 10000;
constexpr std::size_t max_regions = 64;

/// Beyond these a metric, which has the squares, is no good in double precision.
constexpr double min_speed = 1e-100;
constexpr double max_speed = 1e100;
constexpr double max_ratio = 1e6;

void check_speed(const std::string& name, double speed) {
  if (!(speed > 0)) throw RequestError(fmt::format("'{}' is {:g}; give a positive number", name, speed));
  if (!(speed >= min_speed && speed <= max_speed))
    throw RequestError(fmt::format("'{}' is {:g} (too {} to compute with); give it in another unit", name, speed,
                                   speed < 1 ? "small" : "large"));
}

/// One speed for all directions, or along and across the fibre, or along, across and normal to the sheet.
Velocities parse_velocities(Fields& fields, const std::string& name) {
  std::vector<double> numbers = fields.number_or_numbers(name, 3);
  for (const double number : numbers) check_speed(name, number);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  if (*most / *least > max_ratio)
    throw RequestError(
        fmt::format("'{}' has {:g} and {:g} (too different to compute with); keep them within {:g} times", name, *least,
                    *most, max_ratio));
  while (numbers.size() < 3) numbers.push_back(numbers.back());
  return {numbers[0], numbers[1], numbers[2]};
}

/// An empty one would mean that none is wanted.
std::string array_name(Fields& fields, const std::string& field) {
  std::string name = fields.text(field);
  if (name.empty()) throw RequestError(fmt::format("'{}' is empty; give the name of an array", field));
  return name;
}

std::int64_t parse_region(const std::string& text) {
  std::int64_t region = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), region);
  if (error != std::errc() || end != text.data() + text.size())
    throw RequestError(
        fmt::format("'regions' names '{}', which is not a whole number; give the regions' numbers", text));
  return region;
}

/// The distinct values when they are whole numbers and few.
std::optional<std::vector<std::int64_t>> whole_values(const DataArray& array) {
  if (array.components != 1) return std::nullopt;
  std::set<double> values;
  for (std::size_t i = 0; i < array.tuple_count(); ++i) {
    const double value = array.at(i);
    if (value != std::floor(value) || std::abs(value) > 1e15) return std::nullopt;
    if (values.insert(value).second && values.size() > max_regions) return std::nullopt;
  }
  std::vector<std::int64_t> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(static_cast<std::int64_t>(value));
  return result;
}

void parse_regions(Fields regions, const DataArrays& cell_data, const Velocities& elsewhere, MetricRequest& request) {
  request.region_array = array_name(regions, "array");
  Fields speeds = regions.object("speeds");
  regions.done();
  const auto values = whole_values(cell_data.require(request.region_array, "cells"));
  if (!values)
    throw InputError(
        fmt::format("array '{}' does not number regions (whole numbers, at most {} of them); choose "
                    "another",
                    request.region_array, max_regions));
  std::map<std::int64_t, Velocities> given;
  for (const std::string& name : speeds.names()) {
    const std::int64_t region = parse_region(name);
    if (!std::binary_search(values->begin(), values->end(), region))
      throw InputError(fmt::format("'regions' names {} (array '{}' has no such region); use {}", region,
                                   request.region_array, join_text(*values, ", ")));
    if (given.contains(region))
      throw RequestError(fmt::format("region {} is there twice; leave one of them out", region));
    given[region] = parse_velocities(speeds, name);
    if (request.fiber_array.empty() && given[region].fiber != given[region].sheet)
      throw RequestError(
          fmt::format("region {} has velocities along and across, but there are no fibres; give one speed", region));
  }
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

std::variant<VertexId, Vec3d> parse_place(Fields& fields) {
  fields.choose({"vertex", "point"});
  if (fields.has("vertex")) return VertexId(fields.whole("vertex"));
  return fields.point("point");
}

Sources parse_sources(Fields& fields, std::size_t vertex_count) {
  Sources sources;
  for (Fields& source : fields.objects("sources", max_sources)) {
    const double time = source.number("time", 0);
    const auto place = parse_place(source);
    source.done();
    if (const auto* vertex = std::get_if<VertexId>(&place)) {
      if (vertex->index() >= vertex_count)
        throw InputError(fmt::format("vertex {} is out of range (there are {}); give one that is there",
                                     vertex->index(), vertex_count));
      sources.vertices.push_back({*vertex, time});
    } else {
      sources.points.push_back({std::get<Vec3d>(place), time});
    }
  }
  if (!fields.has("sources")) fields.check_spelling("sources");
  if (sources.vertices.empty() && sources.points.empty())
    throw RequestError("there are no sources (the front starts nowhere); give at least one");
  return sources;
}

Json metric_fields(Fields& fields) {
  Json metric = Json::object();
  for (const char* name : {"speed", "speed_array", "fibers", "regions"})
    if (const Json* field = fields.find(name)) metric[name] = *field;
  return metric;
}

MetricRequest parse_metric(const Json& metric, const DataArrays& cell_data) {
  Fields fields(metric);
  fields.exclude({"speed", "speed_array", "fibers"});
  fields.exclude({"speed_array", "regions"});
  MetricRequest request;
  request.zero_fibers = ZeroFibers::isotropic;
  Velocities everywhere;
  if (fields.has("fibers")) {
    Fields fibers = fields.object("fibers");
    request.fiber_array = array_name(fibers, "array");
    everywhere = parse_velocities(fibers, "velocity");
    fibers.done();
    request.velocities = everywhere;
  } else if (fields.has("speed_array")) {
    request.speed_array = array_name(fields, "speed_array");
  } else if (fields.has("speed")) {
    (void)fields.number("speed");  // not a list
    everywhere = parse_velocities(fields, "speed");
    request.speed = everywhere.fiber;
  }
  if (fields.has("regions")) {
    parse_regions(fields.object("regions"), cell_data, everywhere, request);
    request.speed.reset();
    request.velocities.reset();
  }
  return request;
}

std::optional<IsochroneRequest> parse_isochrones(Fields& fields) {
  if (!fields.has("isochrones")) return std::nullopt;
  Fields wanted = fields.object("isochrones");
  wanted.exclude({"spacing", "about"});
  IsochroneRequest request;
  if (wanted.has("spacing")) request.spacing = wanted.positive("spacing");
  request.about = static_cast<int>(wanted.whole("about", static_cast<std::uint32_t>(request.about), {1, 200}));
  wanted.done();
  return request;
}

}  // namespace isochron::viewer
