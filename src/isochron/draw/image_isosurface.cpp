#include "isochron/draw/image_isosurface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/mesh/marching_tetrahedra.h"

namespace isochron {
namespace {

constexpr float outside = std::numeric_limits<float>::quiet_NaN();

/// Voxel indices from `low` to below `high`; may go one beyond the image.
struct Box {
  std::array<std::int64_t, 3> low, high;
};

/// Around the voxels that are inside, with one more layer on all sides; false when there are none.
template <class Inside>
bool find_box(const ImageGrid& grid, const Inside& inside, Box& box) {
  box.low = {grid.shape[0], grid.shape[1], grid.shape[2]};
  box.high = {0, 0, 0};
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
    if (!inside(v)) continue;
    const auto index = grid.index(VertexId(v));
    for (std::size_t a = 0; a < 3; ++a) {
      box.low[a] = std::min<std::int64_t>(box.low[a], index[a]);
      box.high[a] = std::max<std::int64_t>(box.high[a], index[a] + 1);
    }
  }
  for (std::size_t a = 0; a < 3; ++a) {
    --box.low[a];
    ++box.high[a];
  }
  return box.high[0] > 1;
}

}  // namespace

TriangleMesh image_isosurface(const ImageGrid& grid, std::span<const float> values, double level, Enclose side) {
  if (!std::isfinite(level))
    throw UsageError(fmt::format("a surface of value {} cannot be drawn; give a number", level));
  if (values.size() != grid.voxel_count())
    throw InputError(
        fmt::format("there are {} values for {} voxels; one each is needed", values.size(), grid.voxel_count()));
  const double sign = side == Enclose::below ? 1 : -1;
  // Negative inside. A difference that is lost in single precision still has its sign.
  const auto value_of = [&](std::size_t v) {
    if (!std::isfinite(values[v])) return outside;
    return static_cast<float>(sign * (static_cast<double>(values[v]) - level));
  };
  Box box;
  if (!find_box(
          grid, [&](std::size_t v) { return value_of(v) < 0; }, box))
    return {};
  ImageGrid part = grid;
  for (std::size_t a = 0; a < 3; ++a) {
    part.shape[a] = static_cast<std::uint32_t>(box.high[a] - box.low[a]);
    part.origin += static_cast<double>(box.low[a]) * grid.axes[a];
  }
  std::vector<float> shifted(part.voxel_count(), outside);
  for (std::size_t v = 0; v < shifted.size(); ++v) {
    const auto index = part.index(VertexId(v));
    std::array<std::int64_t, 3> in_image{};
    bool held = true;
    for (std::size_t a = 0; a < 3; ++a) {
      in_image[a] = box.low[a] + index[a];
      held = held && in_image[a] >= 0 && in_image[a] < grid.shape[a];
    }
    if (held)
      shifted[v] = value_of(grid.voxel(static_cast<std::uint32_t>(in_image[0]), static_cast<std::uint32_t>(in_image[1]),
                                       static_cast<std::uint32_t>(in_image[2]))
                                .index());
  }
  return marching_tetrahedra(part, shifted);
}

std::vector<Vec3f> vertex_normals(const TriangleMesh& mesh) {
  std::vector<Vec3d> sums(mesh.vertex_count());
  for (const auto& [a, b, c] : mesh.elements) {
    const Vec3d normal = cross(mesh.point(b) - mesh.point(a), mesh.point(c) - mesh.point(a));
    for (const VertexId v : {a, b, c}) sums[v.index()] += normal;
  }
  std::vector<Vec3f> result;
  result.reserve(sums.size());
  for (const Vec3d& sum : sums) {
    const double length = norm(sum);
    const Vec3d unit = length > 0 ? sum / length : Vec3d{0, 0, 1};
    result.push_back({static_cast<float>(unit.x), static_cast<float>(unit.y), static_cast<float>(unit.z)});
  }
  return result;
}

}  // namespace isochron
