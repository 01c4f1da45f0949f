#include "isochron/mesh/adjacency.h"

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/error.h"

namespace isochron {

template <int Corners>
Adjacency build_adjacency(std::span<const std::array<VertexId, Corners>> elements, std::size_t vertex_count,
                          int threads) {
  if (elements.size() > (1ULL << 30) || elements.size() * Corners > 0xffffffffULL)
    throw InputError(
        fmt::format("{} elements are too many (incidence lists have 32 bits); split the mesh", elements.size()));

  Adjacency result;
  result.offsets.assign(vertex_count + 1, 0);
  result.incidences.resize(elements.size() * Corners);
  // Each thread owns a range of vertices and reads all elements: no atomics, and the order is that of the elements.
  const int team = granted_threads(static_cast<int>(std::min<std::size_t>(threads, 1 + vertex_count / 65536)));
  std::vector<std::uint32_t> cursor(vertex_count, 0);
  const StoppableLoop loop;
  const auto owned = [&](int thread, auto&& visit) {
    const std::uint32_t low = static_cast<std::uint32_t>(vertex_count * thread / team);
    const std::uint32_t width = static_cast<std::uint32_t>(vertex_count * (thread + 1) / team) - low;
    loop(0, elements.size(), [&](std::size_t e) {
      for (int c = 0; c < Corners; ++c) {
        const std::uint32_t v = elements[e][c].value;
        if (v - low < width) visit(v, static_cast<std::uint32_t>(e * 4 + c));
      }
    });
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
