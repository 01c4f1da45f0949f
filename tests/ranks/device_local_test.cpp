// The schedule of a part on a GPU, on a part that plays it on the CPU: what is sent and done when, without a GPU.
#include "isochron/solve/ranks/device_local.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "isochron/solve/ranks/part_problem.h"
#include "isochron/solve/ranks/rank_engine.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solve/simplex/relax.h"
#include "isochron/solve/simplex/run.h"
#include "ranks/over_ranks.h"

namespace isochron::test {
namespace TEST_FILE {

/// Does what a device does, one vertex after the other.
template <int Corners>
class HostPart final : public ranks::DevicePart<double> {
 public:
  HostPart(const SimplexProblem<double, Corners>& problem, std::uint32_t owned, const Halo& halo)
      : problem_(problem), owned_(owned), halo_(halo) {}

  void clear(double tolerance) override {
    state_.tolerance = tolerance;
    state_.time.assign(problem_.vertex_count, infinity);
    pushed_.assign(problem_.vertex_count, infinity);
    sent_.assign(halo_.border(), infinity);
  }
  void lower(std::span<const std::uint32_t> vertices, std::span<const double> times) override {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const std::uint32_t v = vertices[i];
      if (!(times[i] < state_.time[v])) continue;
      state_.time[v] = times[i];
      const double before = pushed_[v];
      const double least = before < infinity ? countable_gain(state_.tolerance, problem_.edge[v], before) : 0;
      if (times[i] < before - least) wait(v);
    }
  }
  void lower(const DeviceMessage&) override { FAIL() << "no message is in device memory"; }
  void open(double horizon) override {
    EXPECT_GT(horizon, horizon_);
    EXPECT_TRUE(near_.empty());
    horizon_ = horizon;
    for (const std::uint32_t v : std::exchange(far_, {})) wait(v);
  }
  void push(std::uint32_t rounds) override {
    const Relaxer<double, Corners, PlainTimes<double>, FirstTargets> relax(
        problem_, PlainTimes<double>{state_.time.data()}, FirstTargets{owned_});
    for (std::uint32_t round = 0; round < rounds && !near_.empty(); ++round) {
      ++standing_.rounds;
      for (const std::uint32_t x : std::exchange(near_, {})) {
        if (state_.time[x] == pushed_[x]) continue;
        pushed_[x] = state_.time[x];
        ++standing_.updates;
        standing_.solves += relax.push(x, infinity, [&](std::uint32_t target, double candidate) {
          if (lower_countably(relax, state_, target, candidate)) wait(target);
        });
      }
    }
    found_.clear();
    for (std::uint32_t v = 0; v < owned_; ++v) {
      const std::uint32_t border = halo_.border_of[v];
      if (border == Halo::none || !(state_.time[v] < horizon_) || state_.time[v] == sent_[border]) continue;
      sent_[border] = state_.time[v];
      found_.push_back({border, state_.time[v]});
    }
  }
  [[nodiscard]] ranks::PartStanding<double> standing() override {
    standing_.near = static_cast<std::uint32_t>(near_.size());
    standing_.far = static_cast<std::uint32_t>(far_.size());
    standing_.far_least = infinity;
    for (const std::uint32_t v : far_) standing_.far_least = std::min(standing_.far_least, state_.time[v]);
    standing_.changed = static_cast<std::uint32_t>(found_.size());
    return standing_;
  }
  void changed(std::vector<ranks::BorderTime<double>>& result, std::uint32_t count) override {
    result.assign(found_.begin(), found_.begin() + count);
  }
  std::vector<ranks::PackedMessage> pack(std::uint32_t) override { return {}; }
  void times(std::span<double> result) override { std::copy(state_.time.begin(), state_.time.end(), result.begin()); }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  void wait(std::uint32_t v) { (state_.time[v] < horizon_ ? near_ : far_).push_back(v); }

  const SimplexProblem<double, Corners>& problem_;
  std::uint32_t owned_;
  const Halo& halo_;
  SolveState<double> state_;
  double horizon_ = 0;
  std::vector<double> pushed_, sent_;
  std::vector<std::uint32_t> near_, far_;
  std::vector<ranks::BorderTime<double>> found_;
  ranks::PartStanding<double> standing_;
};

struct Told {
  std::vector<double> times;
  ranks::RankWork work;
};

template <int Corners>
Told solve_on_parts(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, const Case& how) {
  Told told;
  run_delayed(how.ranks, how.delays, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    const std::vector<Seed> seeds = ranks::whole_seeds(mesh, metric, sources, {});
    std::vector<std::uint32_t> rank_of;
    if (root) rank_of = ranks::partition_in_blocks(mesh, how.ranks, how.rank_options);
    const auto share = ranks::scatter<Corners>(communicator, root ? &mesh : nullptr, root ? &metric : nullptr, rank_of,
                                               ObtuseSplit::automatic, 1);
    const auto problem = ranks::prepare_part<double>(communicator, share.part, share.metric,
                                                     std::span(share.virtual_elements), Reorder::automatic, 1);
    const Halo halo = make_halo<Corners>(communicator, share.part, [&](VertexId v) { return problem.internal(v); });
    HostPart<Corners> part(problem, static_cast<std::uint32_t>(share.part.owned), halo);
    SolveState<double> state;
    state.tolerance = 1e-6;
    state.time.assign(problem.vertex_count, std::numeric_limits<double>::infinity());
    for (const Seed& seed : seeds)
      for (std::size_t v = 0; v < share.part.owned; ++v)
        if (share.part.global_vertex[v] == seed.vertex.value) {
          const std::uint32_t inside = problem.internal(vertex(v));
          state.time[inside] = std::min(state.time[inside], seed.time / problem.unit);
          state.seeds.push_back(inside);
        }
    BandTuning tuning = band_tuning(Corners, mesh.vertex_count(), 1, 0);
    tuning.width *= ranks::device_bands;
    ranks::DeviceLocal<double> local(part, state, halo, ranks::device_scale(tuning, problem.mean_edge));
    const ranks::RankWork work = ranks::run_bands(communicator, halo, local, how.rank_options.pace, {}, {});
    part.times(state.time);
    Arrival own;
    for (std::size_t v = 0; v < share.part.owned; ++v)
      own.times.push_back(state.time[problem.internal(vertex(v))] * problem.unit);
    const Arrival whole = ranks::gather_arrival(
        communicator, std::span<const std::uint64_t>(share.part.global_vertex).first(share.part.owned),
        mesh.vertex_count(), std::move(own));
    if (root) told = {whole.times, work};
  });
  return told;
}

template <int Corners>
void expect_serial_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                         const Case& how) {
  SolveOptions options;
  options.backend = Backend::serial;
  const Arrival serial = solve(mesh, metric, sources, options);
  const Told told = solve_on_parts(mesh, metric, sources, how);
  EXPECT_LE(worst_difference(told.times, serial.times), 1e-4);
  EXPECT_GT(told.work.bands.bands, 0U);
}

TEST(DeviceLocal, GivesTheSerialTimes) {
  const TetMesh mesh = beside(cube(10, 0.3), cube(4));
  const TriangleMesh flat = square(40, 0.4);  // with virtual triangles
  for (const int ranks : {1, 2, 5}) {
    SCOPED_TRACE(ranks);
    expect_serial_times(mesh, Metric::isotropic(1), from(vertex(0)), {.ranks = ranks});
    expect_serial_times(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = ranks});
    expect_serial_times(flat, rough_speed(flat), from_two(5, 900), {.ranks = ranks});
  }
  expect_serial_times(one_tet(), Metric::isotropic(1), from(vertex(0)),
                      {.ranks = 6, .rank_options = {.blocks_per_rank = 1}});
}

TEST(DeviceLocal, StandsDelaysAndOnsetsFarApart) {
  const TetMesh mesh = cube(8, 0.3);
  Sources late = from(vertex(0));
  late.vertices.push_back({vertex(400), 500});
  for (const int delay : {3, 40}) {
    expect_serial_times(mesh, rough_fibers(mesh, 3), from_two(5, 400), {.ranks = 4, .delays = {.looks = delay}});
    expect_serial_times(mesh, rough_fibers(mesh, 3), late, {.ranks = 3, .delays = {.looks = delay}});
  }
}

TEST(DeviceLocal, SolvesPartsToTheirEnds) {
  const TetMesh mesh = cube(8, 0.3);
  expect_serial_times(mesh, rough_fibers(mesh, 2), from(vertex(100)),
                      {.ranks = 3, .rank_options = at_pace(Pace::local_solves)});
}

TEST(DeviceLocal, SendsLittleMoreThanItMust) {
  const TetMesh mesh = cube(20, 0.2);
  const Told told = solve_on_parts(mesh, Metric::isotropic(1), from(vertex(0)), {.ranks = 2});
  EXPECT_LT(told.work.counters.vertex_updates, 4 * mesh.vertex_count());
  EXPECT_LT(told.work.bands.bands, 40U);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
