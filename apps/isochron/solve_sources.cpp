// Where the front starts: from options, files and arrays to Sources.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/isochron/solve.h"
#include "isochron/error.h"

namespace isochron::cli {
namespace {

void add_ids(const std::vector<IdRange>& ranges, double time, const IdSpace& ids, Sources& sources) {
  for (const IdRange& range : ranges) {
    ids.check("source", range.last);
    for (std::size_t id = range.first; id <= range.last; ++id) sources.vertices.push_back({VertexId(id), time});
  }
}

void add_rows(const std::filesystem::path& file, const std::vector<SourceRow>& rows, double time, const IdSpace& ids,
              Sources& sources) {
  for (const SourceRow& row : rows) {
    const double onset = row.time.value_or(time);
    if (row.point) {
      sources.points.push_back({*row.point, onset});
      continue;
    }
    ids.check("source", row.vertex.value, file);
    sources.vertices.push_back({row.vertex, onset});
  }
}

/// Sources by id, from the command line and from files, and points from files.
void add_listed(const SolveRequest& request, const SideInputs& inputs, const IdSpace& ids, Sources& sources) {
  const SourceRequest& wanted = request.sources;
  const double time = wanted.time.value_or(0.0);
  for (const auto& ranges : wanted.ids) add_ids(ranges, time, ids, sources);
  for (std::size_t i = 0; i < wanted.files.size(); ++i)
    add_rows(wanted.files[i], inputs.source_rows[i], time, ids, sources);
}

template <int Corners>
TaggedCells<Corners> tagged_cells(const CellBlock<Corners>& block) {
  return {block.cells, block.data};
}

// One vertex source per tagged vertex. Arrays on the points come first, then those on the cells that are solved on,
// then those on the cells that are not: surface patches of a volume mesh are tagged there.
template <int Corners>
void add_tag(const NameValue& tag, double time, const Dataset& dataset, Sources& sources) {
  constexpr int other = Corners == 3 ? 4 : 3;
  std::vector<bool> marked(dataset.points.size(), false);
  const auto any = [&marked] { return std::find(marked.begin(), marked.end(), true) != marked.end(); };
  bool found = mark_points(dataset.point_data, tag, marked);
  if (!any()) found = mark_cells<Corners>(tagged_cells(dataset.block<Corners>()), tag, marked) || found;
  if (!any()) found = mark_cells<other>(tagged_cells(dataset.block<other>()), tag, marked) || found;
  check_tag(tag, found, any());
  for (std::size_t v = 0; v < marked.size(); ++v)
    if (marked[v]) sources.vertices.push_back({VertexId(v), time});
}

std::vector<double> level_set_values(const DataArray& array) {
  if (array.components != 1) {
    throw input_error(
        "array '{}' has {} components (--source-levelset needs one signed value per point); choose another", array.name,
        array.components);
  }
  std::vector<double> values(array.tuple_count());
  for (std::size_t v = 0; v < values.size(); ++v) {
    values[v] = array.at(v);
    if (!std::isfinite(values[v])) {
      throw input_error("array '{}' is {} at point {} (--source-levelset needs finite values); repair it", array.name,
                        values[v], v);
    }
  }
  return values;
}

}  // namespace

void IdSpace::check(std::string_view what, std::size_t id, const std::filesystem::path& file) const {
  if (id < count) return;
  throw input_error("{} id {}{} is out of range (the {} has {}: 0…{}); give an id of the {}", what, id,
                    file.empty() ? "" : " in " + file.string(), holder, counted(count, one, many), count - 1, holder);
}

bool mark_points(const DataArrays& arrays, const NameValue& tag, std::vector<bool>& marked) {
  const DataArray* array = arrays.find(tag.name);
  if (array == nullptr || array->components != 1) return false;
  for (std::size_t v = 0; v < marked.size(); ++v)
    if (array->at(v) == tag.value) marked[v] = true;
  return true;
}

template <int Corners>
bool mark_cells(const TaggedCells<Corners>& on, const NameValue& tag, std::vector<bool>& marked) {
  const DataArray* array = on.data.find(tag.name);
  if (array == nullptr || array->components != 1) return false;
  for (std::size_t c = 0; c < on.cells.size(); ++c)
    if (array->at(c) == tag.value)
      for (const VertexId v : on.cells[c]) marked[v.index()] = true;
  return true;
}

void check_tag(const NameValue& tag, bool found, bool any) {
  if (!found)
    throw input_error("no array '{}' with one value per point or cell (--source-tag); 'isochron info' lists the arrays",
                      tag.name);
  if (!any)
    throw input_error("no point and no cell has {} = {:g} (--source-tag); give a value that occurs", tag.name,
                      tag.value);
}

Sources gather_named_sources(const SolveRequest& request, const SideInputs& inputs, std::size_t vertices) {
  const double time = request.sources.time.value_or(0.0);
  Sources sources;
  add_listed(request, inputs, {vertices, "mesh", "vertex", "vertices"}, sources);
  for (const Vec3d& point : request.sources.points) sources.points.push_back({point, time});
  return sources;
}

template <int Corners>
Sources gather_sources(const SolveRequest& request, const SideInputs& inputs, const Dataset& dataset,
                       Console& console) {
  const SourceRequest& wanted = request.sources;
  const double time = wanted.time.value_or(0.0);
  Sources sources = gather_named_sources(request, inputs, dataset.points.size());
  for (const NameValue& tag : wanted.tags) add_tag<Corners>(tag, time, dataset, sources);
  if (!wanted.level_set.empty())
    sources.level_set = level_set_values(dataset.point_data.require(wanted.level_set, "points"));
  if (wanted.time && !sources.level_set.empty())
    console.warn("--source-time does not apply to --source-levelset, which starts at time 0");
  return sources;
}

std::vector<VertexId> tagged_voxels(const Image& image, const NameValue& tag) {
  std::vector<bool> marked(image.grid.voxel_count(), false);
  if (!mark_points(image.data, tag, marked))
    throw input_error("no array '{}' with one value per voxel (--source-tag); 'isochron info' lists the arrays",
                      tag.name);
  std::vector<VertexId> voxels;
  for (std::size_t v = 0; v < marked.size(); ++v)
    if (marked[v]) voxels.emplace_back(v);
  return voxels;
}

Sources gather_voxel_sources(const SolveRequest& request, const SideInputs& inputs, std::size_t voxels,
                             const TaggedVoxels& tagged) {
  const SourceRequest& wanted = request.sources;
  const double time = wanted.time.value_or(0.0);
  Sources sources;
  add_listed(request, inputs, {voxels, "image", "voxel", "voxels"}, sources);
  for (const NameValue& tag : wanted.tags) {
    const std::size_t before = sources.vertices.size();
    for (const VertexId voxel : tagged(tag)) sources.vertices.push_back({voxel, time});
    if (sources.vertices.size() == before)
      throw input_error("no voxel has {} = {:g} (--source-tag); give a value that occurs", tag.name, tag.value);
  }
  for (const Vec3d& point : wanted.points) sources.points.push_back({point, time});
  return sources;
}

Sources gather_voxel_sources(const SolveRequest& request, const SideInputs& inputs, const Image& image) {
  return gather_voxel_sources(request, inputs, image.grid.voxel_count(),
                              [&](const NameValue& tag) { return tagged_voxels(image, tag); });
}

template bool mark_cells(const TaggedCells<3>&, const NameValue&, std::vector<bool>&);
template bool mark_cells(const TaggedCells<4>&, const NameValue&, std::vector<bool>&);
template Sources gather_sources<3>(const SolveRequest&, const SideInputs&, const Dataset&, Console&);
template Sources gather_sources<4>(const SolveRequest&, const SideInputs&, const Dataset&, Console&);

}  // namespace isochron::cli
