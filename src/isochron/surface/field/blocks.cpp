#include "isochron/surface/field/blocks.h"

#include <numeric>

#include <fmt/format.h>

namespace isochron {
namespace {

constexpr int enough_places = 8, largest_block = 8;

/// At which indices along an axis a voxel differs from the one before it.
template <class Value>
std::vector<int> places_of_change(const ImageGrid& grid, std::span<const Value> values, int axis) {
  const std::size_t row = grid.shape[0], slice = row * grid.shape[1];
  const std::size_t step = axis == 0 ? 1 : axis == 1 ? row : slice;
  std::vector<std::uint8_t> changes(grid.shape[axis], 0);
  std::size_t v = 0;
  for (std::uint32_t k = 0; k < grid.shape[2]; ++k) {
    for (std::uint32_t j = 0; j < grid.shape[1]; ++j) {
      for (std::uint32_t i = 0; i < grid.shape[0]; ++i, ++v) {
        const std::uint32_t at = axis == 0 ? i : axis == 1 ? j : k;
        if (at > 0 && values[v] != values[v - step]) changes[at] = 1;
      }
    }
  }
  std::vector<int> places;
  for (std::size_t at = 0; at < changes.size(); ++at)
    if (changes[at] != 0) places.push_back(static_cast<int>(at));
  return places;
}

}  // namespace

template <class Value>
BlockGrid find_blocks(const ImageGrid& grid, std::span<const Value> values) {
  BlockGrid blocks;
  blocks.grid = grid;
  bool any = false;
  for (int a = 0; a < 3; ++a) {
    const std::vector<int> places = places_of_change(grid, values, a);
    if (places.size() < enough_places) continue;
    int size = 0;
    for (const int place : places) size = std::gcd(size, place - places[0]);
    if (size < 2 || size > largest_block) continue;
    any = true;
    const int n = static_cast<int>(grid.shape[a]);
    const int before = (size - places[0] % size) % size;
    blocks.size[a] = size;
    blocks.before[a] = before;
    blocks.grid.shape[a] = static_cast<std::uint32_t>((n + before + size - 1) / size);
    blocks.grid.axes[a] = static_cast<double>(size) * grid.axes[a];
    blocks.grid.origin += (0.5 * (size - 1) - before) * grid.axes[a];
  }
  if (any)
    blocks.note = fmt::format("the labels come in blocks of {} x {} x {} voxels: each block counts as one voxel",
                              blocks.size[0], blocks.size[1], blocks.size[2]);
  return blocks;
}

template BlockGrid find_blocks(const ImageGrid&, std::span<const std::uint8_t>);
template BlockGrid find_blocks(const ImageGrid&, std::span<const std::int32_t>);

std::set<std::int32_t> labels_in(std::span<const std::int32_t> labels) {
  std::set<std::int32_t> result;
  for (std::size_t v = 0; v < labels.size(); ++v)
    if (v == 0 || labels[v] != labels[v - 1]) result.insert(labels[v]);
  return result;
}

}  // namespace isochron
