// Fast sweeping on simplex meshes (Qian, Zhang and Zhao 2007): Gauss–Seidel passes in the order of the distance from
// reference points, forwards and backwards, until a whole iteration changes nothing.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// Vertices (internal numbering) by distance from each corner of the bounding box: eight orders, or four in a plane.
template <class T, int Corners>
std::vector<std::vector<std::uint32_t>> sweep_orders(const SimplexProblem<T, Corners>& problem,
                                                     std::span<const Vec3d> points) {
  Vec3d low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
  for (const Vec3d& p : points)
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
    }
  std::vector<std::vector<std::uint32_t>> orders;
  std::vector<double> distance(points.size());
  for (int corner = 0; corner < (high.z > low.z ? 8 : 4); ++corner) {
    const Vec3d reference{(corner & 1) != 0 ? high.x : low.x, (corner & 2) != 0 ? high.y : low.y,
                          (corner & 4) != 0 ? high.z : low.z};
    for (std::size_t v = 0; v < points.size(); ++v) {
      const Vec3d d = points[problem.user(static_cast<std::uint32_t>(v)).index()] - reference;
      distance[v] = dot(d, d);
    }
    std::vector<std::uint32_t> order(points.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return distance[a] < distance[b]; });
    orders.push_back(std::move(order));
  }
  return orders;
}

/// Sweeps until an iteration (all orders, both ways) gains nothing countable, or gives up.
template <class Relax>
void fsm(const Relax& relax, SolveState<typename Relax::Scalar>& state,
         const std::vector<std::vector<std::uint32_t>>& orders) {
  using T = typename Relax::Scalar;
  Counters& counters = state.counters;
  std::uint64_t sweeps = 0;
  for (bool changed = true; changed;) {
    if (counters.rounds > max_sweeps({state.time.size(), state.contrast})) {
      state.converged = false;
      return;
    }
    changed = false;
    ++counters.rounds;
    for (const auto& order : orders)
      for (const bool forwards : {true, false}) {
        for (std::size_t i = 0; i < order.size(); ++i) {
          if ((i & 0xffffU) == 0 && state.progress.cancelled()) throw Cancelled();
          const std::uint32_t v = forwards ? order[i] : order[order.size() - 1 - i];
          const T time = relax.pull(v, counters.local_solves);
          ++counters.vertex_updates;
          if (time < state.time[v] && lower_countably(relax, state, v, time)) changed = true;
        }
        state.progress.update(std::min(1.0, static_cast<double>(++sweeps) / static_cast<double>(4 * orders.size())));
      }
  }
}

}  // namespace isochron
