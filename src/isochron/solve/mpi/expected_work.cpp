#include "isochron/solve/mpi/expected_work.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isochron/core/parallel.h"

namespace isochron::mpi {
namespace {

using Corner4 = std::array<double, 4>;

/// How fast a front with these times at the corners moves through a tetrahedron, as changes of barycentric weights
/// (times a positive number): G⁻¹ δ for the first three, G the edges' products in the metric, δ their differences of
/// time. A front comes to corner v through the face opposite to it when all others' weights fall.
Corner4 front_rates(const TetMesh& mesh, const SymTensor3d& metric, const TetMesh::Element& element,
                    const Corner4& time) {
  std::array<Vec3d, 3> edge;
  std::array<double, 3> delta;
  for (std::size_t k = 0; k < 3; ++k) {
    edge[k] = mesh.point(element[k]) - mesh.point(element[3]);
    delta[k] = time[k] - time[3];
  }
  const auto g = [&](std::size_t i, std::size_t j) { return product(metric, edge[i], edge[j]); };
  const double g00 = g(0, 0), g01 = g(0, 1), g02 = g(0, 2), g11 = g(1, 1), g12 = g(1, 2), g22 = g(2, 2);
  const double c00 = g11 * g22 - g12 * g12, c01 = g02 * g12 - g01 * g22, c02 = g01 * g12 - g02 * g11;
  const double c11 = g00 * g22 - g02 * g02, c12 = g01 * g02 - g00 * g12, c22 = g00 * g11 - g01 * g01;
  Corner4 rate{c00 * delta[0] + c01 * delta[1] + c02 * delta[2], c01 * delta[0] + c11 * delta[1] + c12 * delta[2],
               c02 * delta[0] + c12 * delta[1] + c22 * delta[2], 0};
  rate[3] = -rate[0] - rate[1] - rate[2];
  return rate;
}

/// By which part the front misses the face opposite to corner v: 0 when it comes through it.
double miss(const Corner4& rate, std::size_t v) {
  if (!(rate[v] > 0)) return std::numeric_limits<double>::infinity();
  double all = 0, most = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    if (j == v) continue;
    all += std::abs(rate[j]);
    most = std::max(most, rate[j]);
  }
  return most / all;
}

/// The vertices that a vertex will have its time from, and by which shares.
struct Upwind {
  std::array<std::uint32_t, 3> from{};
  std::array<float, 3> share{};
  float later = 0;  ///< share of those that are later than it
};

class FrontDirections {
 public:
  FrontDirections(const TetMesh& mesh, const Metric& metric, std::span<const double> times)
      : mesh_(mesh), metric_(metric), times_(times) {}

  std::vector<Upwind> upwind(int threads) const {
    std::vector<std::uint64_t> best(mesh_.vertex_count(), none);
    parallel_for(threads, mesh_.element_count(), [&](std::size_t e) {
      Corner4 time;
      if (!times_of(e, time)) return;
      const Corner4 rate = front_rates(mesh_, metric_.tensor(ElementId(e)), mesh_.elements[e], time);
      for (std::size_t v = 0; v < 4; ++v) {
        const double missed = miss(rate, v);
        if (!(missed < 1)) continue;
        // Positive floats are in the order of their bits; the element decides between equals.
        const std::uint64_t mine = std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(missed))} << 32 | e;
        const std::atomic_ref<std::uint64_t> known(best[mesh_.elements[e][v].index()]);
        for (std::uint64_t old = known.load(std::memory_order_relaxed);
             mine < old && !known.compare_exchange_weak(old, mine, std::memory_order_relaxed);) {
        }
      }
    });
    std::vector<Upwind> result(best.size());
    parallel_for(threads, best.size(), [&](std::size_t v) {
      if (best[v] != none) result[v] = through(static_cast<std::uint32_t>(best[v]), v);
    });
    return result;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  bool times_of(std::size_t e, Corner4& time) const {
    for (std::size_t k = 0; k < 4; ++k) time[k] = times_[mesh_.elements[e][k].index()];
    return std::isfinite(time[0] + time[1] + time[2] + time[3]);
  }

  [[nodiscard]] Upwind through(std::size_t e, std::size_t vertex) const {
    Corner4 time{};
    times_of(e, time);
    const Corner4 rate = front_rates(mesh_, metric_.tensor(ElementId(e)), mesh_.elements[e], time);
    Upwind upwind;
    double all = 0;
    for (std::size_t j = 0; j < 4; ++j)
      if (mesh_.elements[e][j].index() != vertex) all += std::max(0.0, -rate[j]);
    std::size_t place = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t from = mesh_.elements[e][j].index();
      if (from == vertex) continue;
      upwind.from[place] = static_cast<std::uint32_t>(from);
      upwind.share[place] = static_cast<float>(std::max(0.0, -rate[j]) / all);
      if (times_[from] > times_[vertex]) upwind.later += upwind.share[place];
      ++place;
    }
    return upwind;
  }

  const TetMesh& mesh_;
  const Metric& metric_;
  std::span<const double> times_;
};

}  // namespace

/// A vertex that has its time from a later one is processed before that is known, and again with every correction. So
/// is one that has its time from such a vertex, until corrections are too small to count. (Numbers: bench/NOTES.md.)
std::vector<float> expected_work(const TetMesh& mesh, const Metric& metric, std::span<const double> times,
                                 int threads) {
  constexpr float later_that_counts = 0.01F, passed_on = 0.75F;
  constexpr int hops = 12;
  const std::vector<Upwind> upwind = FrontDirections(mesh, metric, times).upwind(threads);
  std::vector<float> again(upwind.size(), 0), next(upwind.size());
  for (int hop = 0; hop < hops; ++hop) {
    parallel_for(threads, upwind.size(), [&](std::size_t v) {
      const Upwind& own = upwind[v];
      next[v] = std::min(1.0F, own.later / later_that_counts);
      for (std::size_t k = 0; k < 3; ++k) next[v] += passed_on * own.share[k] * again[own.from[k]];
    });
    again.swap(next);
  }
  for (float& work : again) work += 1;
  return again;
}

std::vector<float> expected_work(const TriangleMesh& mesh, const Metric&, std::span<const double>, int) {
  return std::vector<float>(mesh.vertex_count(), 1);
}

}  // namespace isochron::mpi
