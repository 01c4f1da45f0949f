// Which cells a grid solve works on, and how they are numbered.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/image.h"
#include "isochron/types.h"

namespace isochron {

/// The smallest box around the allowed voxels, with a border of one cell on all sides (a flat image has none above and
/// below). Cells of the border and masked-out ones are never reached, so their times stay +inf and an axis neighbour
/// can be read without asking whether it is there. Cells are numbered with the first index fastest.
struct GridBox {
  Vec3i lower;  ///< image index of the first voxel inside the border
  Vec3i shape;  ///< without the border
  Vec3i border{1, 1, 1};
  std::ptrdiff_t row = 1, slice = 1;  ///< cells from one row, or slice, to the next
  std::size_t cell_count = 0;
  Vec3i image_shape;

  [[nodiscard]] std::uint32_t cell(const Vec3i& index) const {
    const Vec3i at = index - lower + border;
    return static_cast<std::uint32_t>(at.x + row * at.y + slice * at.z);
  }
  /// Image index of a cell (those of the border are beside the box).
  [[nodiscard]] Vec3i index(std::uint32_t cell) const {
    const std::uint32_t z = cell / static_cast<std::uint32_t>(slice);
    const std::uint32_t in_slice = cell - z * static_cast<std::uint32_t>(slice);
    const std::uint32_t y = in_slice / static_cast<std::uint32_t>(row);
    const std::uint32_t x = in_slice - y * static_cast<std::uint32_t>(row);
    return Vec3i{static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)} + lower - border;
  }
  [[nodiscard]] VertexId voxel(const Vec3i& index) const {
    return VertexId(static_cast<std::size_t>(index.x) +
                    static_cast<std::size_t>(image_shape.x) *
                        (static_cast<std::size_t>(index.y) +
                         static_cast<std::size_t>(image_shape.y) * static_cast<std::size_t>(index.z)));
  }
  [[nodiscard]] bool holds(const Vec3i& index) const {
    const Vec3i at = index - lower;
    return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < shape.x && at.y < shape.y && at.z < shape.z;
  }
  /// Cells from one to the one at an offset.
  [[nodiscard]] std::ptrdiff_t step(const Vec3i& offset) const { return offset.x + row * offset.y + slice * offset.z; }
  [[nodiscard]] std::ptrdiff_t axis_step(int axis) const { return axis == 0 ? 1 : axis == 1 ? row : slice; }
};

/// The cells of one image and mask, or of one rank's part of it.
struct GridCells {
  /// What `allowed` has for a cell that another rank computes.
  static constexpr std::uint8_t ghost = 2;

  GridBox box;
  std::vector<std::uint32_t> list;    ///< the allowed cells, ascending, without ghosts
  std::vector<std::uint32_t> ghosts;  ///< of a part: allowed cells that are read here and computed elsewhere
  BigVector<std::uint8_t> allowed;    ///< per cell: 1 inside the mask, `ghost` at ghosts
  bool masked = false;                ///< whether any voxel of the box is not allowed

  [[nodiscard]] bool may_enter(const Vec3i& index) const { return box.holds(index) && allowed[box.cell(index)] != 0; }
};

/// The voxels of the allowed cells.
inline std::vector<ElementId> allowed_voxels(const GridCells& cells) {
  std::vector<ElementId> voxels;
  voxels.reserve(cells.list.size());
  for (const std::uint32_t cell : cells.list) voxels.emplace_back(cells.box.voxel(cells.box.index(cell)).index());
  return voxels;
}

/// `mask` is empty (all voxels are allowed) or has one value per voxel, 0 where nothing may pass. Throws InputError
/// when it has another size or lets nothing through.
GridCells make_cells(const ImageGrid& grid, std::span<const std::uint8_t> mask);

}  // namespace isochron
