#include "isochron/io/dataset_check.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "isochron/core/error.h"

namespace isochron {
namespace {

namespace fs = std::filesystem;

void check_points(const fs::path& path, const Dataset& dataset) {
  if (dataset.points.size() >= VertexId::invalid_value) {
    throw InputError(fmt::format("{}: {} points are too many (ids have 32 bits); split the mesh", path.string(),
                                 dataset.points.size()));
  }
  for (std::size_t i = 0; i < dataset.points.size(); ++i) {
    const Vec3d& p = dataset.points[i];
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) continue;
    throw InputError(fmt::format("{}: point {} is at ({}, {}, {}) (coordinates must be finite); repair the mesh",
                                 path.string(), i, p.x, p.y, p.z));
  }
}

template <class Cells>
void check_ids(const fs::path& path, const Cells& cells, std::size_t points, std::string_view kind) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (const VertexId v : cells[i]) {
      if (v.index() < points) continue;
      throw InputError(fmt::format("{}: {} {} has vertex {} (the mesh has vertices 0 to {}); repair the mesh",
                                   path.string(), kind, i, v.value, points - 1));
    }
  }
}

void check_arrays(const fs::path& path, const DataArrays& arrays, std::size_t tuples, std::string_view kind) {
  for (const DataArray& array : arrays.all()) {
    if (array.components >= 1 && array.value_count() == tuples * static_cast<std::size_t>(array.components)) continue;
    throw InputError(
        fmt::format("{}: array '{}' does not fit (values: {} in tuples of {}, {}: {}); export the mesh again",
                    path.string(), array.name, array.value_count(), array.components, kind, tuples));
  }
}

}  // namespace

void check_dataset(const fs::path& path, const Dataset& dataset) {
  check_points(path, dataset);
  const std::size_t points = dataset.points.size();
  check_ids(path, dataset.triangles.cells, points, "triangle");
  check_ids(path, dataset.tets.cells, points, "tetrahedron");
  check_ids(path, dataset.lines, points, "line");
  check_arrays(path, dataset.point_data, points, "points");
  check_arrays(path, dataset.triangles.data, dataset.triangles.cells.size(), "triangles");
  check_arrays(path, dataset.tets.data, dataset.tets.cells.size(), "tetrahedra");
  check_arrays(path, dataset.line_data, dataset.lines.size(), "lines");
}

}  // namespace isochron
