#include "isochron/draw/cut.h"

#include <algorithm>
#include <vector>

#include "isochron/core/error.h"
#include "isochron/draw/edge_points.h"
#include "isochron/draw/isochrones.h"

namespace isochron {

namespace {

std::vector<double> heights(const Dataset& dataset, const CutPlane& plane) {
  std::vector<double> result;
  result.reserve(dataset.points.size());
  for (const Vec3d& p : dataset.points) result.push_back(dot(p - plane.point, plane.normal));
  return result;
}

}  // namespace

void check_cut(const Dataset& dataset, const CutPlane& plane) {
  const std::vector<double> height = heights(dataset, plane);
  if (std::none_of(height.begin(), height.end(), [](double h) { return h < 0; }))
    throw UsageError("there is nothing left to draw (the cut removes everything); move the cut plane or turn it round");
}

Dataset clip_surface(const Dataset& surface, const CutPlane& plane) {
  const std::vector<double> height = heights(surface, plane);
  Dataset result;
  EdgePoints points(surface);
  for (const auto& triangle : surface.triangles.cells) {
    // Walk round the triangle and collect what stays: at most four corners.
    std::vector<VertexId> polygon;
    for (std::size_t i = 0; i < 3; ++i) {
      const VertexId a = triangle[i];
      const VertexId b = triangle[(i + 1) % 3];
      const double height_a = height[a.index()];
      const double height_b = height[b.index()];
      if (height_a < 0) polygon.push_back(points.keep(a));
      if ((height_a < 0) != (height_b < 0)) polygon.push_back(points.cut(a, b, height_a, height_b, 0));
    }
    for (std::size_t i = 2; i < polygon.size(); ++i) {
      result.triangles.cells.push_back({polygon[0], polygon[i - 1], polygon[i]});
    }
  }
  points.finish(result);
  return result;
}

Dataset cut_face(const Dataset& volume, const CutPlane& plane) {
  const double level = 0;
  return level_surfaces(volume, heights(volume, plane), std::span(&level, 1));
}

Dataset merged_surfaces(const Dataset& first, const Dataset& second) {
  Dataset result;
  result.points = first.points;
  result.points.insert(result.points.end(), second.points.begin(), second.points.end());
  result.triangles.cells = first.triangles.cells;
  for (auto triangle : second.triangles.cells) {
    for (VertexId& v : triangle) v = VertexId(v.index() + first.points.size());
    result.triangles.cells.push_back(triangle);
  }
  for (const DataArray& array : first.point_data.all()) {
    const DataArray* other = second.point_data.find(array.name);
    if (other == nullptr || other->components != array.components || other->values.index() != array.values.index())
      continue;
    DataArray both = array;
    std::visit(
        [&](auto& values) {
          const auto& more = std::get<std::decay_t<decltype(values)>>(other->values);
          values.insert(values.end(), more.begin(), more.end());
        },
        both.values);
    result.point_data.set(std::move(both));
  }
  return result;
}

}  // namespace isochron
