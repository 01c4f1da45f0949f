#include "isochron/connect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connect/connect_samples.h"
#include "isochron/diffusion.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "support/random_frame.h"

namespace isochron::test {
namespace TEST_FILE {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Region sphere(const ImageGrid& grid, const Vec3d& center, double radius, const char* name = "sphere") {
  return make_region({name, SphereRegion{center, radius}}, grid, {});
}

/// A tensor image and its metric, ready to be asked.
struct Asked {
  const TensorSample& sample;
  DiffusionMetric metric;
  std::vector<std::uint8_t> mask;

  explicit Asked(const TensorSample& on, const DiffusionMetricOptions& options = {})
      : sample(on), metric(diffusion_metric(on.tensors, on.mask, options)), mask(metric.usable) {}

  [[nodiscard]] Connection connect(const ConnectQuery& query) const {
    SolveOptions options;
    options.threads = 1;
    options.verify = Keep::yes;
    Connection found = Connector({sample.grid, metric.metric, mask}, options).connect(query);
    EXPECT_TRUE(found.work.residual && found.work.residual->passed());
    return found;
  }
};

/// A metric of mild anisotropy, which coarse grids resolve.
DiffusionMetricOptions mild() {
  DiffusionMetricOptions options;
  options.kind = DiffusionMetricKind::inverse;
  return options;
}

ConnectQuery between(Region from, Region to, double epsilon = 0.05) {
  ConnectQuery query;
  query.from = std::move(from);
  query.to = std::move(to);
  query.epsilon = epsilon;
  return query;
}

/// The path begins in one region and ends in the other, and its times never fall.
void expect_joins(const Path& path, const ConnectQuery& query, const ImageGrid& grid) {
  ASSERT_GE(path.points.size(), 2u);
  EXPECT_EQ(path.end, PathEnd::source) << path.why;
  const auto in = [&](const Region& region, const Vec3d& p) {
    const auto voxel = grid.voxel_at(p);
    return voxel && std::binary_search(region.voxels.begin(), region.voxels.end(), *voxel);
  };
  EXPECT_TRUE(in(query.from, path.points.front()));
  EXPECT_TRUE(in(query.to, path.points.back()));
  ASSERT_EQ(path.times.size(), path.points.size());
  for (std::size_t i = 1; i < path.times.size(); ++i) EXPECT_GE(path.times[i], path.times[i - 1]);
}

double distance_to_line(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  return norm(cross(p - a, b - a)) / norm(b - a);
}

/// How far the points of one path are from another, at most.
double apart(const Path& a, const Path& b) {
  double worst = 0;
  for (const Vec3d& p : a.points) {
    double nearest = 1e9;
    for (std::size_t i = 1; i < b.points.size(); ++i) {
      const Vec3d along = b.points[i] - b.points[i - 1];
      const double t = std::clamp(dot(p - b.points[i - 1], along) / std::max(dot(along, along), 1e-300), 0.0, 1.0);
      nearest = std::min(nearest, norm(p - b.points[i - 1] - t * along));
    }
    worst = std::max(worst, nearest);
  }
  return worst;
}

// With one tensor everywhere the cost is the straight line's, and the pathway a spheroid around it.
TEST(Connect, StraightLineOnAConstantTensor) {
  const SymTensor3d tensor = fiber_tensor({1, 0.4, 0.2}, 1.2e-3, 0.6e-3);
  const TensorSample sample(straight_grid(31, 21, 17), [&](const Vec3d&) { return tensor; });
  const Asked asked(sample, mild());
  const VertexId a = sample.grid.voxel(5, 6, 6), b = sample.grid.voxel(25, 14, 10);
  const ConnectQuery query = between(voxel_region({a}, "a"), voxel_region({b}, "b"), 0.1);
  const Connection found = asked.connect(query);
  const Vec3d pa = sample.grid.position(a), pb = sample.grid.position(b);
  const SymTensor3d m = inverse(tensor);
  const auto cost = [&](const Vec3d& from, const Vec3d& to) { return std::sqrt(squared_length(m, to - from)); };
  EXPECT_NEAR(found.least_cost, cost(pa, pb), 0.03 * cost(pa, pb));
  EXPECT_NEAR(found.forward_cost, found.backward_cost, 1e-6 * found.least_cost);
  expect_joins(found.path, query, sample.grid);
  for (const Vec3d& p : found.path.points) EXPECT_LT(distance_to_line(p, pa, pb), 0.5);
  EXPECT_NEAR(found.path.length, norm(pb - pa), 0.02 * norm(pb - pa));
  std::size_t right = 0, all = 0;
  for (std::size_t v = 0; v < found.cost.size(); ++v) {
    const Vec3d p = sample.grid.position(VertexId(v));
    const double through = cost(pa, p) + cost(p, pb);
    EXPECT_NEAR(found.cost[v], through, 0.06 * through);
    ++all;
    right += (through <= 1.1 * cost(pa, pb)) == (found.pathway[v] != 0) ? 1 : 0;
  }
  EXPECT_GT(static_cast<double>(right), 0.99 * static_cast<double>(all));
  EXPECT_EQ(found.pathway_volume, static_cast<double>(found.pathway_voxels));
}

TensorSample ring_sample(std::uint32_t n = 25) {
  ImageGrid grid = straight_grid(n, n, 5);
  const double middle = 0.5 * (n - 1);
  grid.origin = {-middle, -middle, -2};
  return {grid, ring_tensor};
}

// Fibres in circles: the path goes round and not straight across.
TEST(Connect, FollowsCircularFibres) {
  const TensorSample sample = ring_sample();
  const Asked asked(sample, mild());
  const ConnectQuery query = between(sphere(sample.grid, {8, 0, 0}, 1.2), sphere(sample.grid, {0, 8, 0}, 1.2));
  const Connection found = asked.connect(query);
  expect_joins(found.path, query, sample.grid);
  for (const Vec3d& p : found.path.points) EXPECT_NEAR(std::hypot(p.x, p.y), 8, 1.7);
  EXPECT_NEAR(found.forward_cost, found.backward_cost, 0.02 * found.least_cost);
  const PathStatistics statistics =
      path_statistics(found.path.points, {sample.grid, sample.tensors, asked.mask}, asked.metric.metric);
  EXPECT_NEAR(statistics.cost, found.least_cost, 0.25 * found.least_cost);
}

TEST(Connect, PathwayGrowsWithEpsilonAndHoldsThePath) {
  const TensorSample sample = ring_sample();
  const Asked asked(sample, mild());
  const Region from = sphere(sample.grid, {8, 0, 0}, 1.2), to = sphere(sample.grid, {0, 8, 0}, 1.2);
  const Connection narrow = asked.connect(between(from, to, 0.02)), wide = asked.connect(between(from, to, 0.3));
  EXPECT_LT(narrow.pathway_voxels, wide.pathway_voxels);
  for (std::size_t v = 0; v < wide.pathway.size(); ++v) {
    EXPECT_LE(narrow.pathway[v], wide.pathway[v]);
    EXPECT_EQ(wide.pathway[v] != 0, wide.cost[v] <= 1.3 * wide.least_cost);
  }
  for (const Vec3d& p : wide.path.points) EXPECT_EQ(wide.pathway[sample.grid.voxel_at(p)->index()], 1);
}

TEST(Connect, HelixPathStaysInTheTube) {
  HelixTensorsOptions helix;
  helix.size.n = {40, 40, 40};
  const Image image = generate_helix_tensors(helix);
  const std::vector<SymTensor3d> tensors =
      world_tensors(image.data.all().front(), TensorOrder::row, image.grid, TensorFrame::world, "helix");
  TensorSample sample(image.grid, [](const Vec3d&) { return SymTensor3d{}; });
  sample.tensors = tensors;
  const Asked asked(sample, mild());  // the image has velocity tensors already
  const double tube = helix_tube_radius(helix);
  const ConnectQuery query =
      between(sphere(sample.grid, helix_point(helix, 0.04), 1.2), sphere(sample.grid, helix_point(helix, 0.96), 1.2));
  const Connection found = asked.connect(query);
  expect_joins(found.path, query, sample.grid);
  double length = 0;
  for (int i = 0; i < 1000; ++i)
    length += norm(helix_point(helix, 0.04 + 0.92 * (i + 1) / 1000) - helix_point(helix, 0.04 + 0.92 * i / 1000));
  EXPECT_NEAR(found.path.length, length, 0.2 * length);  // it cuts corners inside the tube
  for (const Vec3d& p : found.path.points) {
    double nearest = 1e9;
    for (int i = 0; i <= 1000; ++i) nearest = std::min(nearest, norm(p - helix_point(helix, i / 1000.0)));
    EXPECT_LT(nearest, tube + 0.1);
  }
}

TEST(Connect, GoesStraightOnWhereFibresCross) {
  CrossingFibersOptions options;
  options.size = {{41, 41, 9}, 2};
  options.angle = 90;
  const Image image = generate_crossing_fibers(options);
  TensorSample sample(image.grid, [](const Vec3d&) { return SymTensor3d{}; });
  sample.tensors = world_tensors(*image.data.find("tensor"), TensorOrder::row, image.grid, TensorFrame::world, "cross");
  const Asked asked(sample);
  const Vec3d middle = image.grid.position(Vec3d{20, 20, 4}), along{std::sqrt(0.5), std::sqrt(0.5), 0};
  const ConnectQuery query =
      between(sphere(image.grid, middle - 36.0 * along, 3), sphere(image.grid, middle + 36.0 * along, 3));
  const Connection found = asked.connect(query);
  expect_joins(found.path, query, image.grid);
  const double radius = options.radius * 80;
  for (const Vec3d& p : found.path.points) EXPECT_LT(distance_to_line(p, middle, middle + along), radius);
}

/// Bundles that cross, with noise, so that fibres turn from voxel to voxel.
TensorSample noisy_crossing(std::uint64_t seed) {
  CrossingFibersOptions options;
  options.size = {{41, 41, 9}, 2};
  options.angle = 90;
  options.noise = 0.04;
  options.seed = seed;
  const Image image = generate_crossing_fibers(options);
  TensorSample sample(image.grid, [](const Vec3d&) { return SymTensor3d{}; });
  sample.tensors = world_tensors(*image.data.find("tensor"), TensorOrder::row, image.grid, TensorFrame::world, "cross");
  return sample;
}

// Nothing is to be paid inside the regions, so the path does not go on there against the fibres to the middle of a
// voxel.
TEST(Connect, ThePathBeginsAndEndsAtTheBordersOfTheRegionsWithoutAJumpInCost) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const TensorSample sample = noisy_crossing(seed);
    const ImageGrid& grid = sample.grid;
    const Asked asked(sample);
    const Vec3d middle = grid.position(Vec3d{20, 20, 4}), along{std::sqrt(0.5), std::sqrt(0.5), 0}, aside{1, -2, 1};
    const auto region = [&](const Vec3d& at) { return inside_mask(sphere(grid, at, 4), grid, asked.mask); };
    const ConnectQuery query = between(region(middle - 30.0 * along + aside), region(middle + 30.0 * along - aside));
    const Connection found = asked.connect(query);
    expect_joins(found.path, query, grid);
    const auto inside = [&](const Region& in, const Vec3d& p) {
      return std::binary_search(in.voxels.begin(), in.voxels.end(), *grid.voxel_at(p));
    };
    const std::vector<Vec3d>& points = found.path.points;
    for (std::size_t i = 1; i + 1 < points.size(); ++i)
      EXPECT_FALSE(inside(query.from, points[i]) || inside(query.to, points[i])) << i;
    const auto profile = path_statistics(points, {grid, sample.tensors, asked.mask}, asked.metric.metric).profile;
    std::vector<double> inner;
    for (std::size_t i = 2; i + 2 < profile.size(); ++i) inner.push_back(profile[i].local_cost);
    std::nth_element(inner.begin(), inner.begin() + static_cast<std::ptrdiff_t>(inner.size() / 2), inner.end());
    const double median = inner[inner.size() / 2];
    EXPECT_LT(profile.front().local_cost, 1.5 * median) << seed;
    EXPECT_LT(profile.back().local_cost, 1.5 * median) << seed;
  }
}

TEST(Connect, RegionsThatTouchHaveAPathBetweenTheMiddlesOfTheirVoxels) {
  const TensorSample sample(straight_grid(9, 5, 5), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  const Asked asked(sample);
  Region left{"left", {}}, right{"right", {}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    left.voxels.push_back(sample.grid.voxel(i, 2, 2));
    right.voxels.push_back(sample.grid.voxel(i + 4, 2, 2));
  }
  const Connection found = asked.connect(between(left, right));
  EXPECT_NEAR(found.path.length, 1, 1e-9);
  EXPECT_NEAR(found.path.travel_time, found.least_cost, 1e-6 * found.least_cost);
}

/// The same voxels counted along other axes: axis d of the result is axis `order[d]`, backwards where `flip` says so.
ImageGrid recounted(const ImageGrid& grid, const std::array<int, 3>& order, const std::array<bool, 3>& flip) {
  ImageGrid result = grid;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto from = static_cast<std::size_t>(order[d]);
    result.shape[d] = grid.shape[from];
    result.axes[d] = grid.axes[from];
    if (!flip[d]) continue;
    result.origin += (grid.shape[from] - 1.0) * grid.axes[from];
    result.axes[d] = -grid.axes[from];
  }
  return result;
}

TEST(Connect, DoesNotDependOnHowVoxelsAreCounted) {
  Random random(5);
  const RandomFrame frame(random);  // an oblique affine
  ImageGrid grid{{17, 15, 11}, {40, -30, 7}, {2.0 * frame.axis[0], 2.0 * frame.axis[1], 2.5 * frame.axis[2]}};
  const Vec3d middle = grid.position(Vec3d{-1, -2, 5});
  const auto tensor_of = [&](const Vec3d& p) { return fiber_tensor(cross(frame.axis[2], p - middle)); };
  const auto run = [&](const ImageGrid& on) {
    const TensorSample sample(on, tensor_of);
    const Asked asked(sample);
    const auto at = [&](double i, double j, double k) { return grid.position(Vec3d{i, j, k}); };
    const ConnectQuery query = between(sphere(on, at(12.1, 1.2, 4.1), 3.1), sphere(on, at(2.1, 11.3, 6.2), 3.1));
    return asked.connect(query);
  };
  const Connection first = run(grid);
  for (const auto& order : {std::array{1, 0, 2}, std::array{2, 0, 1}, std::array{0, 1, 2}}) {
    for (const auto& flip : {std::array{false, false, false}, std::array{true, false, true}}) {
      const ImageGrid other = recounted(grid, order, flip);
      const Connection found = run(other);
      EXPECT_NEAR(found.least_cost, first.least_cost, 1e-5 * first.least_cost);
      EXPECT_EQ(found.pathway_voxels, first.pathway_voxels);
      for (std::size_t v = 0; v < grid.voxel_count(); ++v) {
        const auto same = other.voxel_at(grid.position(VertexId(v)));
        ASSERT_TRUE(same);
        EXPECT_NEAR(found.cost[same->index()], first.cost[v], 1e-5 * first.cost[v]);
      }
      EXPECT_LT(apart(found.path, first.path), 0.5);
      EXPECT_LT(apart(first.path, found.path), 0.5);
    }
  }
}

TEST(Connect, TurnsWithTheWorld) {
  Random random(6);
  const RandomFrame frame(random);
  const auto turned = [&](const Vec3d& p) { return p.x * frame.axis[0] + p.y * frame.axis[1] + p.z * frame.axis[2]; };
  const TensorSample sample = ring_sample(19);
  TensorSample rotated = sample;
  rotated.grid.origin = turned(sample.grid.origin);
  for (Vec3d& axis : rotated.grid.axes) axis = turned(axis);
  for (std::size_t v = 0; v < sample.tensors.size(); ++v) {
    const Vec3d p = sample.grid.position(VertexId(v)), around{-p.y, p.x, 0};
    if (norm(around) > 0) rotated.tensors[v] = fiber_tensor(turned(around));
  }
  const Vec3d a{6, 0, 0}, b{0, 6, 1};
  const Connection plain = Asked(sample).connect(between(sphere(sample.grid, a, 1.2), sphere(sample.grid, b, 1.2)));
  const Connection there =
      Asked(rotated).connect(between(sphere(rotated.grid, turned(a), 1.2), sphere(rotated.grid, turned(b), 1.2)));
  EXPECT_NEAR(plain.least_cost, there.least_cost, 1e-5 * plain.least_cost);
  ASSERT_FALSE(there.path.points.empty());
  Path back = plain.path;
  for (Vec3d& p : back.points) p = turned(p);
  EXPECT_LT(apart(there.path, back), 0.15);
}

TEST(Connect, WaypointsAreVisitedInOrder) {
  const TensorSample sample(straight_grid(31, 21, 3), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  const Asked asked(sample);
  const ImageGrid& grid = sample.grid;
  ConnectQuery query = between(voxel_region({grid.voxel(3, 10, 1)}), voxel_region({grid.voxel(27, 10, 1)}));
  const Connection straight = asked.connect(query);
  const Region up = voxel_region({grid.voxel(10, 17, 1), grid.voxel(11, 17, 1)}),
               down = voxel_region({grid.voxel(20, 3, 1)});
  query.waypoints = {up};
  const Connection one = asked.connect(query);
  double through = 1e300;
  for (const VertexId v : up.voxels) through = std::min(through, straight.cost[v.index()]);
  EXPECT_NEAR(one.least_cost, through, 1e-3 * through);
  query.waypoints = {up, down};
  const Connection both = asked.connect(query);
  expect_joins(both.path, query, grid);
  const double per_mm = straight.least_cost / 24;
  const double up_down = std::hypot(7, 7) + std::hypot(9, 14) + std::hypot(7, 7);
  EXPECT_NEAR(both.least_cost, up_down * per_mm, 0.03 * up_down * per_mm);
  EXPECT_NEAR(both.path.length, up_down, 0.03 * up_down);
  query.waypoints = {down, up};
  const double down_up = std::hypot(17, 7) + std::hypot(9, 14) + std::hypot(16, 7);
  EXPECT_NEAR(asked.connect(query).least_cost, down_up * per_mm, 0.03 * down_up * per_mm);
  // The cost at a waypoint's voxel is that of the best path, for it passes there.
  EXPECT_NEAR(both.cost[down.voxels[0].index()], both.least_cost, 0.02 * both.least_cost);
}

TEST(Connect, ExcludedVoxelsArePassedBy) {
  const TensorSample sample(straight_grid(21, 21, 1), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  Asked asked(sample);
  const ImageGrid& grid = sample.grid;
  const ConnectQuery query = between(voxel_region({grid.voxel(2, 10, 0)}), voxel_region({grid.voxel(18, 10, 0)}));
  Region wall{"wall", {}};
  for (std::uint32_t j = 3; j < 21; ++j) wall.voxels.push_back(grid.voxel(10, j, 0));
  const double straight = asked.connect(query).least_cost;
  asked.mask = path_mask(asked.metric.usable, std::vector{wall}, {}, query.from, query.to);
  const Connection around = asked.connect(query);
  EXPECT_NEAR(around.least_cost / straight, 2 * std::hypot(8, 8) / 16, 0.08);
  for (const Vec3d& p : around.path.points) EXPECT_NE(asked.mask[grid.voxel_at(p)->index()], 0);
  for (const VertexId v : wall.voxels) EXPECT_TRUE(std::isinf(around.cost[v.index()]));
}

TEST(Connect, StopVoxelsMayBeEnteredNotLeft) {
  const std::vector<std::uint8_t> usable{1, 1, 1, 1, 1, 1, 1, 1, 0};
  const Region from{"a", {VertexId(0)}}, to{"b", {VertexId(6), VertexId(7), VertexId(8)}};
  const Region stop{"stop", {VertexId(4), VertexId(6), VertexId(8)}}, excluded{"x", {VertexId(1), VertexId(7)}};
  EXPECT_EQ(path_mask(usable, {}, std::vector{stop}, from, to), (std::vector<std::uint8_t>{1, 1, 1, 1, 0, 1, 1, 1, 0}));
  EXPECT_EQ(path_mask(usable, std::vector{excluded}, std::vector{stop}, from, to),
            (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 1, 1, 0, 0}));
}

TEST(Connect, NoPathSaysHowLargeThePartsAre) {
  TensorSample sample(straight_grid(9, 3, 3), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  for (std::uint32_t j = 0; j < 3; ++j)
    for (std::uint32_t k = 0; k < 3; ++k) sample.mask[sample.grid.voxel(3, j, k).index()] = 0;
  const Asked asked(sample);
  ConnectQuery query =
      between(voxel_region({sample.grid.voxel(1, 1, 1)}, "left"), voxel_region({sample.grid.voxel(7, 1, 1)}, "right"));
  EXPECT_THAT([&] { (void)asked.connect(query); },
              ThrowsMessage<NoAnswerError>(AllOf(HasSubstr("'left' and 'right'"), HasSubstr("27 and 45 voxels"))));
  query.to = voxel_region({sample.grid.voxel(0, 1, 1)}, "near");
  query.waypoints = {voxel_region({sample.grid.voxel(7, 1, 1)}, "beyond")};
  EXPECT_THROW((void)asked.connect(query), NoAnswerError);
}

TEST(Connect, RefusesOverlapAndEpsilon) {
  const TensorSample sample(straight_grid(5, 3, 3), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  const Asked asked(sample);
  const Region a = voxel_region({VertexId(0), VertexId(1)}), b = voxel_region({VertexId(1), VertexId(2)});
  EXPECT_THROW((void)asked.connect(between(a, b)), InputError);
  EXPECT_THROW((void)asked.connect(between(a, voxel_region({VertexId(4)}), -0.1)), UsageError);
}

TEST(Connect, APathwayFinerThanTheGridIsWidenedUntilItJoins) {
  const TensorSample sample(straight_grid(21, 21, 1), [](const Vec3d&) { return SymTensor3d::identity(1e-3); });
  const Asked asked(sample);
  const VertexId a = sample.grid.voxel(2, 3, 0), b = sample.grid.voxel(18, 12, 0);
  const Connection found = asked.connect(between(voxel_region({a}), voxel_region({b}), 0));
  ASSERT_FALSE(found.notes.empty());
  EXPECT_THAT(found.notes.front(), HasSubstr("widened"));
  EXPECT_GT(found.pathway_epsilon, 0);
  EXPECT_LT(found.pathway_epsilon, 0.05);
  EXPECT_EQ(found.pathway[a.index()], 1);
  EXPECT_EQ(found.pathway[b.index()], 1);
  EXPECT_GE(found.pathway_voxels, 17u);
  EXPECT_LT(found.pathway_voxels, 80u);
}

}  // namespace TEST_FILE
}  // namespace isochron::test
