// One solve of an image over ranks that each have blocks on a GPU; they share the one that is here.
#include <utility>

#include <gtest/gtest.h>

#include "ranks/image_over_ranks.h"
#include "support/device_case.h"

namespace isochron::test {
namespace TEST_FILE {

class DevicePartsOfImages : public DeviceCase {
 protected:
  static SolveOptions with(Precision precision, int order = 1) {
    SolveOptions options;
    options.precision = precision;
    options.order = order;
    return options;
  }
  static ImageCase on_gpus(int ranks, Delays delays = {}) {
    return {.ranks = ranks, .delays = delays, .rank_backend = Backend::cuda};
  }
};

TEST_F(DevicePartsOfImages, GiveTheSerialTimes) {
  for (const auto& [plain, grid] :
       {std::pair{cube_grid(17), tilted({15, 13, 18})}, std::pair{flat_grid(40), tilted({37, 41, 1})}})
    for (const Precision precision : {Precision::double_, Precision::single_})
      for (const int ranks : {1, 2, 3, 5}) {
        SCOPED_TRACE(ranks);
        const SolveOptions options = with(precision);
        const ImageCase how = on_gpus(ranks);
        expect_serial({plain, Metric::isotropic(2), {}}, centre_source(plain), how, options);
        expect_serial({plain, rough_speed(plain, 3), {}}, two_voxels(plain), how, options);
        expect_serial({plain, varying(plain, diag149), {}}, centre_source(plain), how, options);
        expect_serial({grid, Metric::constant(fiber_metric(4, {1, 2, 1})), {}}, centre_source(grid), how, options);
        expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid), how, options);
      }
}

TEST_F(DevicePartsOfImages, KeepToMasks) {
  for (const ImageGrid& grid : {tilted({19, 16, 11}), tilted({33, 30, 1})})
    for (const int ranks : {1, 2, 5}) {
      SCOPED_TRACE(ranks);
      for (const Metric& metric : {Metric::isotropic(1), rough_speed(grid, 5), rough_tensors(grid, 4),
                                   Metric::constant(fiber_metric(3, {1, 1, 0}))})
        expect_serial({grid, metric, wall(grid)}, voxel_source(grid.voxel(grid.shape[0] - 3, 2, grid.shape[2] / 2)),
                      on_gpus(ranks), with(Precision::double_));
    }
}

TEST_F(DevicePartsOfImages, StandEmptyPartsAndLateOnsets) {
  const SolveOptions options = with(Precision::double_);
  ImageGrid tiny;
  tiny.shape = {2, 2, 1};
  const Metric tensors = rough_tensors(tiny, 3), tensor = Metric::constant(fiber_metric(3, {1, 2, 0}));
  for (const Metric& metric : {Metric::isotropic(1), rough_speed(tiny, 2), tensors, tensor})
    expect_serial({tiny, metric, {}}, voxel_source(VertexId(0)), on_gpus(8), options);
  expect_serial({tiny, Metric::isotropic(1), {1, 0, 0, 1}}, voxel_source(VertexId(3)), on_gpus(3), options);
  const ImageGrid grid = tilted({16, 15, 14});
  expect_serial({grid, Metric::isotropic(1), {}}, two_voxels(grid, 500), on_gpus(3), options);
  Sources points = point_source(grid.position(Vec3d{5.3, 7.8, 6.1}), 1.5);
  points.points.push_back({grid.position(Vec3d{12.2, 3.5, 9.9}), -2});
  expect_serial({grid, rough_tensors(grid, 2), {}}, points, on_gpus(4), options);
}

TEST_F(DevicePartsOfImages, StandDelaysAndReorderedMessages) {
  const ImageGrid grid = tilted({14, 12, 13});
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    for (const int delay : {3, 40})
      expect_serial({grid, rough_tensors(grid, 2.0 + 0.3 * static_cast<double>(seed)), {}}, two_voxels(grid),
                    on_gpus(4, {.seed = seed, .looks = delay}), with(Precision::double_));
}

TEST_F(DevicePartsOfImages, SendOutOfDeviceMemory) {
  const ImageGrid grid = tilted({14, 12, 13}), flat = flat_grid(30);
  for (const Precision precision : {Precision::double_, Precision::single_})
    for (const int ranks : {1, 2, 5}) {
      const ImageCase how = on_gpus(ranks, {.looks = 5, .device_memory = true});
      expect_serial({grid, rough_tensors(grid, 2), {}}, two_voxels(grid), how, with(precision));
      expect_serial({flat, rough_speed(flat, 2), {}}, two_voxels(flat), how, with(precision));
      expect_serial({flat, rough_speed(flat, 2), {}}, two_voxels(flat), how, with(precision, 2));
    }
}

TEST_F(DevicePartsOfImages, GiveTheSerialTimesOfSecondOrder) {
  const ImageGrid flat = tilted({37, 41, 1}), grid = tilted({15, 13, 18});
  for (const int ranks : {1, 3, 5}) {
    SCOPED_TRACE(ranks);
    const ImageCase how = on_gpus(ranks, {.looks = 15});
    const SolveOptions options = with(Precision::double_, 2);
    expect_serial({flat, Metric::isotropic(1), wall(flat)}, voxel_source(flat.voxel(30, 4, 0)), how, options);
    expect_serial({flat, rough_speed(flat, 2), {}}, two_voxels(flat), how, options);
    expect_serial({grid, rough_tensors(grid, 3), {}}, two_voxels(grid), how, options);
  }
}

TEST_F(DevicePartsOfImages, SolveLargeImagesInFewPushes) {
  const ImageGrid grid = cube_grid(96);
  for (const Precision precision : {Precision::double_, Precision::single_}) {
    const Arrival outcome =
        solve_over_ranks({grid, rough_speed(grid, 1), {}}, centre_source(grid), with(precision), on_gpus(2));
    const Counters& counters = outcome.counters;
    EXPECT_EQ(outcome.reached, grid.voxel_count());
    EXPECT_TRUE(outcome.residual->passed()) << outcome.residual->worst;
    EXPECT_EQ(outcome.precision, precision);
    EXPECT_GE(counters.vertex_updates, grid.voxel_count());
    EXPECT_LE(counters.vertex_updates, 50 * grid.voxel_count());
    EXPECT_GT(outcome.traffic->bytes, 0U);
    ASSERT_EQ(outcome.notes.size(), 1U);
    EXPECT_EQ(outcome.notes[0], "each rank solved on its GPU");
  }
}

TEST_F(DevicePartsOfImages, SolveAgainFromOtherSources) {
  const ImageGrid grid = cube_grid(14);
  const Metric metric = rough_speed(grid, 2);
  const std::size_t sources[] = {0, 700, 2743};
  SolveOptions options = with(Precision::double_);
  std::vector<Arrival> arrivals;
  options.ranks.rank_backend = Backend::cuda;
  run_delayed(3, {}, [&](Communicator& communicator) {
    Solver solver({grid, metric, {}}, options, communicator);
    for (const std::size_t source : sources) {
      Arrival arrival = solver.solve(voxel_source(VertexId(source)));
      if (communicator.rank() == 0) arrivals.push_back(std::move(arrival));
    }
  });
  options.backend = Backend::serial;
  ASSERT_EQ(arrivals.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LE(
        worst_difference(arrivals[i].times, solve(grid, metric, voxel_source(VertexId(sources[i])), options).times),
        1e-4);
}

TEST(RankDevice, RanksAreFreeAfterAnImageHasMissedItsGpu) {
  cuda::NoDevice why;
  if (cuda::find_device(why)) GTEST_SKIP() << "there is a GPU";
  const ImageGrid grid = cube_grid(6);
  const Metric metric = Metric::isotropic(1);
  run_delayed(3, {}, [&](Communicator& communicator) {
    SolveOptions options;
    options.ranks.rank_backend = Backend::cuda;
    Solver lost({grid, metric, {}}, options, communicator);
    EXPECT_THROW(lost.solve(centre_source(grid)), RuntimeError);
    options.ranks.rank_backend = Backend::automatic;
    Solver solver({grid, metric, {}}, options, communicator);
    const Arrival arrival = solver.solve(centre_source(grid));
    EXPECT_EQ(arrival.reached, communicator.rank() == 0 ? grid.voxel_count() : 0);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
