#include "apps/isochron/array_choice.h"

#include <algorithm>
#include <array>

#include "apps/isochron/solve.h"
#include "isochron/core/delimited_text.h"
#include "isochron/core/join_text.h"
#include "isochron/io/values.h"

namespace isochron::cli {
namespace {

constexpr std::array<const char*, 3> region_arrays{"region", "gmsh:physical", "medit:ref"};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_given(std::vector<std::string>& names, const std::string& name) {
  if (!name.empty()) names.push_back(name);
}

/// Arrays on cells or points that the metric is made of and that are named.
std::vector<std::string> named_by_metric(const SolveRequest& request) {
  const MetricRequest& metric = request.metric;
  std::vector<std::string> names;
  for (const std::string* name : {&metric.speed_array, &metric.metric_array, &metric.velocity_tensor_array,
                                  &metric.fiber_array, &metric.sheet_array, &metric.region_array, &request.mask.array})
    add_given(names, *name);
  return names;
}

/// Regions are needed, and one of the usual names is looked for.
bool needs_any_regions(const MetricRequest& metric) {
  return metric.region_array.empty() && (!metric.table.empty() || !metric.excluded_regions.empty());
}

/// Arrays that have to be on the points.
std::vector<std::string> named_on_points(const SolveRequest& request) {
  std::vector<std::string> names;
  add_given(names, request.sources.level_set);
  const std::string& drawn = request.picture.options.array;
  if (!request.picture.file.empty() && !made_by_solve(drawn)) add_given(names, drawn);
  return names;
}

}  // namespace

void declare_arrays(Command& command, const std::string& what, ArrayNames& names) {
  command.repeated("--arrays", "NAME,…", what, [&names](const std::string& text) {
    const bool first = !names;
    if (first) names.emplace();
    if (first && text == "none") return;
    if (!first && names->empty())
      throw usage_error("--arrays none leaves out all ('{}' is asked for too); give one", text);
    for (const std::string_view name : split_text(text, ",")) {
      if (name == "none") throw usage_error("--arrays none leaves out all ('{}' names others); give none alone", text);
      if (name.empty()) throw usage_error("'{}' has an empty name in it; write names like region,fiber, or none", text);
      names->emplace_back(name);
    }
  });
}

std::vector<std::string> array_names(const Dataset& dataset) {
  std::vector<std::string> names;
  for (const DataArrays* data : {&dataset.point_data, &dataset.tets.data, &dataset.triangles.data, &dataset.line_data})
    for (const std::string& name : data->names())
      if (!contains(names, name)) names.push_back(name);
  return names;
}

bool has_arrays(const ArrayNames& names, const std::vector<std::string>& there) {
  return !names || std::all_of(names->begin(), names->end(), [&](const auto& name) { return contains(there, name); });
}

void check_array_names(const ArrayNames& names, const std::vector<std::string>& there) {
  if (!names) return;
  for (const std::string& name : *names)
    if (!contains(there, name))
      throw input_error("no array '{}' (--arrays); {}", name,
                        there.empty() ? "there are none, so leave it out" : "choose from: " + join_text(there, ", "));
}

void keep_arrays(const ArrayNames& names, DataArrays& data) { keep_wanted(data, names); }

void keep_arrays(const ArrayNames& names, Dataset& dataset) {
  for (DataArrays* data : {&dataset.point_data, &dataset.tets.data, &dataset.triangles.data, &dataset.line_data})
    keep_arrays(names, *data);
}

Dataset read_arrays(const std::filesystem::path& file, const ArrayNames& wanted,
                    const std::function<bool(const Dataset&)>& enough) {
  Dataset dataset = read_dataset(file, wanted);
  if (!wanted || enough(dataset)) return dataset;
  dataset = {};  // not both at once
  return read_dataset(file);
}

MeshToKeep read_arrays(const std::filesystem::path& file, const std::filesystem::path& output, const ArrayUse& use,
                       const std::function<bool(const MeshToKeep&)>& enough) {
  MeshToKeep mesh = read_to_keep(file, output, use);
  if ((mesh.stored == nullptr && !use.names()) || enough(mesh)) return mesh;
  mesh = {};  // not both at once
  return {read_dataset(file), nullptr};
}

ArrayUse array_use(const SolveRequest& request) {
  ArrayUse use{std::vector<std::string>(), request.arrays, made_by_solve};
  if (!request.to_mesh()) use.kept.emplace();
  for (const auto& some : {named_by_metric(request), named_on_points(request)})
    use.used->insert(use.used->end(), some.begin(), some.end());
  for (const NameValue& tag : request.sources.tags) use.used->push_back(tag.name);
  if (needs_any_regions(request.metric)) use.used->insert(use.used->end(), region_arrays.begin(), region_arrays.end());
  return use;
}

bool has_wanted_arrays(const SolveRequest& request, const Dataset& dataset, const std::vector<std::string>& there) {
  const auto all = [](const auto& names, const auto& has) { return std::all_of(names.begin(), names.end(), has); };
  const auto on_points = [&](const std::string& name) { return dataset.point_data.find(name) != nullptr; };
  const auto on_cells = [&](const std::string& name) {
    const auto has = [&](const auto& block) { return block.cells.empty() || block.data.find(name) != nullptr; };
    return has(dataset.triangles) && has(dataset.tets);
  };
  return (!needs_any_regions(request.metric) || std::any_of(region_arrays.begin(), region_arrays.end(), on_cells)) &&
         all(named_on_points(request), on_points) &&
         all(named_by_metric(request), [&](const auto& name) { return on_points(name) || on_cells(name); }) &&
         has_arrays(kept_input_arrays(request), there);
}

ArrayNames kept_input_arrays(const SolveRequest& request) {
  ArrayNames names = request.arrays;
  if (names) std::erase_if(*names, [](const std::string& name) { return made_by_solve(name); });
  return names;
}

void leave_out_arrays(const SolveRequest& request, DataArrays& data) {
  if (request.arrays)
    std::erase_if(data.all(), [&](const DataArray& array) {
      return !made_by_solve(array.name) && !contains(*request.arrays, array.name);
    });
}

}  // namespace isochron::cli
