// Images: values on a regular grid of voxels, and where the voxels are in the world.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isochron/core/ids.h"
#include "isochron/core/vec.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/tensor_order.h"

namespace isochron {

/// Voxel (i, j, k) has its centre at origin + i·axes[0] + j·axes[1] + k·axes[2]. An axis holds direction and spacing
/// together. A flat image has shape[2] = 1 (its third axis then only needs to be out of the plane). World space is the
/// caller's; for medical images RAS in mm. Plain data: nothing is checked here, see `check_grid`.
struct ImageGrid {
  std::array<std::uint32_t, 3> shape{1, 1, 1};
  Vec3d origin{};
  std::array<Vec3d, 3> axes{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};

  [[nodiscard]] std::size_t voxel_count() const { return std::size_t{shape[0]} * shape[1] * shape[2]; }
  [[nodiscard]] bool flat() const { return shape[2] == 1; }
  /// The voxel of an index inside the shape; the first index runs fastest.
  [[nodiscard]] VertexId voxel(std::uint32_t i, std::uint32_t j, std::uint32_t k) const {
    return VertexId(i + shape[0] * (j + std::size_t{shape[1]} * k));
  }
  [[nodiscard]] std::array<std::uint32_t, 3> index(VertexId voxel) const {
    const std::size_t row = voxel.index() / shape[0];
    return {static_cast<std::uint32_t>(voxel.index() % shape[0]), static_cast<std::uint32_t>(row % shape[1]),
            static_cast<std::uint32_t>(row / shape[1])};
  }
  [[nodiscard]] double spacing(int axis) const { return norm(axes[static_cast<std::size_t>(axis)]); }
  /// World position of an index, which may lie between voxels.
  [[nodiscard]] Vec3d position(const Vec3d& index) const {
    return origin + index.x * axes[0] + index.y * axes[1] + index.z * axes[2];
  }
  [[nodiscard]] Vec3d position(VertexId voxel) const {
    const auto [i, j, k] = index(voxel);
    return position(Vec3d{static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)});
  }
  /// The index of a world position: the inverse of `position`. The axes must be independent.
  [[nodiscard]] Vec3d index_of(const Vec3d& position) const;
  /// The voxel whose centre is nearest, when the position lies inside the image (up to half a voxel past the outer
  /// centres).
  [[nodiscard]] std::optional<VertexId> voxel_at(const Vec3d& position) const;
  friend bool operator==(const ImageGrid&, const ImageGrid&) = default;
};

/// Throws InputError unless the shape is not empty, has at most 2³²−2 voxels, and origin and axes are finite and the
/// axes independent, with lengths that can be squared; `what` names the image.
void check_grid(const ImageGrid& grid, const std::string& what);

/// Whether two images have the same voxels: equal shapes, and corners that differ by less than `tolerance` voxels.
bool same_voxels(const ImageGrid& a, const ImageGrid& b, double tolerance = 1e-2);

/// M (world) as it measures steps in voxels: Aᵀ M A with the axes as the columns of A.
SymTensor3d metric_per_voxel(const ImageGrid& grid, const SymTensor3d& m);

/// An image file's content. Every array has one tuple per voxel, in the order of `ImageGrid::voxel`.
struct Image {
  ImageGrid grid;
  DataArrays data;
  /// Where the file says that its first array is a tensor, the order of its components; their frame is the world.
  std::optional<TensorOrder> tensor_order;
  /// Things a reader noticed that the user should know, one line each.
  std::vector<std::string> warnings;

  /// What the file says about one of its arrays.
  [[nodiscard]] std::optional<TensorOrder> order_of(const DataArray& array) const {
    return !data.empty() && &array == &data.all().front() ? tensor_order : std::nullopt;
  }
};

}  // namespace isochron
