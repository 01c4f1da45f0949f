#include "isochron/connect/components.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace isochron {
namespace {

/// Calls `visit` with the voxel itself and those of its 26 neighbours that are in the image.
template <class Visit>
void for_neighbours(const ImageGrid& grid, VertexId voxel, Visit&& visit) {
  const auto at = grid.index(voxel);
  std::array<std::uint32_t, 3> low{}, high{};
  for (std::size_t d = 0; d < 3; ++d) {
    low[d] = at[d] > 0 ? at[d] - 1 : 0;
    high[d] = std::min(at[d] + 1, grid.shape[d] - 1);
  }
  for (std::uint32_t k = low[2]; k <= high[2]; ++k)
    for (std::uint32_t j = low[1]; j <= high[1]; ++j)
      for (std::uint32_t i = low[0]; i <= high[0]; ++i) visit(grid.voxel(i, j, k));
}

}  // namespace

Components find_components(const ImageGrid& grid, std::span<const std::uint8_t> set) {
  Components result;
  result.of_voxel.assign(set.size(), -1);
  std::vector<VertexId> open;
  for (std::size_t start = 0; start < set.size(); ++start) {
    if (set[start] == 0 || result.of_voxel[start] >= 0) continue;
    const auto part = static_cast<std::int32_t>(result.sizes.size());
    std::size_t size = 0;
    const auto enter = [&](VertexId v) {
      if (set[v.index()] == 0 || result.of_voxel[v.index()] >= 0) return;
      result.of_voxel[v.index()] = part;
      ++size;
      open.push_back(v);
    };
    enter(VertexId(start));
    while (!open.empty()) {
      const VertexId v = open.back();
      open.pop_back();
      for_neighbours(grid, v, enter);
    }
    result.sizes.push_back(size);
  }
  return result;
}

// Floods from one region, always into the lowest voxel beside the flood.
double joining_level(const ImageGrid& grid, std::span<const double> values, std::span<const VertexId> from,
                     std::span<const VertexId> to) {
  std::vector<bool> wanted(values.size(), false), seen(values.size(), false);
  for (const VertexId v : to) wanted[v.index()] = true;
  using Entry = std::pair<double, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> border;
  const auto enter = [&](VertexId v) {
    if (seen[v.index()] || !std::isfinite(values[v.index()])) return;
    seen[v.index()] = true;
    border.emplace(values[v.index()], v);
  };
  for (const VertexId v : from) enter(v);
  double level = -std::numeric_limits<double>::infinity();
  while (!border.empty()) {
    const auto [value, v] = border.top();
    border.pop();
    level = std::max(level, value);
    if (wanted[v.index()]) return level;
    for_neighbours(grid, v, enter);
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace isochron
