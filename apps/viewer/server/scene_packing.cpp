#include "apps/viewer/server/scene_packing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/draw.h"
#include "isochron/error.h"

namespace isochron::viewer {
namespace {

DrawnMesh outside_of(const Dataset& file) {
  DrawnMesh drawn;
  const std::vector<BoundaryFace> faces = boundary_faces(file.points, file.tets.cells);
  std::vector<VertexId> place(file.points.size());
  auto& triangles = drawn.surface.triangles.cells;
  triangles.reserve(faces.size());
  drawn.element.reserve(faces.size());
  for (const BoundaryFace& face : faces) {
    std::array<VertexId, 3> triangle;
    for (std::size_t c = 0; c < 3; ++c) {
      VertexId& at = place[face.corners[c].index()];
      if (!at.valid()) {
        at = VertexId(drawn.vertex.size());
        drawn.vertex.push_back(face.corners[c]);
        drawn.surface.points.push_back(file.points[face.corners[c].index()]);
      }
      triangle[c] = at;
    }
    triangles.push_back(triangle);
    drawn.element.push_back(face.tet);
  }
  return drawn;
}

DrawnMesh whole_surface(const Dataset& file) {
  DrawnMesh drawn;
  drawn.surface.points = file.points;
  drawn.surface.triangles.cells = file.triangles.cells;
  drawn.vertex.reserve(file.points.size());
  for (std::size_t i = 0; i < file.points.size(); ++i) drawn.vertex.emplace_back(i);
  drawn.element.reserve(file.triangles.cells.size());
  for (std::size_t i = 0; i < file.triangles.cells.size(); ++i) drawn.element.emplace_back(i);
  return drawn;
}

Vec3d centre(const Dataset& surface, std::size_t triangle) {
  Vec3d sum;
  for (const VertexId v : surface.triangles.cells[triangle]) sum += surface.points[v.index()];
  return sum / 3.0;
}

double area(const Dataset& surface) {
  double sum = 0;
  for (const auto& t : surface.triangles.cells) {
    const Vec3d a = surface.points[t[0].index()];
    sum += 0.5 * norm(cross(surface.points[t[1].index()] - a, surface.points[t[2].index()] - a));
  }
  return sum;
}

/// Where an array's values at a drawn place are in the file.
struct Placed {
  const DataArray* array;
  bool on_points;
};

Placed find_array(const FileArrays& file, const std::string& name, const std::string& on) {
  const bool on_points = on == "points";
  if (!on_points && on != "cells") throw InputError(fmt::format("'on' is '{}'; use points or cells", on));
  const DataArrays& arrays = on_points ? file.points : file.cells;
  const DataArrays& others = on_points ? file.cells : file.points;
  if (arrays.find(name) == nullptr && others.find(name) != nullptr) {
    const char* place = on_points ? "cells" : "points";
    throw InputError(fmt::format("array '{}' is on the {}, not on the {}; ask with on={}", name, place, on, place));
  }
  return {&arrays.require(name, on), on_points};
}

/// Which arrays can be drawn as directions.
std::string advised_vectors(const FileArrays& file) {
  std::vector<std::string> names;
  for (const DataArrays* arrays : {&file.cells, &file.points})
    for (const DataArray& array : arrays->all())
      if (array.components == 3 && std::find(names.begin(), names.end(), array.name) == names.end())
        names.push_back(array.name);
  return names.empty() ? "the file has no directions" : fmt::format("choose one of: {}", join_text(names, ", "));
}

std::size_t source_tuple(const DrawnMesh& drawn, const Placed& placed, std::size_t i) {
  return placed.on_points ? drawn.vertex[i].index() : drawn.element[i].index();
}

/// Whole voxels: half of one beyond the outer centres.
Json bounds_of(const ImageGrid& grid) {
  Vec3d low, high;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3d index;
    for (int a = 0; a < 3; ++a)
      index[a] = (corner >> a & 1) != 0 ? grid.shape[static_cast<std::size_t>(a)] - 0.5 : -0.5;
    const Vec3d p = grid.position(index);
    for (int a = 0; a < 3; ++a) {
      low[a] = corner == 0 ? p[a] : std::min(low[a], p[a]);
      high[a] = corner == 0 ? p[a] : std::max(high[a], p[a]);
    }
  }
  return {{low.x, low.y, low.z}, {high.x, high.y, high.z}};
}

Json affine_of(const ImageGrid& grid) {
  Json rows = Json::array();
  for (int row = 0; row < 3; ++row) {
    for (const Vec3d& axis : grid.axes) rows.push_back(axis[row]);
    rows.push_back(grid.origin[row]);
  }
  for (const double last : {0, 0, 0, 1}) rows.push_back(last);
  return rows;
}

}  // namespace

std::vector<double> DrawnMesh::at_points(std::span<const double> values) const {
  std::vector<double> result;
  result.reserve(vertex.size());
  for (const VertexId v : vertex) result.push_back(values[v.index()]);
  return result;
}

DrawnMesh draw_mesh(const Dataset& file) { return file.tets.cells.empty() ? whole_surface(file) : outside_of(file); }

void add_triangles(Pack& pack, const std::string& prefix, std::span<const Vec3d> points,
                   std::span<const std::array<VertexId, 3>> triangles, std::string_view units) {
  pack.add_points(prefix + "points", points, units);
  const auto place = pack.integers(prefix + "triangles", {triangles.size(), 3});
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = triangles[i / 3][i % 3].value;
}

void add_lines(Pack& pack, const std::string& name, std::span<const Vec3d> points,
               const std::vector<std::vector<VertexId>>& lines) {
  std::vector<std::uint32_t> offsets{0};
  for (const auto& line : lines) offsets.push_back(offsets.back() + static_cast<std::uint32_t>(line.size()));
  const std::span<float> place = pack.floats(name + "_points", {offsets.back(), 3});
  std::size_t at = 0;
  for (const auto& line : lines)
    for (const VertexId v : line)
      for (int k = 0; k < 3; ++k) place[at++] = static_cast<float>(points[v.index()][k]);
  pack.add_integers(name + "_offsets", offsets);
}

Pack pack_geometry(const DrawnMesh& drawn, std::span<const Vec3d> points,
                   const std::vector<std::vector<VertexId>>& lines) {
  Pack pack;
  add_triangles(pack, "", drawn.surface.points, drawn.surface.triangles.cells);
  const std::span<std::uint32_t> ids = pack.integers("vertex", {drawn.vertex.size()});
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = drawn.vertex[i].value;
  add_lines(pack, "line", points, lines);
  return pack;
}

Pack pack_array(const DrawnMesh& drawn, const FileArrays& file, const std::string& name, const std::string& on) {
  const Placed placed = find_array(file, name, on);
  const auto width = static_cast<std::size_t>(placed.array->components);
  const std::size_t count = placed.on_points ? drawn.vertex.size() : drawn.element.size();
  Pack pack;
  const std::span<float> place = pack.floats("values", {count, width});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < width; ++k)
      place[i * width + k] = static_cast<float>(placed.array->at(source_tuple(drawn, placed, i), static_cast<int>(k)));
  return pack;
}

Pack pack_vectors(const DrawnMesh& drawn, const FileArrays& file, const std::string& name, std::size_t count) {
  const bool on_cells = file.cells.find(name) != nullptr;
  const Placed placed{on_cells ? file.cells.find(name) : file.points.find(name), !on_cells};
  if (placed.array == nullptr) throw InputError(fmt::format("there is no array '{}'; {}", name, advised_vectors(file)));
  if (placed.array->components != 3)
    throw InputError(fmt::format("array '{}' has {} components (a direction has 3); {}", name, placed.array->components,
                                 advised_vectors(file)));
  const std::size_t places = on_cells ? drawn.element.size() : drawn.vertex.size();
  const std::size_t shown = std::min(count, places);
  // As long as the places are apart, so that they neither overlap nor get lost.
  const double length = shown > 0 ? 0.8 * std::sqrt(area(drawn.surface) / static_cast<double>(shown)) : 0;
  std::vector<Vec3d> ends;
  ends.reserve(2 * shown);
  for (std::size_t n = 0; n < shown; ++n) {
    const std::size_t i = n * places / shown;
    const std::size_t tuple = source_tuple(drawn, placed, i);
    const Vec3d v{placed.array->at(tuple, 0), placed.array->at(tuple, 1), placed.array->at(tuple, 2)};
    const double size = norm(v);
    if (!(size > 0) || !std::isfinite(size)) continue;
    const Vec3d middle = on_cells ? centre(drawn.surface, i) : drawn.surface.points[i];
    const Vec3d half = (0.5 * length / size) * v;
    ends.push_back(middle - half);
    ends.push_back(middle + half);
  }
  Pack pack;
  const std::span<float> place = pack.floats("segments", {ends.size() / 2, 2, 3});
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = static_cast<float>(ends[i / 3][static_cast<int>(i % 3)]);
  return pack;
}

Json describe_image(const ImageGrid& grid, std::string_view kind, const std::string& units) {
  return {{"kind", kind},
          {"points", grid.voxel_count()},
          {"triangles", 0},
          {"tets", 0},
          {"lines", 0},
          {"bounds", bounds_of(grid)},
          {"units", units},
          {"arrays", Json::array()},
          {"fibers", Json::array()},
          {"regions", nullptr},
          {"shape", grid.shape},
          {"spacing", {grid.spacing(0), grid.spacing(1), grid.spacing(2)}},
          {"affine", affine_of(grid)}};
}

Pack::Shape volume_shape(const ImageGrid& grid) { return {grid.shape[2], grid.shape[1], grid.shape[0]}; }

void add_volume(Pack& pack, std::string_view name, const ImageGrid& grid, std::span<const float> values) {
  std::copy(values.begin(), values.end(), pack.floats(name, volume_shape(grid)).begin());
}

void add_vectors(Pack& pack, const std::string& name, std::span<const Vec3f> vectors) {
  const auto place = pack.floats(name, {vectors.size(), 3});
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (int a = 0; a < 3; ++a) place[3 * i + static_cast<std::size_t>(a)] = vectors[i][a];
}

}  // namespace isochron::viewer
