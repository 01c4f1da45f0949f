// The rows of a solution, whatever the domain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "isochron/adjoint/rows.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/seed_rows.h"
#include "isochron/solve/common/start.h"

namespace isochron {

/// One row for each of `count` vertices, then those of the seeds. `add_row(v, rows)` writes that of a vertex that was
/// reached and not by a seed; `internal(vertex)` is the number of a seed's vertex.
template <class T, class Internal, class AddRow>
DependenceRows make_rows(std::size_t count, const Start<T>& start, double unit, const std::vector<Seed>& seeds,
                         const SeedRows& seed_rows, int threads, const Internal& internal, const AddRow& add_row) {
  // The earliest seed of each vertex, of equal ones the first, unless the front came earlier.
  std::unordered_map<std::uint32_t, std::size_t> kept;
  for (std::size_t s = 0; s < seeds.size(); ++s) {
    const auto [place, fresh] = kept.try_emplace(internal(seeds[s].vertex), s);
    if (!fresh && seeds[s].time < seeds[place->second].time) place->second = s;
  }
  // Times are a T without `base`, and a double with it.
  constexpr double ulps = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const double slack = 16 * std::numeric_limits<double>::epsilon() * std::abs(start.base) / unit;
  std::erase_if(kept, [&](const auto& entry) {
    const double seed = (seeds[entry.second].time - start.base) / unit;
    return static_cast<double>(start.state.time[entry.first]) < seed - ulps * std::abs(seed) - slack;
  });
  std::vector<DependenceRows> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  const auto from_seeds = static_cast<std::uint32_t>(count);
  parallel_region(threads, [&](int thread, int team) {
    DependenceRows& rows = parts[static_cast<std::size_t>(thread)];
    loop(count * thread / team, count * (thread + 1) / team, [&](std::size_t i) {
      const auto v = static_cast<std::uint32_t>(i);
      if (!(start.state.time[v] < std::numeric_limits<T>::infinity())) return rows.end_row();
      const auto seed = kept.find(v);
      if (seed == kept.end()) return add_row(v, rows);
      rows.add_node(from_seeds + seed_rows.row_of.at(seed->second), 1);
      rows.end_row();
    });
  });
  DependenceRows rows = std::move(parts[0]);
  // All nodes of vertices' rows are numbers in the whole already; those of seeds' rows count from their first one on.
  for (std::size_t k = 1; k < parts.size(); ++k) rows.append(parts[k], std::numeric_limits<std::uint32_t>::max());
  rows.append(seed_rows.rows, 0);
  return rows;
}

}  // namespace isochron
