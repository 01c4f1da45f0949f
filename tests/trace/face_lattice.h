// The quickest way between two voxels of a flat image by brute force: an independent check of traced paths.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "isochron/image.h"
#include "isochron/metric.h"

namespace isochron::test {

/// Dijkstra's search over points on the borders between voxels, with straight pieces across the voxels. It never finds
/// less than the least travel time, and little more the finer the lattice is.
class FaceLattice {
 public:
  FaceLattice(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask)
      : grid_(grid), metric_(metric), mask_(mask) {}

  [[nodiscard]] double quickest(VertexId from, VertexId to) const {
    const std::size_t nodes = 2 * grid_.voxel_count() * per_border;
    std::vector<double> cost(nodes, std::numeric_limits<double>::infinity());
    using Entry = std::pair<double, std::size_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto spread = [&](const Vec3d& at, double already, std::uint32_t i, std::uint32_t j) {
      const VertexId v = grid_.voxel(i, j, 0);
      if (mask_[v.index()] == 0) return;
      const SymTensor3d m = metric_.tensor(ElementId(v.index()));
      for (const std::size_t node : around(i, j)) {
        const double there = already + std::sqrt(squared_length(m, position(node) - at));
        if (!(there < cost[node])) continue;
        cost[node] = there;
        queue.emplace(there, node);
      }
    };
    const auto start = grid_.index(from), goal = grid_.index(to);
    spread(grid_.position(from), 0, start[0], start[1]);
    while (!queue.empty()) {
      const auto [already, node] = queue.top();
      queue.pop();
      if (already > cost[node]) continue;
      const auto [i, j, axis] = border(node);
      spread(position(node), already, i, j);
      spread(position(node), already, i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0));
    }
    double best = std::numeric_limits<double>::infinity();
    const SymTensor3d m = metric_.tensor(ElementId(to.index()));
    for (const std::size_t node : around(goal[0], goal[1]))
      best = std::min(best, cost[node] + std::sqrt(squared_length(m, grid_.position(to) - position(node))));
    return best;
  }

 private:
  static constexpr std::size_t per_border = 24;

  /// The voxel below the border that holds a node, and the border's axis.
  [[nodiscard]] std::array<std::uint32_t, 3> border(std::size_t node) const {
    const std::size_t b = node / per_border;
    const auto [i, j, k] = grid_.index(VertexId(b / 2));
    return {i, j, static_cast<std::uint32_t>(b % 2)};
  }

  [[nodiscard]] Vec3d position(std::size_t node) const {
    const auto [i, j, axis] = border(node);
    Vec3d p{static_cast<double>(i), static_cast<double>(j), 0};
    p[static_cast<int>(axis)] += 0.5;
    p[1 - static_cast<int>(axis)] += (static_cast<double>(node % per_border) + 0.5) / per_border - 0.5;
    return grid_.position(p);
  }

  /// Nodes on the borders of a voxel to its neighbours.
  [[nodiscard]] std::vector<std::size_t> around(std::uint32_t i, std::uint32_t j) const {
    std::vector<std::size_t> nodes;
    const auto add = [&](std::uint32_t a, std::uint32_t b, std::size_t axis) {
      for (std::size_t n = 0; n < per_border; ++n)
        nodes.push_back((2 * grid_.voxel(a, b, 0).index() + axis) * per_border + n);
    };
    if (i + 1 < grid_.shape[0]) add(i, j, 0);
    if (j + 1 < grid_.shape[1]) add(i, j, 1);
    if (i > 0) add(i - 1, j, 0);
    if (j > 0) add(i, j - 1, 1);
    return nodes;
  }

  const ImageGrid& grid_;
  const Metric& metric_;
  std::span<const std::uint8_t> mask_;
};

}  // namespace isochron::test
