#include "isochron/solve/grid/grid_box.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {
namespace {

constexpr std::uint32_t max_along_an_axis = 1U << 30;

Vec3i shape_of(const ImageGrid& grid) {
  return {static_cast<int>(grid.shape[0]), static_cast<int>(grid.shape[1]), static_cast<int>(grid.shape[2])};
}

/// First and last index of the allowed voxels.
std::pair<Vec3i, Vec3i> bounds(const Vec3i& shape, std::span<const std::uint8_t> mask) {
  if (mask.empty()) return {{0, 0, 0}, shape - Vec3i{1, 1, 1}};
  Vec3i low = shape, high{-1, -1, -1};
  const auto allowed = [](std::uint8_t value) { return value != 0; };
  const auto* row = mask.data();
  for (int k = 0; k < shape.z; ++k)
    for (int j = 0; j < shape.y; ++j, row += shape.x) {
      const auto* end = row + shape.x;
      const auto* first = std::find_if(row, end, allowed);
      if (first == end) continue;
      const auto* last = end - 1;
      while (*last == 0) --last;
      low = {std::min(low.x, static_cast<int>(first - row)), std::min(low.y, j), std::min(low.z, k)};
      high = {std::max(high.x, static_cast<int>(last - row)), std::max(high.y, j), std::max(high.z, k)};
    }
  if (high.x < 0) throw InputError("the mask is 0 everywhere (no voxel is left to solve on); give another mask");
  return {low, high};
}

}  // namespace

GridCells make_cells(const ImageGrid& grid, std::span<const std::uint8_t> mask) {
  if (!mask.empty() && mask.size() != grid.voxel_count())
    throw InputError(fmt::format("the mask does not fit the image ({} values, {} voxels); give one of the same shape",
                                 mask.size(), grid.voxel_count()));
  GridCells cells;
  GridBox& box = cells.box;
  if (*std::max_element(grid.shape.begin(), grid.shape.end()) > max_along_an_axis)
    throw InputError(fmt::format("the image is too long ({} x {} x {}, at most {} along an axis); cut it",
                                 grid.shape[0], grid.shape[1], grid.shape[2], max_along_an_axis));
  box.image_shape = shape_of(grid);
  const auto [low, high] = bounds(box.image_shape, mask);
  box.lower = low;
  box.shape = high - low + Vec3i{1, 1, 1};
  if (grid.flat()) box.border.z = 0;
  const Vec3i padded = box.shape + 2 * box.border;
  box.row = padded.x;
  box.slice = static_cast<std::ptrdiff_t>(padded.x) * padded.y;
  box.cell_count = static_cast<std::size_t>(box.slice) * static_cast<std::size_t>(padded.z);
  if (box.cell_count >= VertexId::invalid_value)
    throw InputError(
        fmt::format("the image has too many voxels to be solved ({} with a border, at most {}); cut or coarsen it",
                    box.cell_count, VertexId::invalid_value - 1));
  cells.allowed.assign(box.cell_count, 0);
  cells.list.reserve(mask.empty() ? grid.voxel_count()
                                  : static_cast<std::size_t>(std::count_if(
                                        mask.begin(), mask.end(), [](std::uint8_t value) { return value != 0; })));
  for (int k = low.z; k <= high.z; ++k)
    for (int j = low.y; j <= high.y; ++j) {
      const std::uint32_t first = box.cell({low.x, j, k});
      const std::uint8_t* may_enter = mask.empty() ? nullptr : mask.data() + box.voxel({low.x, j, k}).index();
      for (int i = 0; i < box.shape.x; ++i) {
        if (may_enter != nullptr && may_enter[i] == 0) continue;
        const std::uint32_t cell = first + static_cast<std::uint32_t>(i);
        cells.allowed[cell] = 1;
        cells.list.push_back(cell);
      }
    }
  cells.masked = cells.list.size() < static_cast<std::size_t>(box.shape.x) * static_cast<std::size_t>(box.shape.y) *
                                         static_cast<std::size_t>(box.shape.z);
  return cells;
}

}  // namespace isochron
