// Paths on images: against straight lines, round corners, and never out of the mask.
#include "isochron/path.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/trace/grid_field.h"
#include "trace/trace_samples.h"

namespace isochron::test {
namespace TEST_FILE {

constexpr double infinity = std::numeric_limits<double>::infinity();

ImageGrid image(std::uint32_t nx, std::uint32_t ny, std::uint32_t nz) {
  ImageGrid grid;
  grid.shape = {nx, ny, nz};
  return grid;
}

Sources at_voxel(const ImageGrid& grid, std::uint32_t i, std::uint32_t j, std::uint32_t k) {
  return from(grid.voxel(i, j, k));
}

std::vector<double> straight_times(const ImageGrid& grid, const SymTensor3d& m, Vec3d source) {
  std::vector<double> times(grid.voxel_count());
  for (std::size_t v = 0; v < times.size(); ++v)
    times[v] = std::sqrt(squared_length(m, grid.position(VertexId(v)) - source));
  return times;
}

/// Every piece of the path lies in voxels that may be passed.
void expect_inside(const ImageGrid& grid, std::span<const std::uint8_t> mask, const std::vector<double>& times,
                   const Path& path) {
  const Metric metric;
  const GridField field(grid, metric, mask, times);
  for (std::size_t i = 1; i < path.points.size(); ++i) {
    const Vec3d a = grid.index_of(path.points[i - 1]), b = grid.index_of(path.points[i]);
    EXPECT_TRUE(std::isfinite(field.cost(a, b))) << "piece " << i;
  }
}

TEST(GridPath, StraightWhereTheMetricIsConstant) {
  const ImageGrid grid = image(25, 25, 25);
  for (const SymTensor3d& m : {SymTensor3d::identity(), diag149, SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1}}) {
    const std::vector<double> times = straight_times(grid, m, {12, 12, 12});
    for (const Vec3d start : {Vec3d{3.2, 20.1, 7}, Vec3d{24, 24, 24}, Vec3d{0, 12, 0}, Vec3d{13.4, 12, 12}}) {
      const Path path = trace_path(grid, Metric::constant(m), {}, times, at_voxel(grid, 12, 12, 12), start);
      expect_sound(path);
      EXPECT_LT(norm(path.points.front() - start), 1e-9);
      EXPECT_LT(norm(path.points.back() - Vec3d{12, 12, 12}), 1e-9);
      EXPECT_LT(bend(path), 0.3);
      const double exact = std::sqrt(squared_length(m, start - Vec3d{12, 12, 12}));
      EXPECT_NEAR(path.travel_time, exact, 1e-3 * exact);
    }
  }
}

TEST(GridPath, StraightAtStrongAnisotropyInAPlane) {
  const ImageGrid grid = image(61, 61, 1);
  const Vec3d fiber{std::cos(0.4), std::sin(0.4), 0};
  const SymTensor3d m = SymTensor3d::identity(100) + SymTensor3d::outer(fiber, 1.0 - 100);
  const std::vector<double> times = straight_times(grid, m, {30, 30, 0});
  for (const Vec3d start : {Vec3d{55, 41, 0}, Vec3d{10, 50, 0}, Vec3d{30, 3, 0}}) {
    const Path path = trace_path(grid, Metric::constant(m), {}, times, at_voxel(grid, 30, 30, 0), start);
    expect_sound(path);
    EXPECT_LT(bend(path), 1);
    const double exact = std::sqrt(squared_length(m, start - Vec3d{30, 30, 0}));
    EXPECT_NEAR(path.travel_time, exact, 5e-3 * exact);
  }
}

TEST(GridPath, DoesNotDependOnHowTheImageLies) {
  ImageGrid grid = image(21, 23, 19);
  grid.origin = {-30, 12, 5};
  grid.axes = {Vec3d{0, 1.5, 0.2}, Vec3d{-1.2, 0, 0.1}, Vec3d{0.1, 0.2, 2}};  // turned, skewed, of other spacings
  const Vec3d source = grid.position(Vec3d{4.3, 5.6, 7.1}), start = grid.position(Vec3d{17, 19, 12.5});
  const std::vector<double> times = straight_times(grid, SymTensor3d::identity(), source);
  Sources sources;
  sources.points.push_back({source, 0});
  const Path path = trace_path(grid, Metric{}, {}, times, sources, start);
  expect_sound(path);
  EXPECT_LT(norm(path.points.back() - source), 1e-9);
  EXPECT_LT(bend(path), 0.8);
  EXPECT_NEAR(path.travel_time, norm(start - source), 0.01 * norm(start - source));
}

/// A wall with a slit: times go round its end.
struct Walled {
  ImageGrid grid = image(41, 41, 1);
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(41 * 41, 1);
  std::vector<double> times = std::vector<double>(41 * 41, infinity);
  Sources sources = from(VertexId(5 * 41 + 5));

  Walled() {
    const Vec3d source{5, 5, 0}, corner{20, 30, 0};
    for (std::uint32_t j = 0; j < 30; ++j) mask[grid.voxel(20, j, 0).index()] = 0;
    for (std::size_t v = 0; v < mask.size(); ++v) {
      if (mask[v] == 0) continue;
      const Vec3d p = grid.position(VertexId(v));
      const bool shadow = p.x > 20 && (p.y - 5) * 15 < (p.x - 5) * 25;
      times[v] = shadow ? norm(corner - source) + norm(p - corner) : norm(p - source);
    }
  }
};

TEST(GridPath, GoesRoundAWall) {
  const Walled on;
  for (const Vec3d start : {Vec3d{35, 5, 0}, Vec3d{22, 2, 0}, Vec3d{38, 38, 0}, Vec3d{21, 29, 0}, Vec3d{20, 33, 0}}) {
    const Path path = trace_path(on.grid, Metric{}, on.mask, on.times, on.sources, start);
    expect_sound(path);
    expect_inside(on.grid, on.mask, on.times, path);
    EXPECT_NEAR(path.travel_time, path.times.front(), 0.03 * path.times.front());
  }
}

TEST(GridPath, EveryVoxelBehindAWallHasItsPath) {
  const Walled on;
  for (std::size_t v = 0; v < on.times.size(); v += 3) {
    if (on.mask[v] == 0) continue;
    const Path path = trace_path(on.grid, Metric{}, on.mask, on.times, on.sources, on.grid.position(VertexId(v)),
                                 {.shorten = Shorten::no});
    expect_sound(path);
    expect_inside(on.grid, on.mask, on.times, path);
  }
}

TEST(GridPath, EndsAtTheNearestVoxelOfARegion) {
  const ImageGrid grid = image(30, 30, 30);
  Sources sources;
  std::vector<double> times(grid.voxel_count(), infinity);
  for (std::size_t v = 0; v < times.size(); ++v) {
    const Vec3d p = grid.position(VertexId(v));
    times[v] = std::max(0.0, norm(p - Vec3d{8, 8, 8}) - 4);
    if (times[v] == 0) sources.vertices.push_back({VertexId(v), 0});
  }
  const Path path = trace_path(grid, Metric{}, {}, times, sources, {25, 20, 22});
  expect_sound(path);
  EXPECT_LE(norm(path.points.back() - Vec3d{8, 8, 8}), 4);
  EXPECT_NEAR(path.travel_time, path.times.front(), 1);
  ASSERT_GE(path.source, 0);
  EXPECT_LT(norm(grid.position(sources.vertices[static_cast<std::size_t>(path.source)].vertex.in_whole()) -
                 path.points.back()),
            1e-9);
}

TEST(GridPath, TimesThatAreNoSolutionHaveAnEnd) {
  const ImageGrid grid = image(12, 11, 10);
  Random random(4);
  std::vector<double> times(grid.voxel_count(), 3.0);
  const auto trace = [&] {
    for (std::size_t v = 0; v < times.size(); v += 37) {
      const Path path = trace_path(grid, Metric{}, {}, times, at_voxel(grid, 0, 0, 0), grid.position(VertexId(v)));
      EXPECT_EQ(path.end == PathEnd::source, path.why.empty());
      for (std::size_t i = 1; i < path.times.size(); ++i) ASSERT_LT(path.times[i], path.times[i - 1]);
    }
  };
  trace();
  for (double& t : times) t = random.uniform();
  trace();
  for (double& t : times) t = std::floor(3 * random.uniform());
  trace();
  for (double& t : times) t = random.below(3) == 0 ? infinity : 1.0;
  times[0] = 0;
  for (std::size_t v = 0; v < times.size(); v += 37)
    if (!std::isfinite(times[v])) times[v] = 2;
  trace();
}

TEST(GridPath, SaysWhatIsWrong) {
  const ImageGrid grid = image(8, 8, 8);
  std::vector<std::uint8_t> mask(grid.voxel_count(), 1);
  std::vector<double> times = straight_times(grid, SymTensor3d::identity(), {0, 0, 0});
  const Sources sources = at_voxel(grid, 0, 0, 0);
  mask[grid.voxel(7, 7, 7).index()] = 0;
  times[grid.voxel(7, 7, 7).index()] = infinity;
  times[grid.voxel(0, 7, 7).index()] = infinity;
  const auto trace = [&](Vec3d start) { (void)trace_path(grid, Metric{}, mask, times, sources, start); };
  EXPECT_THROW(trace({7, 7, 7}), InputError);
  EXPECT_THROW(trace({0, 7, 7}), NoAnswerError);
  EXPECT_THROW(trace({9, 0, 0}), InputError);
  EXPECT_THROW(trace({std::nan(""), 0, 0}), InputError);
  EXPECT_NO_THROW(trace({7.5, 3, 3}));
  EXPECT_THROW((void)trace_path(grid, Metric{}, mask, times, Sources{}, {1, 1, 1}), InputError);
  EXPECT_THROW((void)trace_path(grid, Metric{}, mask, times, from(VertexId(9999)), {1, 1, 1}), InputError);
  EXPECT_THROW((void)trace_path(grid, Metric{}, std::span(mask).first(5), times, sources, {1, 1, 1}), InputError);
  EXPECT_THROW((void)trace_path(grid, Metric{}, mask, std::span<const double>(times).first(5), sources, {1, 1, 1}),
               InputError);
  times[3] = std::nan("");
  EXPECT_THROW(trace({1, 1, 1}), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
