// Images: values on a regular grid of voxels, masks, and the axes that tensors are written along.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/types.h"

namespace isochron {

// ---- Images: values on a regular grid of voxels, and where the voxels are in the world.

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

// ---- Which voxels of an image count: masks in files of their own, and those that come with tensors.

/// Tensors may come with a confidence, from 0 to 1; below this they are background, as they are to teem.
inline constexpr double min_confidence = 0.5;

/// An array of an image that has the voxels of `grid` and one value for each: that of this name, or the first. Throws
/// InputError when it is not there, lies elsewhere, has another shape or several values a voxel; `what` names the
/// image.
const DataArray& values_on(const ImageGrid& grid, const Image& image, const std::string& what,
                           const std::string& name = {});
/// The same for a mask: without a name, the only array. Throws InputError when there are several, too.
const DataArray& mask_array(const ImageGrid& grid, const Image& image, const std::string& what,
                            const std::string& name);

/// An array of one value a voxel as a mask: 1 where it is finite and not 0.
std::vector<std::uint8_t> mask_values(const DataArray& array);

/// That array of an image as a mask. Throws InputError as `mask_array` does, and when it is 0 everywhere.
std::vector<std::uint8_t> mask_of(const Image& image, const ImageGrid& grid, const std::string& what,
                                  const std::string& name = {});

/// Takes the first component of each tuple away: a confidence, as an array `mask` of 0 and 1.
DataArray split_confidence(DataArray& array);

/// The same for array number `index` of an image: a symmetric tensor behind a confidence, seven components row by row,
/// becomes one of six, and the image gets a mask of its own. Other numbers of components stay as they are.
void split_confidence(Image& image, std::size_t index);

/// The mask that an image has itself, not 0 where its tensors count: its array `mask`. Null when there is none.
const DataArray* own_mask(const Image& image);

/// Sets `mask` (empty: everywhere) to 0 where the image's own mask is 0.
void apply_own_mask(const Image& image, std::vector<std::uint8_t>& mask);

// ---- Along which axes an image's tensors and gradient directions are written, and how they get into the world.

/// What x, y and z mean in the components of tensors and directions.
enum class TensorFrame {
  world,  ///< the world axes (MRtrix's scanner RAS)
  voxel,  ///< the image's own axes
  fsl     ///< the image's own axes, the first one reversed when the affine has a positive determinant (FSL)
};

/// An orthogonal matrix, as the world directions of a frame's x, y and z.
struct FrameAxes {
  std::array<Vec3d, 3> axis{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
};

/// The frame's axes in the world. For voxel axes that are not at right angles, the nearest ones that are (the
/// orthogonal part of their directions' polar decomposition). The axes must be independent, see `check_grid`.
FrameAxes frame_axes(const ImageGrid& grid, TensorFrame frame);

inline Vec3d rotate_to_world(const Vec3d& v, const FrameAxes& frame) {
  return v.x * frame.axis[0] + v.y * frame.axis[1] + v.z * frame.axis[2];
}
/// R T Rᵀ with the frame's axes as the columns of R.
SymTensor3d rotate_to_world(const SymTensor3d& tensor, const FrameAxes& frame);
SymTensor3d rotate_to_world(const SymTensor3d& tensor, const ImageGrid& grid, TensorFrame frame);

// ---- How the volumes of a diffusion image were weighted.

/// One b-value and one direction per volume, as a pair of FSL files gives them: directions along the voxel axes with
/// FSL's sign rule (`TensorFrame::fsl`), of any length, zero or not finite where b is 0.
struct GradientTable {
  std::vector<double> b;  ///< s/mm²
  std::vector<Vec3d> direction;
};

}  // namespace isochron
