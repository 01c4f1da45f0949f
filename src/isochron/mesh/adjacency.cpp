#include "isochron/mesh/adjacency.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"

namespace isochron {
namespace {

constexpr std::size_t chunk_size = 4096;

/// The vertices that some elements have.
struct IdRange {
  std::uint32_t low = 0xffffffffU, high = 0;
};

/// Of each chunk of elements.
template <int Corners>
std::vector<IdRange> ranges_of_chunks(std::span<const std::array<VertexId, Corners>> elements, int threads) {
  constexpr IdRange any{0, 0xffffffffU};
  std::vector<IdRange> ranges((elements.size() + chunk_size - 1) / chunk_size, any);
  if (threads == 1) return ranges;  // one thread owns all
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    for (std::size_t chunk = ranges.size() * thread / team; chunk < ranges.size() * (thread + 1) / team; ++chunk) {
      IdRange range;
      const std::size_t begin = chunk * chunk_size;
      loop(begin, std::min(begin + chunk_size, elements.size()), [&](std::size_t e) {
        for (const VertexId v : elements[e]) range = {std::min(range.low, v.value), std::max(range.high, v.value)};
      });
      ranges[chunk] = range;
    }
  });
  return ranges;
}

}  // namespace

template <int Corners>
Adjacency build_adjacency(std::span<const std::array<VertexId, Corners>> elements, std::size_t vertex_count,
                          int threads) {
  if (elements.size() > (1ULL << 30) || elements.size() * Corners > 0xffffffffULL)
    throw InputError(
        fmt::format("{} elements are too many (incidence lists have 32 bits); split the mesh", elements.size()));

  Adjacency result;
  result.offsets.assign(vertex_count + 1, 0);
  result.incidences.resize(elements.size() * Corners);
  // Each thread owns a range of vertices and reads the elements that may have some of them: no atomics, and the order
  // is that of the elements.
  const int team = granted_threads(static_cast<int>(std::min<std::size_t>(threads, 1 + vertex_count / 65536)));
  std::vector<std::uint32_t> cursor(vertex_count, 0);
  const std::vector<IdRange> ranges = ranges_of_chunks<Corners>(elements, team);
  const StoppableLoop loop;
  const auto owned = [&](int thread, auto&& visit) {
    const std::uint32_t low = static_cast<std::uint32_t>(vertex_count * thread / team);
    const std::uint32_t width = static_cast<std::uint32_t>(vertex_count * (thread + 1) / team) - low;
    for (std::size_t chunk = 0; chunk < ranges.size(); ++chunk) {
      if (ranges[chunk].high < low || ranges[chunk].low >= low + width) continue;
      const std::size_t begin = chunk * chunk_size;
      loop(begin, std::min(begin + chunk_size, elements.size()), [&](std::size_t e) {
        for (int c = 0; c < Corners; ++c) {
          const std::uint32_t v = elements[e][c].value;
          if (v - low < width) visit(v, static_cast<std::uint32_t>(e * 4 + c));
        }
      });
    }
  };
  parallel_region(team, [&](int thread, int) { owned(thread, [&](std::uint32_t v, std::uint32_t) { ++cursor[v]; }); });
  std::uint32_t total = 0;
  for (std::size_t v = 0; v < vertex_count; ++v) {
    result.offsets[v] = total;
    total += cursor[v];
    cursor[v] = result.offsets[v];
  }
  result.offsets[vertex_count] = total;
  parallel_region(team, [&](int thread, int) {
    owned(thread, [&](std::uint32_t v, std::uint32_t packed) { result.incidences[cursor[v]++] = packed; });
  });
  return result;
}

template Adjacency build_adjacency<3>(std::span<const std::array<VertexId, 3>>, std::size_t, int);
template Adjacency build_adjacency<4>(std::span<const std::array<VertexId, 4>>, std::size_t, int);

}  // namespace isochron
