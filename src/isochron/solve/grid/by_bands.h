// Cells in about the order of their times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace isochron {

/// The reached cells of a list by bands of time, in their order inside a band. Times below 0, which no scheme should
/// give, are in the first one.
template <class T>
std::vector<std::uint32_t> by_bands(const std::vector<std::uint32_t>& cells, const T* time, T width) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  T latest = 0;
  std::size_t reached = 0;
  for (const std::uint32_t x : cells) {
    if (!(time[x] < inf)) continue;
    latest = std::max(latest, time[x]);
    ++reached;
  }
  const double most = static_cast<double>(reached) + 1;  // bands, whatever the times
  const double scale = std::min(1 / static_cast<double>(width), most / std::max(1.0, static_cast<double>(latest)));
  const auto band_of = [&](T t) { return static_cast<std::size_t>(std::max(0.0, static_cast<double>(t) * scale)); };
  std::vector<std::uint32_t> begin(band_of(latest) + 3, 0), order(reached);
  for (const std::uint32_t x : cells)
    if (time[x] < inf) ++begin[band_of(time[x]) + 2];
  for (std::size_t b = 2; b < begin.size(); ++b) begin[b] += begin[b - 1];
  for (const std::uint32_t x : cells)
    if (time[x] < inf) order[begin[band_of(time[x]) + 1]++] = x;
  return order;
}

}  // namespace isochron
