// What ranks that have a part each do beside the solve: values of ghosts, and virtual elements.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <numeric>

#include "isochron/communicator.h"
#include "isochron/dist/ghost_values.h"
#include "isochron/generate.h"
#include "isochron/partition.h"
#include "isochron/solve/ranks/part_split.h"
#include "isochron/solve/ranks/rank_engine.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solver.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace TEST_FILE {

template <int Corners>
MeshPart<Corners> own_part(const SimplexMesh<Corners>& mesh, const std::vector<std::uint32_t>& part_of,
                           const Communicator& communicator, std::vector<ElementId>& elements) {
  auto part = cut_part(mesh, std::span<const std::uint32_t>(part_of), static_cast<std::uint32_t>(communicator.rank()));
  for (const std::uint64_t e : part.global_element) elements.emplace_back(static_cast<std::size_t>(e));
  return part;
}

TEST(PartGhosts, HaveTheValuesOfTheirOwners) {
  const TetMesh mesh = cube(6, 0.2);
  for (const int ranks : {1, 3, 8}) {
    const auto part_of = partition_vertices(mesh, static_cast<std::uint32_t>(ranks), Partitioner::curve);
    run_delayed(ranks, {.looks = 2}, [&](Communicator& communicator) {
      std::vector<ElementId> elements;
      const MeshPart<4> part = own_part(mesh, part_of, communicator, elements);
      check_parts(communicator, part);
      const auto values =
          ghost_values(communicator, part, std::span<const std::uint64_t>(part.global_vertex).first(part.owned));
      EXPECT_EQ(values, std::vector<std::uint64_t>(part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned),
                                                   part.global_vertex.end()));
    });
  }
}

using Virtual = std::map<std::array<std::uint64_t, 3>, std::array<double, 3>>;

/// By target and face, in the numbers of the whole mesh.
Virtual whole_virtual(const TriangleMesh& mesh, const Metric& metric) {
  auto problem = prepare_topology<double>(mesh, KeepOrder::yes, 1);
  apply_metric(problem, mesh, metric, 1);
  Virtual result;
  for (const auto& record : split_obtuse(problem, mesh, metric).records) {
    auto& lengths = result[{record.target, record.face[0], record.face[1]}];
    for (std::size_t k = 0; k < 3; ++k) lengths[k] = record.length[k] * problem.unit * problem.unit;
  }
  return result;
}

void expect_whole_split(const TriangleMesh& mesh, const Metric& metric, int ranks) {
  const Virtual expected = whole_virtual(mesh, metric);
  ASSERT_FALSE(expected.empty());
  const auto part_of = partition_vertices(mesh, static_cast<std::uint32_t>(ranks), Partitioner::curve);
  std::mutex mutex;
  Virtual found;
  run_delayed(ranks, {.looks = 2}, [&](Communicator& communicator) {
    std::vector<ElementId> elements;
    MeshPart<3> part = own_part(mesh, part_of, communicator, elements);
    const Metric own = metric.of(elements);
    const auto records = ranks::split_part(communicator, part, own);
    ASSERT_EQ(part.mesh.points.size(), part.global_vertex.size());
    ASSERT_EQ(part.ghost_owner.size(), part.global_vertex.size() - part.owned);
    for (std::size_t v = 0; v < part.mesh.points.size(); ++v) {
      ASSERT_EQ(part.mesh.points[v], mesh.points[part.global_vertex[v]]);
      if (v < part.owned) continue;
      ASSERT_EQ(part.ghost_owner[v - part.owned], part_of[part.global_vertex[v]]);
    }
    const std::lock_guard lock(mutex);
    for (const auto& record : records) {
      ASSERT_LT(record.target, part.owned);
      found[{part.global_vertex[record.target], part.global_vertex[record.face[0]],
             part.global_vertex[record.face[1]]}] = record.length;
    }
  });
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [key, lengths] : expected) {
    ASSERT_TRUE(found.contains(key));
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.at(key)[k], lengths[k], 1e-9 * (1 + lengths[k]));
  }
}

TEST(PartSplit, GivesTheVirtualTrianglesOfTheWholeMesh) {
  const TriangleMesh flat = square(18, 0.45);
  const TriangleMesh ball = generate_sphere({.frequency = 5, .radius = 3});
  for (const int ranks : {1, 2, 5, 8}) {
    SCOPED_TRACE(ranks);
    expect_whole_split(flat, Metric::isotropic(2), ranks);
    expect_whole_split(flat, rough_fibers(flat, 3), ranks);
    expect_whole_split(flat, Metric::constant(diag149), ranks);
    expect_whole_split(ball, Metric::constant(diag149), ranks);
  }
}

/// From parts that come from anywhere, with nothing that a rank with the whole mesh has done.
template <int Corners>
void expect_serial_times(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources, int ranks) {
  SolveOptions options;
  options.verify = Keep::yes;
  const Metric other = Metric::isotropic(0.5);
  const Arrival serial = solve(mesh, metric, sources, options), slower = solve(mesh, other, sources, options);
  const auto part_of = partition_vertices(mesh, static_cast<std::uint32_t>(ranks), Partitioner::curve);
  std::mutex mutex;
  std::vector<double> times(mesh.vertex_count(), -1), later = times;
  run_delayed(ranks, {}, [&](Communicator& communicator) {
    std::vector<ElementId> elements;
    const MeshPart<Corners> part = own_part(mesh, part_of, communicator, elements);
    const Metric own = metric.of(elements);
    Solver solver({part, own}, options, communicator);
    const auto keep = [&](const Arrival& arrival, std::vector<double>& all) {
      EXPECT_TRUE(arrival.converged);
      EXPECT_EQ(arrival.reached, mesh.vertex_count());
      ASSERT_EQ(arrival.times.size(), part.owned);
      const std::lock_guard lock(mutex);
      for (std::size_t v = 0; v < part.owned; ++v) all[part.global_vertex[v]] = arrival.times[v];
    };
    keep(solver.solve(sources), times);
    solver.set_metric(other);
    keep(solver.solve(sources), later);
  });
  EXPECT_LE(worst_difference(times, serial.times), 1e-4);
  EXPECT_LE(worst_difference(later, slower.times), 1e-4);
}

TEST(PartSolve, GivesTheSerialTimes) {
  const TriangleMesh flat = square(22, 0.45);
  const TetMesh box = cube(8, 0.3);
  for (const int ranks : {1, 3, 8}) {
    SCOPED_TRACE(ranks);
    expect_serial_times(flat, Metric::isotropic(2), from(vertex(0), 1), ranks);
    expect_serial_times(flat, rough_fibers(flat, 3), {{{vertex(5), 0}, {vertex(300), 2}}, {}, {}}, ranks);
    expect_serial_times(flat, Metric::constant(diag149), {{}, {{{10.3, 9.2, 0}, 1}}, {}}, ranks);
    expect_serial_times(box, rough_fibers(box, 3), {{{vertex(5), 0}}, {{{3.3, 4.2, 2.1}, 1}}, {}}, ranks);
  }
}

SolveOptions plain_sources() {
  SolveOptions options;
  options.source_init = SourceInit::plain;
  options.obtuse = ObtuseSplit::none;
  return options;
}

/// Ranks with a part each of one mesh.
class RanksWithParts {
 public:
  void run(const Delays& delays, const std::function<void(Communicator&, MeshPart<4>&)>& work) const {
    run_delayed(ranks, delays, [&](Communicator& communicator) {
      std::vector<ElementId> elements;
      MeshPart<4> part = own_part(mesh, part_of, communicator, elements);
      work(communicator, part);
    });
  }
  void expect_times(const MeshPart<4>& part, const Arrival& arrival, std::uint64_t first = 0) const {
    ASSERT_EQ(arrival.times.size(), part.owned);
    for (std::size_t v = 0; v < part.owned; ++v)
      EXPECT_NEAR(arrival.times[v], expected.times[part.global_vertex[v] - first], 1e-4) << v;
  }

  static constexpr int ranks = 3;
  TetMesh mesh = cube(9, 0.2);
  Metric metric = Metric::isotropic(1);
  std::vector<std::uint32_t> part_of = partition_vertices(mesh, ranks, Partitioner::curve);
  Arrival expected = solve(mesh, metric, from(vertex(40)), plain_sources());
};

TEST(PartSolve, TakesNumbersBeyond32Bits) {
  const RanksWithParts with;
  constexpr std::uint64_t first = 5'000'000'000;
  with.run({}, [&](Communicator& communicator, MeshPart<4>& part) {
    for (std::uint64_t& v : part.global_vertex) v += first;
    part.whole_vertices += first;
    SolveOptions options = plain_sources();
    options.verify = Keep::yes;
    // In mean edges, which are counted as those of all vertices that the whole says it has.
    options.band_width = static_cast<double>(part.whole_vertices) / static_cast<double>(with.mesh.vertex_count());
    Sources sources;
    sources.vertices.push_back({GlobalVertexId(first + 40)});
    const Arrival arrival = Solver({part, with.metric}, options, communicator).solve(sources);
    with.expect_times(part, arrival, first);
    ASSERT_TRUE(arrival.residual && arrival.residual->passed());
    EXPECT_TRUE(arrival.residual->worst == 0 || arrival.residual->worst_vertex.value >= first);
  });
}

TEST(PartSolve, ThrowsOnAllRanksWhatOneFinds) {
  const RanksWithParts with;
  with.run({.looks = 2}, [&](Communicator& communicator, MeshPart<4>& part) {
    const bool wrong = communicator.rank() == 1;
    EXPECT_THROW(Solver(wrong ? Domain() : Domain(part, with.metric), plain_sources(), communicator), UsageError);
    EXPECT_THROW(Solver({part, wrong ? Metric(SpeedMetric{{1, 2}}) : with.metric}, plain_sources(), communicator),
                 InputError);
    MeshPart<4> elsewhere = part;
    if (wrong) elsewhere.ghost_owner.front() = (elsewhere.ghost_owner.front() + 1) % RanksWithParts::ranks;
    EXPECT_THROW(Solver({elsewhere, with.metric}, plain_sources(), communicator), InputError);

    Solver solver({part, with.metric}, plain_sources(), communicator);
    const std::vector<Sources> sets{from(vertex(40)), from(vertex(41))};
    const TakeArrival refuse = [&](std::size_t, Arrival&&) {
      if (wrong) throw InputError("the disk is full; make room");
    };
    EXPECT_THROW(solver.solve_many(sets, refuse), InputError);
    SolveOptions single = plain_sources();
    single.precision = Precision::single_;
    Sources late = from(vertex(40));
    late.vertices.push_back({vertex(41), 1e60});  // of another rank, maybe
    EXPECT_THROW((void)Solver({part, with.metric}, single, communicator).solve(late), ThrownTogether);
    with.expect_times(part, solver.solve(from(vertex(40))));
  });
}

TEST(PartSolve, SolvesAgainAfterItWasStopped) {
  const RanksWithParts with;
  for (const std::uint64_t seed : {1U, 2U, 3U})
    with.run({.seed = seed, .looks = 20}, [&](Communicator& communicator, MeshPart<4>& part) {
      std::atomic<bool> stop{false};
      bool once = communicator.rank() == 2;
      SolveOptions options = plain_sources();
      options.progress.cancel = &stop;
      options.progress.report = [&](double) {
        if (once) stop = true;
      };
      Solver solver({part, with.metric}, options, communicator);
      EXPECT_THROW((void)solver.solve(from(vertex(700))), Cancelled);
      once = false;
      stop = false;
      with.expect_times(part, solver.solve(from(vertex(40))));
    });
}

/// Never has enough, as no local solver should.
class RestlessLocal final : public ranks::LocalSolver<double> {
 public:
  [[nodiscard]] std::uint32_t next_band() override { return 0; }
  bool advance(std::uint32_t, std::size_t, Outbox<double>&) override {
    counters_.vertex_updates += 1000;
    return true;
  }
  void accept(std::span<const std::uint32_t>, std::span<const double>) override {}
  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  Counters counters_;
};

/// Ends with neighbours that have nothing to do.
class IdleLocal final : public ranks::LocalSolver<double> {
 public:
  [[nodiscard]] std::uint32_t next_band() override { return ranks::no_band; }
  bool advance(std::uint32_t, std::size_t, Outbox<double>&) override { return false; }
  void accept(std::span<const std::uint32_t>, std::span<const double>) override {}
  [[nodiscard]] Counters counters() const override { return {}; }
};

TEST(Bands, AllRanksGiveUpWhereOneNeverSettles) {
  for (const Pace pace : {Pace::banded, Pace::local_solves})
    run_delayed(3, {}, [&](Communicator& communicator) {
      Halo halo;
      halo.offsets = {0};
      RestlessLocal restless;
      IdleLocal idle;
      ranks::LocalSolver<double>& local = communicator.rank() == 1 ? static_cast<ranks::LocalSolver<double>&>(restless)
                                                                   : static_cast<ranks::LocalSolver<double>&>(idle);
      EXPECT_FALSE(ranks::run_bands(communicator, halo, local, pace, {}, {10}).converged);
    });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
