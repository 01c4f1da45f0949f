#include "isochron/io/mesh/stored_mesh.h"

#include <algorithm>

namespace isochron {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether reading the section gives its arrays the names that they have.
bool has_plain_names(const XmlSection* section) {
  if (section == nullptr) return true;
  std::vector<std::string> names;
  for (const XmlArray& array : section->arrays) {
    const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    if (array.name.empty() || std::any_of(array.name.begin(), array.name.end(), control)) return false;
    names.push_back(array.name);
  }
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

/// Corners of each cell where the data set has all cells of its file as they are there; 0 where it has not.
std::size_t corners_as_stored(const Dataset& dataset, std::size_t cells) {
  if (cells == 0 || !dataset.cut_cells.empty() || !dataset.ignored_cells.empty()) return 0;
  return dataset.tets.cells.size() == cells ? 4 : dataset.triangles.cells.size() == cells ? 3 : 0;
}

}  // namespace

bool ArrayUse::keeps(ArrayPlace place, std::string_view name) const {
  if (place == ArrayPlace::points && replaced != nullptr && replaced(name)) return false;
  return !kept || contains(*kept, name);
}

ArrayNames ArrayUse::names() const {
  if (!used || !kept) return std::nullopt;
  ArrayNames all = kept;
  all->insert(all->end(), used->begin(), used->end());
  return all;
}

bool StoredMesh::take(const Dataset& dataset, std::size_t cells, const ArrayUse& use) {
  const std::size_t corners = corners_as_stored(dataset, cells);
  if (corners == 0 || file_.pieces().size() != 1) return false;
  const XmlPiece& piece = file_.pieces()[0];
  const std::array sections{piece.find("PointData"), piece.find("CellData")};
  if (!std::all_of(sections.begin(), sections.end(), has_plain_names)) return false;
  if (!take_geometry(piece, dataset.points.size(), cells, corners)) return false;
  for (const ArrayPlace place : {ArrayPlace::points, ArrayPlace::cells}) {
    const XmlSection* section = sections[static_cast<std::size_t>(place)];
    const std::size_t tuples = place == ArrayPlace::points ? dataset.points.size() : cells;
    if (section == nullptr) continue;
    for (const XmlArray& array : section->arrays) {
      if (!use.keeps(place, array.name)) continue;
      if (auto stored = file_.stored(array, tuples * static_cast<std::size_t>(array.components)))
        arrays_[static_cast<std::size_t>(place)].push_back(std::move(*stored));
    }
  }
  return true;
}

bool StoredMesh::take_geometry(const XmlPiece& piece, std::size_t points, std::size_t cells, std::size_t corners) {
  const XmlSection& grid = *piece.find("Cells");
  const std::array<std::pair<const XmlArray*, std::size_t>, 4> wanted{{{&piece.find("Points")->arrays[0], 3 * points},
                                                                       {grid.find("connectivity"), corners * cells},
                                                                       {grid.find("offsets"), cells},
                                                                       {grid.find("types"), cells}}};
  for (const auto& [array, values] : wanted) {
    auto stored = file_.stored(*array, values);
    if (!stored) return false;
    geometry_.push_back(std::move(*stored));
  }
  return true;
}

bool StoredMesh::has(ArrayPlace place, std::string_view name) const {
  const auto called = [&](const StoredArray& stored) { return stored.array->name == name; };
  return std::any_of(arrays(place).begin(), arrays(place).end(), called);
}

std::vector<std::string> MeshToKeep::array_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!contains(names, name)) names.push_back(name);
  };
  const auto add_stored = [&](ArrayPlace place) {
    if (stored == nullptr) return;
    for (const StoredArray& one : stored->arrays(place)) add(one.array->name);
  };
  add_stored(ArrayPlace::points);
  for (const DataArray& array : dataset.point_data.all()) add(array.name);
  add_stored(ArrayPlace::cells);
  for (const DataArrays* data : {&dataset.tets.data, &dataset.triangles.data, &dataset.line_data})
    for (const DataArray& array : data->all()) add(array.name);
  return names;
}

}  // namespace isochron
