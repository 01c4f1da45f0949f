#include "isochron/solve/ranks/grid_boxes.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/communicator.h"
#include "isochron/core/random.h"
#include "isochron/parts.h"
#include "isochron/solver.h"
#include "solve/grid_samples.h"
#include "solve/samples.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace TEST_FILE {

struct WholeImage {
  ImageGrid grid;
  Metric metric;
  std::vector<std::uint8_t> mask;
};

/// What a rank has of an image.
struct OwnBox {
  std::vector<IndexBox> boxes;
  Metric metric;
  std::vector<std::uint8_t> mask;
};

OwnBox own_box(const WholeImage& image, const Communicator& communicator) {
  OwnBox own;
  own.boxes = partition_boxes(image.grid, static_cast<std::size_t>(communicator.size()));
  std::vector<ElementId> elements;
  for_each_index(own.boxes[static_cast<std::size_t>(communicator.rank())], [&](const LatticeIndex& at) {
    elements.emplace_back(static_cast<std::size_t>(whole_box(image.grid).offset(at)));
    if (!image.mask.empty()) own.mask.push_back(image.mask[elements.back().index()]);
  });
  own.metric = image.metric.of(elements);
  return own;
}

/// Every rank knows its box only, and brings boxes the times of one process.
void expect_serial(const WholeImage& image, const Sources& sources, int ranks, SolveOptions options = {},
                   int blocks = 3) {
  SCOPED_TRACE(ranks);
  SolveOptions serial_options = options;
  serial_options.backend = Backend::serial;
  const Arrival serial = solve(image.grid, image.metric, sources, serial_options, image.mask);
  options.verify = Keep::yes;
  options.ranks.blocks_per_rank = blocks;
  run_delayed(ranks, {}, [&](Communicator& communicator) {
    const OwnBox own = own_box(image, communicator);
    Solver solver({BoxedGrid{&image.grid, &own.boxes, own.mask}, own.metric}, options, communicator);
    const Arrival arrival = solver.solve(sources);
    EXPECT_TRUE(arrival.residual && arrival.residual->passed());
    EXPECT_EQ(arrival.reached, serial.reached);
    EXPECT_EQ(arrival.unreached, serial.unreached);
    const IndexBox& box = own.boxes[communicator.index()];
    ASSERT_EQ(arrival.times.size(), box.count());
    for_each_index(box, [&](const LatticeIndex& at) {
      const auto here = static_cast<std::size_t>(box.offset(at)),
                 there = static_cast<std::size_t>(whole_box(image.grid).offset(at));
      if (std::isfinite(serial.times[there])) EXPECT_NEAR(arrival.times[here], serial.times[there], 1e-4);
      else EXPECT_FALSE(std::isfinite(arrival.times[here]));
      EXPECT_EQ(arrival.source[here] < 0, serial.source[there] < 0);
    });
  });
}

Metric rough_speed(const ImageGrid& grid) {
  Random random(7);
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(0.5 + 2 * random.uniform());
  return Metric(std::move(speeds));
}

/// A wall with a gap.
std::vector<std::uint8_t> wall(const ImageGrid& grid) {
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); ++v) {
    const auto [i, j, k] = grid.index(VertexId(v));
    if ((i == grid.shape[0] / 2 && j > 1) || i + j + k == 1) mask[v] = 0;
  }
  return mask;
}

TEST(GridBoxes, GivesTheSerialTimes) {
  const ImageGrid grid = cube_grid(13), flat = flat_grid(31);
  const Metric fibers = varying(grid, fiber_metric(4, {1, 2, 1}));
  for (const int ranks : {1, 2, 3, 6}) {
    expect_serial({grid, Metric::isotropic(2), {}}, centre_source(grid), ranks);
    expect_serial({grid, rough_speed(grid), wall(grid)}, voxel_source(grid.voxel(11, 3, 2)), ranks);
    expect_serial({grid, fibers, wall(grid)}, point_source(grid.position(Vec3d{9.4, 5.5, 6.2}), 1.5), ranks);
    expect_serial({grid, fibers, {}}, centre_source(grid), ranks, {}, 0);
    expect_serial({flat, rough_speed(flat), wall(flat)}, voxel_source(flat.voxel(28, 20, 0)), ranks);
    SolveOptions second;
    second.order = 2;
    expect_serial({grid, fibers, wall(grid)}, voxel_source(grid.voxel(10, 3, 5)), ranks, second);
  }
}

TEST(GridBoxes, TakesEverySource) {
  const ImageGrid grid = cube_grid(12);
  const WholeImage image{grid, rough_speed(grid), wall(grid)};
  Sources many = point_source(grid.position(Vec3d{2.5, 7.5, 6.5}), 0.5);
  many.points.push_back({grid.position(Vec3d{5.4999999999, 7.3, 6.1}), 0});  // on the face of the wall
  for (std::uint32_t i = 1; i < 4; ++i) many.vertices.push_back({grid.voxel(i, 4, 5), 0.1 * i});
  many.vertices.push_back({grid.voxel(11, 11, 11), 2});
  for (const int ranks : {1, 4}) {
    expect_serial(image, many, ranks);
    SolveOptions plain;
    plain.source_init = SourceInit::plain;
    expect_serial(image, many, ranks, plain);
  }
}

TEST(GridBoxes, FindsTheSeedsOfOneProcess) {
  const ImageGrid grid = cube_grid(12);
  const WholeImage image{grid, rough_speed(grid), wall(grid)};
  Sources sources = point_source(grid.position(Vec3d{5.4999999999, 7.3, 6.1}), 0.5);
  sources.vertices.push_back({grid.voxel(3, 3, 3), 0});
  std::vector<Seed> one;
  for (const int ranks : {1, 2, 5})
    run_delayed(ranks, {}, [&](Communicator& communicator) {
      OwnBox own = own_box(image, communicator);
      const ranks::GridBoxes boxes(communicator, grid, own.boxes, own.metric, own.mask);
      const std::vector<Seed> seeds = boxes.seeds(sources, {});
      if (ranks == 1) one = seeds;
      ASSERT_EQ(seeds.size(), one.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(seeds[i].vertex, one[i].vertex);
        EXPECT_EQ(seeds[i].source, one[i].source);
        EXPECT_NEAR(seeds[i].time, one[i].time, 1e-12);
      }
    });
}

TEST(GridBoxes, StandsMoreRanksThanVoxels) {
  ImageGrid tiny;
  tiny.shape = {2, 2, 1};
  expect_serial({tiny, rough_speed(tiny), {}}, voxel_source(VertexId(0)), 7);
  expect_serial({tiny, rough_speed(tiny), {1, 0, 0, 1}}, voxel_source(VertexId(3)), 3);
}

TEST(GridBoxes, SaysWhatIsWrongOnAllRanks) {
  const ImageGrid grid = cube_grid(6);
  std::vector<double> speeds(grid.voxel_count(), 1.0);
  speeds[200] = 0;
  const std::vector<std::uint8_t> nothing(grid.voxel_count(), 0);
  run_delayed(3, {}, [&](Communicator& communicator) {
    for (const WholeImage& image : {WholeImage{grid, Metric(SpeedMetric{speeds}), {}}, WholeImage{grid, {}, nothing}}) {
      OwnBox own = own_box(image, communicator);
      EXPECT_THROW(ranks::GridBoxes(communicator, grid, own.boxes, own.metric, own.mask), InputError);
    }
    const WholeImage image{grid, Metric::isotropic(1), wall(grid)};
    OwnBox own = own_box(image, communicator);
    const ranks::GridBoxes boxes(communicator, grid, own.boxes, own.metric, own.mask);
    EXPECT_THROW(static_cast<void>(boxes.seeds(voxel_source(grid.voxel(3, 4, 4)), {})), InputError);
    EXPECT_THROW(static_cast<void>(boxes.seeds(voxel_source(VertexId(5000)), {})), InputError);
  });
}

}  // namespace TEST_FILE
}  // namespace isochron::test
