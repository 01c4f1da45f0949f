#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "isochron/generate.h"
#include "isochron/partition.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solver.h"
#include "ranks/over_ranks.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace TEST_FILE {

TEST(DistributedSolver, SendsEachTimeAboutOnce) {
  const TetMesh mesh = cube(11, 0.2);
  const Arrival outcome = solve_over_ranks(mesh, Metric::constant(diag149), from(vertex(0)), no_split(), {.ranks = 4});
  EXPECT_GE(outcome.traffic->bytes, outcome.traffic->halo_bytes);
  EXPECT_LE(outcome.traffic->bytes, 3 * outcome.traffic->halo_bytes);
}

TEST(DistributedSolver, GivesTheSerialTimesOnTetrahedra) {
  const TetMesh mesh = cube(11, 0.3);
  for (const int ranks : {1, 2, 3, 5, 8}) {
    SCOPED_TRACE(ranks);
    expect_serial(mesh, Metric::isotropic(1), from(vertex(0)), {.ranks = ranks});
    expect_serial(mesh, Metric::constant(diag149), from(vertex(700)), {.ranks = ranks});
    expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = ranks});
  }
}

TEST(DistributedSolver, GivesTheSerialTimesOnTriangles) {
  const TriangleMesh mesh = square(40, 0.3);
  for (const int ranks : {1, 2, 4, 7}) {
    SCOPED_TRACE(ranks);
    expect_serial(mesh, Metric::isotropic(2), from(vertex(0)), {.ranks = ranks});
    expect_serial(mesh, rough_speed(mesh), from_two(5, 900), {.ranks = ranks});
    expect_serial(mesh, rough_fibers(mesh, 3), from(vertex(820)), {.ranks = ranks});
  }
}

TEST(DistributedSolver, GivesTheSerialTimesInAnyOrderOfVertices) {
  const TetMesh mesh = cube(11, 0.3);
  const TriangleMesh flat = square(40, 0.3);
  for (const Reorder reorder : {Reorder::automatic, Reorder::always, Reorder::never})
    for (const int threads : {1, 2}) {
      SolveOptions options = no_split();
      options.reorder = reorder;
      options.threads = threads;
      expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = 3}, options);
      expect_serial(flat, rough_speed(flat), from_two(5, 900), {.ranks = 3}, options);
    }
}

TEST(DistributedSolver, GivesTheSerialTimesWhenDealtByTime) {
  const TetMesh mesh = beside(cube(12, 0.2), cube(4));
  const TriangleMesh flat = square(40, 0.3);
  for (const int ranks : {2, 5}) {
    expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = ranks, .rank_options = by_time});
    expect_serial(flat, Metric::isotropic(1), from(vertex(820), 4), {.ranks = ranks, .rank_options = by_time}, {});
    expect_serial(one_tet(), Metric::isotropic(1), from(vertex(0)), {.ranks = ranks, .rank_options = by_time});
  }
}

TEST(DistributedSolver, GivesTheSerialTimesWithThreadsInEachRank) {
  const TetMesh mesh = cube(12, 0.3);
  const TriangleMesh flat = square(40, 0.3);
  SolveOptions options = no_split();
  options.threads = 3;
  for (const int ranks : {1, 3}) {
    SCOPED_TRACE(ranks);
    expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = ranks}, options);
    expect_serial(flat, rough_speed(flat), from(vertex(820)), {.ranks = ranks}, options);
    expect_serial(mesh, Metric::isotropic(1), from(vertex(0)),
                  {.ranks = ranks, .rank_options = at_pace(Pace::local_solves)}, options);
  }
}

// Large enough for bands that are shared out anew between the threads; and with waits in which they work ahead.
TEST(DistributedSolver, GivesTheSerialTimesWithThreadsAndDelays) {
  const TetMesh mesh = cube(24, 0.3);
  SolveOptions options = no_split();
  options.threads = 2;
  for (const std::uint64_t seed : {1U, 2U}) {
    expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900),
                  {.ranks = 2, .delays = {.seed = seed, .looks = 30}, .rank_options = by_time}, options);
    expect_serial(mesh, Metric::isotropic(1), from(vertex(0)),
                  {.ranks = 2, .delays = {.seed = seed, .looks = 5, .slow_rank = 1, .slow_micros = 300}}, options);
  }
}

// A source that is further off than the ring of bands is long, while ranks with nothing else to do work ahead.
TEST(DistributedSolver, GivesTheSerialTimesWithThreadsAndLateOnsets) {
  const TetMesh bar = generate_cube({.nx = 4, .ny = 4, .nz = 2501, .extent = {3, 3, 2500}});
  Sources late = from(vertex(0));
  late.vertices.push_back({vertex(16 * 1250 + 8), 1200});
  late.vertices.push_back({vertex(16 * 2500), 1900});
  SolveOptions options = no_split();
  options.threads = 2;
  expect_serial(bar, Metric::isotropic(1), late, {.ranks = 2, .rank_options = by_time}, options);
}

TEST(DealByTime, GivesEveryRankItsShareOfTheFront) {
  const TetMesh mesh = cube(33);
  const Metric metric = Metric::isotropic(1);
  constexpr int ranks = 4;
  const std::vector<Seed> seeds = ranks::whole_seeds(mesh, metric, from(vertex(0)), {});
  const std::vector<std::uint32_t> rank_of = ranks::partition_by_time(mesh, metric, seeds, ranks, 1);
  const Arrival arrival = solve(mesh, metric, from(vertex(0)));
  // Work of a shell is done when its slowest rank is done.
  std::map<int, std::array<double, ranks>> shells;
  for (std::size_t v = 0; v < mesh.vertex_count(); ++v) shells[static_cast<int>(arrival.times[v])][rank_of[v]] += 1;
  double slowest = 0;
  for (const auto& [shell, work] : shells) slowest += *std::max_element(work.begin(), work.end());
  EXPECT_LT(slowest * ranks, 1.4 * static_cast<double>(mesh.vertex_count()));
}

TEST(DealByTime, GivesEveryRankAboutAsManyVertices) {
  const TetMesh mesh = cube(33, 0.2);
  constexpr int ranks = 6;
  // Much is processed again with these fibres, and not everywhere alike.
  const Metric metric = rough_fibers(mesh, 3);
  const std::vector<Seed> seeds = ranks::whole_seeds(mesh, metric, from(vertex(0)), {});
  std::array<std::size_t, ranks> size{};
  for (const std::uint32_t rank : ranks::partition_by_time(mesh, metric, seeds, ranks, 2)) ++size.at(rank);
  for (const std::size_t own : size) EXPECT_NEAR(static_cast<double>(own) * ranks, mesh.vertex_count(), 0.15 * 36e3);
}

// The image by which times are guessed is of single precision; what is solved need not be.
TEST(DealByTime, TakesAnyMetricThatCanBeSolved) {
  const TetMesh mesh = cube(9);
  std::vector<Metric> metrics{Metric::isotropic(1e-140), Metric::isotropic(1e140)};
  for (double angle = 0.1; angle < 1.5; angle += 0.1) {  // 1e-10 along, 1 across
    const Vec3d n{0.6 * std::cos(angle), 0.8 * std::cos(angle), std::sin(angle)};
    metrics.push_back(
        Metric::constant(SymTensor3d::identity(1) +
                         (1e-10 - 1) * SymTensor3d{n.x * n.x, n.x * n.y, n.x * n.z, n.y * n.y, n.y * n.z, n.z * n.z}));
  }
  for (const Metric& metric : metrics) {
    const std::vector<Seed> seeds = ranks::whole_seeds(mesh, metric, from(vertex(0)), {});
    std::array<std::size_t, 3> size{};
    for (const std::uint32_t rank : ranks::partition_by_time(mesh, metric, seeds, 3, 1)) ++size.at(rank);
    for (const std::size_t own : size) EXPECT_GT(own * 6, mesh.vertex_count());
  }
}

TEST(DistributedSolver, TakesEdgesWithoutLengthAndVerticesFarAway) {
  TriangleMesh mesh;
  mesh.points = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}};
  mesh.elements = {{vertex(0), vertex(1), vertex(2)}};
  expect_serial(mesh, Metric(), from(vertex(0)), {.ranks = 3, .rank_options = by_time});
  TriangleMesh large = square(5);
  large.points.push_back({1e9, -1e9, 1e9});
  expect_serial(large, Metric(), from(vertex(0)), {.ranks = 3, .rank_options = by_time});
}

TEST(DistributedSolver, GivesTheSerialTimesWithVirtualElements) {
  const TriangleMesh flat = square(25, 0.4);
  for (const int ranks : {2, 5}) {
    SCOPED_TRACE(ranks);
    expect_serial(flat, Metric::isotropic(1), from(vertex(0)), {.ranks = ranks}, {});
    expect_serial(flat, rough_fibers(flat, 3), from_two(5, 400), {.ranks = ranks}, {});
    SolveOptions always;
    always.obtuse = ObtuseSplit::split;
    expect_serial(cube(7, 0.3), Metric::constant(diag149), from(vertex(0)), {.ranks = ranks}, always);
  }
}

// What falls a little at its owner again and again must not add up at those who have a copy.
TEST(DistributedSolver, LeavesNoMoreThanOneProcess) {
  const TriangleMesh mesh = generate_irregular_square({.n = 61});
  const Metric metric = rough_fibers(mesh, 1, 300);
  for (const int threads : {1, 2}) {
    SolveOptions options;
    options.threads = threads;
    const Arrival outcome =
        solve_over_ranks(mesh, metric, from_two(0, 777), options, {.ranks = 3, .rank_options = by_time});
    ASSERT_TRUE(outcome.residual);
    EXPECT_LT(outcome.residual->worst, 2e-6) << threads;
  }
}

TEST(DistributedSolver, GivesTheSerialTimesAtThePapersPaces) {
  const TetMesh mesh = cube(8, 0.3);
  const TriangleMesh flat = square(20, 0.4);
  for (const Pace pace : {Pace::sweeps, Pace::local_solves})
    for (const int delay : {0, 20}) {
      const Case how{.ranks = 3, .delays = {.seed = 7, .looks = delay}, .rank_options = at_pace(pace)};
      expect_serial(mesh, rough_fibers(mesh, 2), from(vertex(100)), how);
      expect_serial(flat, Metric::isotropic(1), from(vertex(100)), how, {});
    }
}

TEST(DistributedSolver, GivesTheSerialTimesInSinglePrecision) {
  const TetMesh mesh = cube(10, 0.2);
  SolveOptions options;
  options.precision = Precision::single_;
  expect_serial(mesh, rough_speed(mesh), from(vertex(0)), {.ranks = 3}, options);
}

TEST(DistributedSolver, TakesEverySource) {
  const TetMesh mesh = cube(9, 0.2);
  Sources point;
  point.points.push_back({{3.3, 4.1, 2.2}, 1.5});
  expect_serial(mesh, Metric::isotropic(1), point, {.ranks = 4});
  Sources level;
  for (const Vec3d p : mesh.points) level.level_set.push_back(p.x + 0.3 * p.y - 4.2);
  expect_serial(mesh, Metric::constant(diag149), level, {.ranks = 4});
  SolveOptions plain = no_split();
  plain.source_init = SourceInit::plain;
  expect_serial(mesh, Metric::isotropic(1), from_two(0, 728), {.ranks = 4}, plain);
  Sources late = from(vertex(0), -3);  // onsets far apart, and before zero
  late.vertices.push_back({vertex(700), 500});
  expect_serial(mesh, Metric::isotropic(1), late, {.ranks = 3});
}

/// Seeds by vertex, earliest of each.
std::map<std::uint64_t, std::pair<double, std::int32_t>> by_vertex(const std::vector<Seed>& seeds) {
  std::map<std::uint64_t, std::pair<double, std::int32_t>> result;
  for (const Seed& seed : seeds) {
    const auto [place, fresh] = result.try_emplace(seed.vertex.value, seed.time, seed.source);
    if (!fresh && seed.time < place->second.first) place->second = {seed.time, seed.source};
  }
  return result;
}

/// Seeds found by ranks that have a part each are those of the whole mesh.
template <int Corners>
void expect_whole_seeds(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
                        const SolveOptions& options) {
  const auto expected = by_vertex(ranks::whole_seeds(mesh, metric, sources, options));
  run_delayed(4, {.looks = 3}, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    const auto share = ranks::scatter<Corners>(
        communicator, root ? &mesh : nullptr, root ? &metric : nullptr,
        root ? ranks::partition_in_blocks(mesh, 4, {.blocks_per_rank = 3, .partitioner = Partitioner::curve})
             : std::vector<std::uint32_t>(),
        ObtuseSplit::none, 1);
    const auto seeds = by_vertex(
        ranks::part_seeds(communicator, share.part, build_adjacency(share.part.mesh), share.metric, sources, options));
    ASSERT_EQ(seeds.size(), expected.size());
    for (const auto& [v, seed] : expected) {
      ASSERT_TRUE(seeds.contains(v)) << v;
      EXPECT_NEAR(seeds.at(v).first, seed.first, 1e-9);
      EXPECT_EQ(seeds.at(v).second, seed.second);
    }
  });
}

TEST(PartSeeds, AreThoseOfTheWholeMesh) {
  const TetMesh mesh = cube(12, 0.2);
  const TriangleMesh flat = square(30, 0.2);
  const std::size_t middle = 6 + 12 * (6 + 12 * 6);
  SolveOptions plain;
  plain.source_init = SourceInit::plain;
  for (const SolveOptions& options : {SolveOptions{}, plain}) {
    expect_whole_seeds(mesh, Metric::isotropic(1), from(vertex(middle), 2), options);
    expect_whole_seeds(mesh, Metric::constant(diag149), {{{vertex(0), 0}, {vertex(middle), 1}}, {}, {}}, options);
    expect_whole_seeds(mesh, rough_fibers(mesh, 1), {{}, {{{5.3, 5.2, 4.9}, 1}}, {}}, options);
    expect_whole_seeds(flat, Metric::isotropic(1), {{{vertex(0), 0}}, {{{14.3, 15.2, 0}, 1}}, {}}, options);
  }
}

TEST(PartSeeds, RefuseWhatIsNotThere) {
  const TetMesh mesh = one_tet();  // vertex 1 is in no element
  const Metric metric = Metric::isotropic(1);
  Sources off_the_mesh;
  off_the_mesh.points.push_back({{9, 9, 9}, 0});
  for (const Sources& sources : {Sources{}, from(vertex(1)), from(vertex(99)), off_the_mesh})
    run_delayed(2, {}, [&](Communicator& communicator) {
      const bool root = communicator.rank() == 0;
      const auto share = ranks::scatter<4>(
          communicator, root ? &mesh : nullptr, root ? &metric : nullptr,
          root ? ranks::partition_in_blocks(mesh, 2, {.blocks_per_rank = 1}) : std::vector<std::uint32_t>(),
          ObtuseSplit::none, 1);
      EXPECT_THROW(
          ranks::part_seeds(communicator, share.part, build_adjacency(share.part.mesh), share.metric, sources, {}),
          InputError);
    });
}

TEST(DistributedSolver, SourceOnABorderVertex) {
  const TetMesh mesh = cube(7, 0.2);
  const std::vector<std::uint32_t> rank_of =
      ranks::partition_in_blocks(mesh, 3, {.blocks_per_rank = 1, .partitioner = Partitioner::curve});
  for (const auto& element : mesh.elements)
    if (rank_of[element[0].index()] != rank_of[element[1].index()]) {
      expect_serial(mesh, rough_fibers(mesh, 1), from(element[0]),
                    {.ranks = 3, .rank_options = {.blocks_per_rank = 1, .partitioner = Partitioner::curve}});
      return;
    }
  FAIL() << "no border";
}

TEST(DistributedSolver, StandsMoreRanksThanVertices) {
  for (const int ranks : {3, 8}) {
    expect_serial(one_tet(), Metric::isotropic(1), from(vertex(0)),
                  {.ranks = ranks, .rank_options = {.blocks_per_rank = 1}});
    expect_serial(one_triangle(), Metric::isotropic(1), from(vertex(2)),
                  {.ranks = ranks, .rank_options = {.blocks_per_rank = 1}});
  }
}

TEST(DistributedSolver, LeavesOutWhatDoesNotConduct) {
  const TetMesh mesh = cube(7, 0.2);
  SpeedMetric speeds;
  for (std::size_t e = 0; e < mesh.element_count(); ++e) speeds.speed.push_back(e % 7 == 3 ? 0 : 2);
  const Metric metric(speeds);
  expect_serial(mesh, metric, from(vertex(0)), {});
  expect_serial(mesh, metric, from(vertex(0)), {.rank_options = by_time});
  const Arrival wanted = solve(mesh, metric, from(vertex(0)));
  EXPECT_EQ(solve_over_ranks(mesh, metric, from(vertex(0)), {}, {}).not_conducting, wanted.not_conducting);
  const auto part_of = partition_vertices(mesh, 3, Partitioner::curve);
  run_delayed(3, {}, [&](Communicator& communicator) {
    const auto own =
        cut_part(mesh, std::span<const std::uint32_t>(part_of), static_cast<std::uint32_t>(communicator.rank()));
    std::vector<ElementId> elements;
    for (const std::uint64_t e : own.global_element) elements.emplace_back(static_cast<std::size_t>(e));
    const Metric here = metric.of(elements);
    const Arrival arrival = Solver({own, here}, {}, communicator).solve(from(vertex(0)));
    EXPECT_EQ(arrival.not_conducting, wanted.not_conducting);
    for (std::size_t v = 0; v < own.owned; ++v) EXPECT_NEAR(arrival.times[v], wanted.times[own.global_vertex[v]], 1e-4);
  });
}

TEST(DistributedSolver, LeavesOtherPiecesUnreached) {
  const TetMesh two = beside(cube(5), cube(4));
  expect_serial(two, Metric::isotropic(1), from(vertex(0)), {.ranks = 4});
  expect_serial(two, Metric::isotropic(1), from_two(0, 130), {.ranks = 4});
}

TEST(DistributedSolver, WaitsForASlowRank) {
  const TetMesh mesh = cube(7, 0.3);
  for (const int slow : {0, 2})
    expect_serial(mesh, rough_fibers(mesh, 4), from_two(3, 300),
                  {.ranks = 3, .delays = {.looks = 5, .slow_rank = slow, .slow_micros = 300}});
}

TEST(DistributedSolver, StopsOnAllRanksWhenOneIsTold) {
  const TetMesh mesh = cube(6);
  std::atomic<bool> stop{true};
  SolveOptions options = no_split();
  options.progress.cancel = &stop;
  EXPECT_THROW(solve_over_ranks(mesh, Metric::isotropic(1), from(vertex(0)), options, {}), Cancelled);
}

TEST(DistributedSolver, ReportsItsProgressOnAllRanks) {
  std::atomic<int> half_way{0}, ended{0};
  SolveOptions options = no_split();
  options.progress.report = [&](double fraction) {
    if (fraction > 0.1 && fraction < 0.9) ++half_way;
    if (fraction == 1) ++ended;
  };
  (void)solve_over_ranks(cube(14), Metric::isotropic(1), from(vertex(0)), options, {.ranks = 3});
  EXPECT_GE(half_way, 3);
  EXPECT_GE(ended, 3);
}

TEST(DistributedSolver, RefusesWhatItCannotDo) {
  const TetMesh mesh = cube(4);
  SolveOptions options;
  options.method = Method::fim;
  EXPECT_THROW(solve_over_ranks(mesh, Metric::isotropic(1), from(vertex(0)), options, {}), UsageError);
  options = {};
  options.source_init = SourceInit::factored;
  EXPECT_THROW(solve_over_ranks(mesh, Metric::isotropic(1), from(vertex(0)), options, {}), UsageError);
}

TEST(DistributedSolver, StandsDelaysAndReorderedMessages) {
  const TetMesh mesh = cube(8, 0.3);
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    for (const int delay : {3, 40}) {
      SCOPED_TRACE(seed);
      expect_serial(mesh, rough_fibers(mesh, seed), from_two(5, 400),
                    {.ranks = 4, .delays = {.seed = seed, .looks = delay}});
    }
}

}  // namespace TEST_FILE
}  // namespace isochron::test
