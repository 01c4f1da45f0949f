#include "apps/viewer/server/image_pack.h"

#include <algorithm>

namespace isochron::viewer {
namespace {

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

void add_mesh(Pack& pack, const std::string& prefix, const TriangleMesh& mesh, const std::string& units) {
  pack.add_points(prefix + "points", mesh.points, units);
  const auto triangles = pack.integers(prefix + "triangles", {mesh.element_count(), 3});
  for (std::size_t i = 0; i < triangles.size(); ++i) triangles[i] = mesh.elements[i / 3][i % 3].value;
}

void add_vectors(Pack& pack, const std::string& name, std::span<const Vec3f> vectors) {
  const auto place = pack.floats(name, {vectors.size(), 3});
  for (std::size_t i = 0; i < vectors.size(); ++i)
    for (int a = 0; a < 3; ++a) place[3 * i + static_cast<std::size_t>(a)] = vectors[i][a];
}

}  // namespace isochron::viewer
