#include "isochron/invert.h"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/generate.h"
#include "isochron/invert/model.h"
#include "isochron/invert/roughness.h"
#include "isochron/invert/shots.h"
#include "isochron/solver.h"

namespace isochron {
namespace TEST_FILE {

SolveOptions exact_options() {
  SolveOptions options;
  options.tolerance = 1e-12;
  options.precision = Precision::double_;
  options.threads = 2;
  return options;
}

/// Fills in the times that these sources give on the true domain, as an inversion computes them.
void measure(const Domain& domain, Measurements& measured, SourceInit init = SourceInit::plain) {
  InversionOptions options;
  options.unknowns = {Unknown::onsets};
  options.source_init = init;
  options.solve = exact_options();
  options.receiver_tolerance = 1e-3;
  const InversionModel model(domain, measured, options);
  ShotSystem shots(domain, measured, model, options);
  const ShotTimes times = shots.solve(model.start());
  for (std::size_t k = 0; k < measured.shots.size(); ++k)
    for (std::size_t i = 0; i < measured.shots[k].picks.size(); ++i)
      measured.shots[k].picks[i].time = times.picks[k][i];
}

Shot shot_from(const Sources& sources, std::size_t receivers) {
  Shot shot{sources, {}};
  for (std::uint32_t r = 0; r < receivers; ++r) shot.picks.push_back({r, 0, 1});
  return shot;
}

Sources from_point(const Vec3d& at, double time = 0) {
  Sources sources;
  sources.points.push_back({at, time});
  return sources;
}

InversionOptions options_for(std::vector<Unknown> unknowns) {
  InversionOptions options;
  options.unknowns = std::move(unknowns);
  options.solve = exact_options();
  options.receiver_tolerance = 1e-3;
  return options;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ma += a[i], mb += b[i];
  ma /= static_cast<double>(a.size()), mb /= static_cast<double>(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - ma) * (a[i] - ma), bb += (b[i] - mb) * (b[i] - mb), ab += (a[i] - ma) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

/// Sources on the left of a flat image, receivers on the three other sides.
Measurements cross_hole(std::uint32_t n, std::size_t shots) {
  Measurements measured;
  const double last = n - 1.0;
  for (std::uint32_t i = 0; i < n; i += 2) {
    measured.receivers.push_back({last, static_cast<double>(i), 0});
    measured.receivers.push_back({static_cast<double>(i), 0, 0});
    measured.receivers.push_back({static_cast<double>(i), last, 0});
  }
  for (std::size_t k = 0; k < shots; ++k) {
    const double y = last * (static_cast<double>(k) + 0.37) / static_cast<double>(shots);
    measured.shots.push_back(shot_from(from_point({0.2, y, 0}), measured.receivers.size()));
  }
  return measured;
}

std::vector<double> checkers(const ImageGrid& grid, std::uint32_t size) {
  std::vector<double> speed(grid.voxel_count());
  for (std::size_t v = 0; v < speed.size(); ++v) {
    const auto at = grid.index(VertexId(v));
    speed[v] = 2 * ((at[0] / size + at[1] / size + at[2] / size) % 2 == 0 ? 1.1 : 0.9);
  }
  return speed;
}

/// A small checkerboard, one speed to start from, and the times of some shots.
struct SmallCheckerboard {
  ImageGrid grid;
  Metric start;
  Measurements measured;
};
SmallCheckerboard small_checkerboard(std::size_t shots) {
  const ImageGrid grid = image_grid({{16, 16, 1}, 1.0});
  const Metric truth(SpeedMetric{checkers(grid, 8)});
  Measurements measured = cross_hole(16, shots);
  measure(Domain(grid, truth), measured);
  return {grid, Metric(SpeedMetric{std::vector<double>(grid.voxel_count(), 2.0)}), std::move(measured)};
}

TEST(Invert, ACheckerboardFromTimesAroundIt) {
  const ImageGrid grid = image_grid({{32, 32, 1}, 1.0});
  const std::vector<double> truth = checkers(grid, 8);
  const Metric true_metric(SpeedMetric{truth});
  Measurements measured = cross_hole(32, 10);
  measure(Domain(grid, true_metric), measured);
  const Metric start(SpeedMetric{std::vector<double>(truth.size(), 2.0)});
  InversionOptions options = options_for({Unknown::speed});
  options.smoothing_kind = Smoothing::total_variation;
  const Inversion found = invert(Domain(grid, start), measured, options);
  ASSERT_GE(found.steps.size(), 2U);
  EXPECT_LT(found.steps.back().misfit, 0.05 * found.steps.front().misfit);
  const auto& speed = std::get<SpeedMetric>(found.metric.kind()).speed;
  EXPECT_GT(correlation({speed.begin(), speed.end()}, truth), 0.9);
  for (std::size_t i = 1; i < found.steps.size(); ++i)
    EXPECT_LT(found.steps[i].objective, found.steps[i - 1].objective);
}

TEST(Invert, ThePlaceAndOnsetOfASourceInACube) {
  const TetMesh cube = generate_cube({.nx = 10, .ny = 10, .nz = 10, .jitter = 0.2});
  const Metric metric = Metric::isotropic(2);
  Measurements measured;
  Random random(4);
  for (int r = 0; r < 12; ++r)
    measured.receivers.push_back({random.uniform(0.05, 0.95), random.uniform(0.05, 0.95), r % 2 == 0 ? 0.02 : 0.97});
  const Vec3d place{0.43, 0.61, 0.52};
  measured.shots = {shot_from(from_point(place, 0.3), 12)};
  measure(Domain(cube, metric), measured, SourceInit::ball);
  measured.shots[0].sources = from_point({0.7, 0.3, 0.3}, 0);
  InversionOptions options = options_for({Unknown::source_positions, Unknown::onsets});
  options.noise = 1e-6;
  const Inversion found = invert(Domain(cube, metric), measured, options);
  EXPECT_LT(norm(found.sources[0].points[0].position - place), 1e-3);
  EXPECT_NEAR(found.sources[0].points[0].time, 0.3, 1e-3);
}

TEST(Invert, VelocitiesOfRegionsAlongAndAcrossFibres) {
  const TetMesh cube = generate_cube({.nx = 9, .ny = 9, .nz = 9, .jitter = 0.2});
  FiberMetric fibers{rotating_fibers(cube, 0.25, 2), {}, {}, {{0.6, 0.3, 0.3}, {1.2, 0.5, 0.5}}};
  std::vector<std::uint16_t> region(cube.element_count());
  for (std::size_t e = 0; e < region.size(); ++e) region[e] = cube.point(cube.elements[e][0]).x > 0.5 ? 1 : 0;
  fibers.region = region;
  const Metric truth(fibers);
  Measurements measured;
  for (int r = 0; r < 20; ++r)
    measured.receivers.push_back({0.05 * r + 0.01, std::fmod(0.37 * r, 1.0), std::fmod(0.61 * r, 1.0)});
  measured.shots = {shot_from(from_point({0.11, 0.13, 0.17}), 20), shot_from(from_point({0.91, 0.13, 0.87}), 20)};
  measure(Domain(cube, truth), measured);
  fibers.velocities = {{0.75, 0.25, 0.25}, {0.9, 0.65, 0.65}};
  const Metric start(fibers);
  const Inversion found = invert(Domain(cube, start), measured, options_for({Unknown::region_velocities}));
  const auto& velocities = std::get<FiberMetric>(found.metric.kind()).velocities;
  EXPECT_NEAR(velocities[0].fiber, 0.6, 1e-3);
  EXPECT_NEAR(velocities[0].sheet, 0.3, 1e-3);
  EXPECT_NEAR(velocities[1].fiber, 1.2, 2e-3);
  EXPECT_NEAR(velocities[1].sheet, 0.5, 1e-3);
}

TEST(Invert, AFactorOfTensorsOnASurface) {
  const TriangleMesh square = generate_square({.n = 20, .jitter = 0.2});
  std::vector<SymTensor3f> tensors(square.element_count(), SymTensor3f::diagonal(1, 4, 1));
  const Metric start(TensorMetric{tensors});
  std::vector<double> factor(tensors.size());
  for (std::size_t e = 0; e < tensors.size(); ++e) {
    factor[e] = square.point(square.elements[e][0]).x < 0.5 ? 0.9 : 1.15;
    tensors[e] = static_cast<float>(1 / (factor[e] * factor[e])) * tensors[e];
  }
  const Metric truth(TensorMetric{tensors});
  Measurements measured;
  for (int r = 0; r <= 20; ++r) {
    const double t = 0.01 + 0.049 * r;
    measured.receivers.insert(measured.receivers.end(), {{0.99, t, 0}, {t, 0.01, 0}, {t, 0.99, 0}});
  }
  for (const double y : {0.12, 0.33, 0.52, 0.71, 0.93})
    measured.shots.push_back(shot_from(from_point({0.013, y, 0}), measured.receivers.size()));
  measure(Domain(square, truth), measured);
  InversionOptions options = options_for({Unknown::tensor_scale});
  options.smoothing_kind = Smoothing::curvature;
  const Inversion found = invert(Domain(square, start), measured, options);
  EXPECT_LT(found.steps.back().misfit, 0.05 * found.steps.front().misfit);
  EXPECT_GT(correlation(found.scale, factor), 0.85);
}

TEST(Invert, KeepsToItsBoundsAndStopsAtTheNoise) {
  const auto [grid, start, measured] = small_checkerboard(4);
  InversionOptions options = options_for({Unknown::speed});
  options.min_velocity = 1.95;
  options.max_velocity = 2.1;
  const Inversion bounded = invert(Domain(grid, start), measured, options);
  double least = 9, largest = 0;
  for (const double s : std::get<SpeedMetric>(bounded.metric.kind()).speed)
    least = std::min(least, s), largest = std::max(largest, s);
  EXPECT_NEAR(least, 1.95, 1e-9);
  EXPECT_NEAR(largest, 2.1, 1e-9);
  options = options_for({Unknown::speed});
  options.noise = 0.1;
  const Inversion noisy = invert(Domain(grid, start), measured, options);
  EXPECT_EQ(noisy.end, InversionEnd::noise_level);
  EXPECT_LE(noisy.steps.back().misfit, 0.1);
  EXPECT_GT(noisy.steps[noisy.steps.size() - 2].misfit, 0.1);
  options.noise = 0;
  options.max_iterations = 1;
  EXPECT_EQ(invert(Domain(grid, start), measured, options).end, InversionEnd::max_iterations);
}

TEST(Invert, GoesOnFromAState) {
  const auto [grid, start, measured] = small_checkerboard(4);
  InversionOptions options = options_for({Unknown::speed});
  InversionState last;
  options.on_step = [&](const InversionStep&, const InversionState& state) { last = state; };
  options.max_iterations = 2;
  const Inversion first = invert(Domain(grid, start), measured, options);
  options.start = last;
  const Inversion second = invert(Domain(grid, start), measured, options);
  EXPECT_NEAR(second.steps.front().objective, first.steps.back().objective, 1e-9 * first.steps.front().objective);
  EXPECT_LT(second.steps.back().objective, first.steps.back().objective);
}

TEST(Invert, DerivativesThatAreNotKeptAreComputedAgain) {
  const auto [grid, start, measured] = small_checkerboard(5);
  InversionOptions options = options_for({Unknown::speed, Unknown::onsets});
  options.max_iterations = 2;
  const Inversion kept = invert(Domain(grid, start), measured, options);
  options.max_bytes = 0;
  const Inversion again = invert(Domain(grid, start), measured, options);
  ASSERT_EQ(kept.steps.size(), again.steps.size());
  EXPECT_NEAR(kept.steps.back().objective, again.steps.back().objective, 1e-9 * kept.steps.front().objective);
}

TEST(Invert, ProductsAreThoseOfDifferences) {
  const TetMesh cube = generate_cube({.nx = 7, .ny = 7, .nz = 7, .jitter = 0.2});
  const Metric metric(SpeedMetric{random_speed(cube, {1, 1.2}, {})});
  Measurements measured;
  measured.receivers = {{0.9, 0.8, 0.7}, {0.1, 0.9, 0.8}, {0.5, 0.9, 0.1}};
  measured.shots = {shot_from(from_point({0.23, 0.31, 0.42}), 3), shot_from(from_point({0.63, 0.57, 0.71}), 3)};
  const InversionOptions options = options_for({Unknown::speed, Unknown::onsets, Unknown::source_positions});
  const Domain domain(cube, metric);
  const InversionModel model(domain, measured, options);
  ASSERT_EQ(model.size(), cube.element_count() + 8);
  ShotSystem shots(domain, measured, model, options);
  Random random(2);
  std::vector<double> change(model.size()), after = model.start(), before = model.start();
  constexpr double step = 1e-6;
  for (std::size_t i = 0; i < change.size(); ++i) {
    change[i] = random.uniform(-1, 1);
    after[i] += step * change[i];
    before[i] -= step * change[i];
  }
  const ShotTimes later = shots.solve(after), earlier = shots.solve(before);
  shots.linearize(shots.solve(model.start()));
  double squares = 0;  // of the derivatives of the picks
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < 3; ++i) {
      const double derivative = (later.picks[k][i] - earlier.picks[k][i]) / (2 * step);
      squares += derivative * derivative;
    }
  const std::vector<double> product = shots.normal_product(change);
  double found = 0;
  for (std::size_t i = 0; i < change.size(); ++i) found += change[i] * product[i];
  EXPECT_NEAR(found, squares, 1e-5 * squares);
}

TEST(Roughness, ValuesProductsAndDiagonalsAgree) {
  const TetMesh cube = generate_cube({.nx = 4, .ny = 4, .nz = 4, .jitter = 0.2});
  const Metric metric;
  const std::size_t count = cube.element_count();
  for (const Smoothing kind : {Smoothing::gradient, Smoothing::curvature, Smoothing::total_variation}) {
    Roughness roughness(element_graph(cube, metric), kind);
    const std::vector<double> even(count, 3.0);
    EXPECT_NEAR(roughness.value(even), 0, 1e-12);
    Random random(5);
    std::vector<double> p(count), direction(count);
    for (std::size_t e = 0; e < count; ++e) p[e] = random.uniform(-0.1, 0.1), direction[e] = random.uniform(-1, 1);
    roughness.take(p);
    std::vector<double> product(count, 0.0), after = p, before = p;
    roughness.add_product(1, p, product);
    constexpr double step = 1e-6;
    double slope = 0;
    for (std::size_t e = 0; e < count; ++e) {
      slope += product[e] * direction[e];
      after[e] += step * direction[e];
      before[e] -= step * direction[e];
    }
    EXPECT_NEAR((roughness.value(after) - roughness.value(before)) / (2 * step), slope, 1e-5 * std::abs(slope));
    const std::vector<double> diagonal = roughness.diagonal();
    for (const std::size_t e : {std::size_t{0}, count / 2, count - 1}) {
      std::vector<double> unit(count, 0.0), column(count, 0.0);
      unit[e] = 1;
      roughness.add_product(1, unit, column);
      EXPECT_NEAR(column[e], diagonal[e], 1e-12 * diagonal[e]);
    }
  }
}

TEST(Invert, AStartThatIsMuchTooFastIsLeft) {
  const auto [grid, start, measured] = small_checkerboard(4);
  const Metric fast(SpeedMetric{std::vector<double>(grid.voxel_count(), 200.0)});
  const Inversion found = invert(Domain(grid, fast), measured, options_for({Unknown::speed}));
  EXPECT_LT(found.steps.back().misfit, 0.02 * found.steps.front().misfit);
}

TEST(Invert, WhatHasNoWeightIsLeftOut) {
  const ImageGrid grid = image_grid({{16, 16, 1}, 1.0});
  std::vector<std::uint8_t> mask(256, 1);
  for (std::size_t v = 0; v < 256; ++v)
    if (v % 16 == 12) mask[v] = 0;  // nothing beyond is reached
  const Metric metric(SpeedMetric{std::vector<double>(256, 2.0)});
  Measurements measured;
  measured.receivers = {{11.3, 6, 0}, {3, 14, 0}, {15, 8, 0}};
  measured.shots = {shot_from(from_point({1.2, 1.3, 0}), 3)};
  measured.shots[0].picks = {{0, 6, 1}, {1, 7, 1}, {2, std::nan(""), 0}};
  const Inversion found = invert(Domain(grid, metric, mask), measured, options_for({Unknown::speed}));
  EXPECT_LT(found.steps.back().misfit, 0.1);
  EXPECT_TRUE(std::isinf(found.times[0][2]));
  const auto& values = std::get<SpeedMetric>(found.metric.kind()).speed;
  for (std::size_t v = 12; v < 256; v += 16) EXPECT_DOUBLE_EQ(values[v], 2);  // masked
}

/// The message of what is thrown.
template <class Thrown>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Invert, RefusesWhatCannotBe) {
  const ImageGrid grid = image_grid({{8, 8, 1}, 1.0});
  const Metric metric(SpeedMetric{std::vector<double>(64, 2.0)});
  Measurements measured;
  measured.receivers = {{6, 6, 0}, {1, 6, 0}};
  measured.shots = {shot_from(from_point({1.2, 1.3, 0}), 2)};
  measure(Domain(grid, metric), measured);
  const auto input = [&](const Measurements& given, const InversionOptions& options) {
    return message_of<InputError>([&] { (void)invert(Domain(grid, metric), given, options); });
  };
  const auto usage = [&](const InversionOptions& options, const Metric& on) {
    return message_of<UsageError>([&] { (void)invert(Domain(grid, on), measured, options); });
  };
  const InversionOptions speed = options_for({Unknown::speed});
  EXPECT_NE(usage(options_for({}), metric).find("nothing is unknown"), std::string::npos);
  EXPECT_NE(usage(options_for({Unknown::speed, Unknown::tensor_scale}), metric).find("together"), std::string::npos);
  EXPECT_NE(usage(options_for({Unknown::region_velocities}), metric).find("velocities of regions"), std::string::npos);
  EXPECT_NE(usage(speed, Metric::constant(SymTensor3d::diagonal(1, 4, 9))).find("not isotropic"), std::string::npos);
  InversionOptions rough = speed;
  rough.smoothing = 0;
  EXPECT_NE(usage(rough, metric).find("64 unknowns cannot be found from 2 measured times without"), std::string::npos)
      << usage(rough, metric);
  EXPECT_NE(usage(options_for({Unknown::source_positions, Unknown::onsets}), metric).find("3 unknowns"),
            std::string::npos);
  InversionOptions narrow = speed;
  narrow.max_velocity = 1.5;
  EXPECT_NE(input(measured, narrow).find("exclude the start (speed 2)"), std::string::npos);
  narrow = speed;
  narrow.min_velocity = 4000;
  EXPECT_NE(input(measured, narrow).find("exclude the start (speed 2)"), std::string::npos);
  InversionOptions other = speed;
  other.on_step = [&](const InversionStep&, const InversionState& state) { narrow.start = state; };
  other.max_iterations = 0;
  Measurements later = measured;
  later.shots[0].picks[0].time += 1;
  (void)invert(Domain(grid, metric), later, other);
  narrow.min_velocity.reset();
  EXPECT_NE(input(measured, narrow).find("another problem"), std::string::npos);
  Measurements far = measured;
  far.receivers[1] = {1, 60, 0};
  EXPECT_NE(input(far, speed).find("receiver 1"), std::string::npos);
  Measurements none = measured;
  none.shots[0].picks.clear();
  EXPECT_NE(input(none, speed).find("no measured times"), std::string::npos);
  Measurements wrong = measured;
  wrong.shots[0].picks[1].time = std::nan("");
  EXPECT_NE(input(wrong, speed).find("shot 0 has the time nan"), std::string::npos);
  const std::vector<std::uint8_t> mask = [] {
    std::vector<std::uint8_t> left(64, 1);
    for (std::size_t v = 0; v < 64; ++v)
      if (v % 8 == 3) left[v] = 0;
    return left;
  }();
  EXPECT_NE(message_of<InputError>([&] {
              (void)invert(Domain(grid, metric, mask), measured, speed);
            }).find("receiver 0 at 6,6,0 is not reached by shot 0"),
            std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace isochron
