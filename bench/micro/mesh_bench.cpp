// What set-up is made of: incidences and the order along a Hilbert curve. One thread.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "isochron/generate.h"
#include "isochron/mesh/adjacency.h"
#include "isochron/mesh/ordering.h"

namespace isochron {
namespace {

template <int Corners>
SimplexMesh<Corners> lattice(std::size_t n) {
  if constexpr (Corners == 4) return generate_cube({.nx = n, .ny = n, .nz = n});
  else return generate_square({.n = n});
}

/// Items are elements.
template <int Corners>
void adjacency_bench(benchmark::State& state) {
  const auto mesh = lattice<Corners>(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    const Adjacency adjacency = build_adjacency(mesh);
    benchmark::DoNotOptimize(adjacency.incidences.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * mesh.element_count()));
}

/// Items are vertices.
template <int Corners>
void hilbert_bench(benchmark::State& state) {
  const auto mesh = lattice<Corners>(static_cast<std::size_t>(state.range(0)));
  for ([[maybe_unused]] auto _ : state) {
    const Permutation order = hilbert_order(mesh.points);
    benchmark::DoNotOptimize(order.new_to_old.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * mesh.vertex_count()));
}

BENCHMARK_TEMPLATE(adjacency_bench, 3)->Name("adjacency/square")->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(adjacency_bench, 4)->Name("adjacency/cube")->Arg(33)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(hilbert_bench, 3)->Name("hilbert_order/square")->Arg(512)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(hilbert_bench, 4)->Name("hilbert_order/cube")->Arg(33)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isochron
