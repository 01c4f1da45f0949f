// The local updates, on elements and times like those a solve meets.
#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/local/simplex_update.h"
#include "isochron/types.h"

namespace isochron {
namespace {

/// Fits the first-level cache in double precision, and is too long for the branch predictor to learn by heart.
constexpr std::size_t sample_count = 256;

template <class T>
struct TetSample {
  std::array<T, 3> time;
  TetLengths<T> length;
};

/// Tetrahedra of a Kuhn cell whose corners moved by up to a fifth of an edge, with the times of a front from a point
/// far away in any direction: so the minimum lies inside the face, on an edge or in a corner, as it comes.
template <class T>
std::vector<TetSample<T>> tet_samples() {
  Random random(7);
  std::vector<TetSample<T>> samples(sample_count);
  for (auto& sample : samples) {
    std::array<Vec3d, 4> p{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}}};
    for (Vec3d& corner : p)
      corner += Vec3d{random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2)};
    const Vec3d direction{random.normal(), random.normal(), random.normal()};
    const Vec3d source = (40 / norm(direction)) * direction;
    for (int k = 0; k < 3; ++k) sample.time[k] = static_cast<T>(norm(p[k] - source));
    const auto squared = [&](int a, int b) { return static_cast<T>(dot(p[a] - p[b], p[a] - p[b])); };
    sample.length = {squared(0, 1), squared(0, 2), squared(1, 2), squared(0, 3), squared(1, 3), squared(2, 3)};
  }
  return samples;
}

/// Times `update` on each sample in turn; its results are added up so that none can be left out.
template <class T, class Update>
void run_on_samples(benchmark::State& state, Update&& update) {
  const std::vector<TetSample<T>> samples = tet_samples<T>();
  for ([[maybe_unused]] auto _ : state) {
    T sum = 0;
    for (const auto& sample : samples) sum += update(sample);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * samples.size()));
}

template <class T>
void tet_update_bench(benchmark::State& state) {
  run_on_samples<T>(state, [](const TetSample<T>& s) {
    const FaceCandidate<T> c = tet_update(s.time[0], s.time[1], s.time[2], s.length);
    return c.time + c.weight[0];
  });
}

template <class T>
void triangle_update_bench(benchmark::State& state) {
  run_on_samples<T>(state, [](const TetSample<T>& s) {
    const auto& l = s.length;
    const EdgeCandidate<T> c = triangle_update(s.time[0], s.time[1], TriangleLengths<T>{l.l12, l.l1x, l.l2x});
    return c.time + c.weight[0];
  });
}

template <class T>
void push_time_bench(benchmark::State& state) {
  run_on_samples<T>(state, [](const TetSample<T>& s) {
    const auto& l = s.length;
    const T time = detail::push_time(s.time[0], s.time[1], s.time[2], l.l12, l.l13, l.l23, l.l1x, l.l2x, l.l3x);
    return time < std::numeric_limits<T>::infinity() ? time : T(0);
  });
}

template <class T>
void edge_time_bench(benchmark::State& state) {
  run_on_samples<T>(state, [](const TetSample<T>& s) {
    T lambda;
    return detail::edge_time(s.time[0], s.time[1], s.length.l12, s.length.l1x, s.length.l2x, lambda);
  });
}

BENCHMARK_TEMPLATE(tet_update_bench, float)->Name("tet_update/float");
BENCHMARK_TEMPLATE(tet_update_bench, double)->Name("tet_update/double");
BENCHMARK_TEMPLATE(triangle_update_bench, float)->Name("triangle_update/float");
BENCHMARK_TEMPLATE(triangle_update_bench, double)->Name("triangle_update/double");
BENCHMARK_TEMPLATE(push_time_bench, float)->Name("push_time/float");
BENCHMARK_TEMPLATE(push_time_bench, double)->Name("push_time/double");
BENCHMARK_TEMPLATE(edge_time_bench, float)->Name("edge_time/float");
BENCHMARK_TEMPLATE(edge_time_bench, double)->Name("edge_time/double");

}  // namespace
}  // namespace isochron
