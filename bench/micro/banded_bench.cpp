// The banded schedule alone, without set-up and what is read off the times afterwards. One thread.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "isochron/generate.h"
#include "isochron/solve/simplex/run.h"

namespace isochron {
namespace {

/// A jittered cube with n³ vertices, the source in its middle. Items are vertices.
template <class T>
void banded_bench(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const TetMesh mesh = generate_cube({.nx = n, .ny = n, .nz = n, .jitter = 0.2});
  SimplexProblem<T, 4> problem = prepare_topology<T, 4>(mesh, KeepOrder::yes, 1);
  apply_metric(problem, mesh, Metric::isotropic(1), 1);
  const auto middle = static_cast<std::uint32_t>(((n / 2) * n + n / 2) * n + n / 2);

  SolveState<T> solve;
  solve.tolerance = std::is_same_v<T, float> ? T(1e-5) : T(1e-6);
  solve.seeds = {middle};
  for ([[maybe_unused]] auto _ : state) {
    solve.time.assign(problem.vertex_count, std::numeric_limits<T>::infinity());
    solve.time[middle] = 0;
    solve.counters = {};
    run_banded(problem, solve, {});
    benchmark::DoNotOptimize(solve.time.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * problem.vertex_count));
  state.counters["solves_per_vertex"] =
      static_cast<double>(solve.counters.local_solves) / static_cast<double>(problem.vertex_count);
}

BENCHMARK_TEMPLATE(banded_bench, float)->Name("banded/cube/float")->Arg(25)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(banded_bench, double)->Name("banded/cube/double")->Arg(25)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace isochron
