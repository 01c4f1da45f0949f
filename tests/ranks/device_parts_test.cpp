// One solve over ranks that each have a part on a GPU; they share the one that is here.
#include <gtest/gtest.h>

#include "isochron/communicator.h"
#include "isochron/device.h"
#include "isochron/solve/ranks/rank_device.h"
#include "ranks/over_ranks.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

class DeviceParts : public DeviceCase {
 protected:
  static SolveOptions on_device(Precision precision, ObtuseSplit obtuse = ObtuseSplit::automatic) {
    SolveOptions options;
    options.backend = Backend::cuda;
    options.precision = precision;
    options.obtuse = obtuse;
    return options;
  }
};

TEST_F(DeviceParts, GiveTheSerialTimesOnTetrahedra) {
  const TetMesh mesh = cube(11, 0.3);
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const int ranks : {1, 2, 3, 5}) {
      SCOPED_TRACE(ranks);
      const SolveOptions options = on_device(precision);
      expect_serial(mesh, Metric::isotropic(1), from(vertex(0)), {.ranks = ranks}, options);
      expect_serial(mesh, Metric::constant(diag149), from(vertex(700)), {.ranks = ranks}, options);
      expect_serial(mesh, rough_fibers(mesh, 3), from_two(5, 900), {.ranks = ranks}, options);
      expect_serial(mesh, rough_speed(mesh), from(vertex(5)), {.ranks = ranks, .rank_options = by_time}, options);
    }
}

TEST_F(DeviceParts, GiveTheSerialTimesOnTriangles) {
  const TriangleMesh mesh = square(40, 0.4);
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const ObtuseSplit split : {ObtuseSplit::none, ObtuseSplit::automatic})
      for (const int ranks : {1, 2, 3, 5}) {
        SCOPED_TRACE(ranks);
        const SolveOptions options = on_device(precision, split);
        expect_serial(mesh, Metric::isotropic(2), from(vertex(0)), {.ranks = ranks}, options);
        expect_serial(mesh, rough_speed(mesh), from_two(5, 900), {.ranks = ranks}, options);
        expect_serial(mesh, rough_fibers(mesh, 3), from(vertex(820)), {.ranks = ranks}, options);
      }
}

TEST_F(DeviceParts, GiveTheSerialTimesWithVirtualTetrahedra) {
  for (const int ranks : {2, 3})
    expect_serial(cube(7, 0.3), Metric::constant(diag149), from(vertex(0)), {.ranks = ranks},
                  on_device(Precision::double_, ObtuseSplit::split));
}

TEST_F(DeviceParts, StandEmptyPartsAndPiecesApart) {
  const SolveOptions options = on_device(Precision::double_);
  expect_serial(one_tet(), Metric::isotropic(1), from(vertex(0)), {.ranks = 8, .rank_options = {.blocks_per_rank = 1}},
                options);
  expect_serial(one_triangle(), Metric::isotropic(1), from(vertex(2)),
                {.ranks = 8, .rank_options = {.blocks_per_rank = 1}}, options);
  const TetMesh two = beside(cube(5), cube(4));
  expect_serial(two, Metric::isotropic(1), from(vertex(0)), {.ranks = 4}, options);
  expect_serial(two, Metric::isotropic(1), from_two(0, 130), {.ranks = 4}, options);
  Sources late = from(vertex(0), -3);  // onsets far apart, and before zero
  late.vertices.push_back({vertex(130), 500});
  expect_serial(two, Metric::isotropic(1), late, {.ranks = 3}, options);
}

TEST_F(DeviceParts, StandDelaysAndReorderedMessages) {
  const TetMesh mesh = cube(8, 0.3);
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const int delay : {3, 40})
      expect_serial(mesh, rough_fibers(mesh, seed), from_two(5, 400),
                    {.ranks = 4, .delays = {.seed = seed, .looks = delay}}, on_device(Precision::double_));
  expect_serial(mesh, rough_fibers(mesh, 9), from_two(3, 300),
                {.ranks = 3, .rank_options = at_pace(Pace::local_solves)}, on_device(Precision::double_));
}

TEST_F(DeviceParts, SendOutOfDeviceMemory) {
  const TetMesh mesh = cube(9, 0.3);
  const TriangleMesh flat = square(30, 0.4);
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const int ranks : {1, 2, 5}) {
      const Case how{.ranks = ranks, .delays = {.looks = 5, .device_memory = true}};
      expect_serial(mesh, rough_fibers(mesh, 2), from_two(5, 400), how, on_device(precision));
      expect_serial(flat, rough_speed(flat), from(vertex(5)), how, on_device(precision));
    }
}

TEST_F(DeviceParts, SolveLargeMeshesInFewPushes) {
  const TetMesh mesh = cube(60, 0.2);
  const Metric metric = rough_fibers(mesh, 1);
  for (const Precision precision : {Precision::double_, Precision::single_}) {
    const Arrival outcome = solve_over_ranks(mesh, metric, from(vertex(0)), on_device(precision), {.ranks = 2});
    const Counters& counters = outcome.counters;
    EXPECT_EQ(outcome.reached, mesh.vertex_count());
    EXPECT_TRUE(outcome.residual->passed()) << outcome.residual->worst;
    EXPECT_EQ(outcome.precision, precision);
    EXPECT_GE(counters.vertex_updates, mesh.vertex_count());
    EXPECT_LE(counters.vertex_updates, 50 * mesh.vertex_count());
    EXPECT_GT(counters.local_solves, counters.vertex_updates);
    EXPECT_GT(outcome.traffic->bytes, 0U);
  }
}

TEST_F(DeviceParts, SolveAgainFromOtherSources) {
  const TetMesh mesh = cube(9, 0.2);
  const Metric metric = rough_fibers(mesh, 2);
  std::vector<Arrival> arrivals;
  run_delayed(3, {}, [&](Communicator& communicator) {
    SolveOptions options;
    options.verify = Keep::yes;
    options.precision = Precision::double_;
    options.ranks.rank_backend = Backend::cuda;
    Solver solver({mesh, metric}, options, communicator);
    for (const std::size_t source : {0, 300, 728}) {
      Arrival arrival = solver.solve(from(vertex(source)));
      if (communicator.rank() == 0) arrivals.push_back(std::move(arrival));
    }
  });
  ASSERT_EQ(arrivals.size(), 3U);
  SolveOptions serial;
  serial.backend = Backend::serial;
  const std::size_t sources[] = {0, 300, 728};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(arrivals[i].converged);
    EXPECT_LE(worst_difference(arrivals[i].times, solve(mesh, metric, from(vertex(sources[i])), serial).times), 1e-4);
  }
}

TEST(RankDevice, AllRanksAgree) {
  cuda::NoDevice why;
  const bool there = cuda::find_device(why).has_value();
  run_delayed(3, {}, [&](Communicator& communicator) {
    EXPECT_EQ(ranks::agreed_backend(communicator, Backend::serial), Backend::serial);
    EXPECT_EQ(ranks::agreed_backend(communicator, Backend::automatic), there ? Backend::cuda : Backend::threads);
    if (there) EXPECT_EQ(ranks::agreed_backend(communicator, Backend::cuda), Backend::cuda);
    else EXPECT_THROW(ranks::agreed_backend(communicator, Backend::cuda), ThrownTogether);
  });
}

TEST(RankDevice, RanksAreFreeAfterOneHasMissedItsGpu) {
  cuda::NoDevice why;
  if (cuda::find_device(why)) GTEST_SKIP() << "there is a GPU";
  const TetMesh mesh = cube(5);
  const Metric metric = Metric::isotropic(1);
  run_delayed(3, {}, [&](Communicator& communicator) {
    SolveOptions options;
    options.ranks.rank_backend = Backend::cuda;
    Solver lost({mesh, metric}, options, communicator);
    EXPECT_THROW(lost.solve(from(vertex(0))), RuntimeError);
    options.ranks.rank_backend = Backend::automatic;
    Solver solver({mesh, metric}, options, communicator);
    const Arrival arrival = solver.solve(from(vertex(0)));
    EXPECT_EQ(arrival.reached, communicator.rank() == 0 ? mesh.vertex_count() : 0);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
