#include "isochron/diffusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/types.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

using test::random_unit;
using test::RandomFrame;

/// A gradient table in FSL's frame together with the world directions it stands for.
struct Scheme {
  ImageGrid grid;
  GradientTable table;
  std::vector<Vec3d> world;
};

/// Two volumes without weighting and `directions` with b = 1000, seen by an oblique image of either handedness.
Scheme oblique_scheme(Random& random, double handedness, std::size_t directions = 20) {
  Scheme s;
  const RandomFrame frame(random);
  s.grid.shape = {3, 2, 2};
  s.grid.axes = {handedness * 2.0 * frame.axis[0], 2.0 * frame.axis[1], 3.0 * frame.axis[2]};
  for (std::size_t i = 0; i < directions + 2; ++i) {
    s.table.b.push_back(i < 2 ? 0 : 1000);
    s.world.push_back(i < 2 ? Vec3d{} : random_unit(random));
    // Components along the voxel axes, with FSL's sign.
    Vec3d g{handedness * dot(s.world[i], frame.axis[0]), dot(s.world[i], frame.axis[1]),
            dot(s.world[i], frame.axis[2])};
    if (handedness > 0) g.x = -g.x;
    s.table.direction.push_back(g);
  }
  return s;
}

SymTensor3d random_tensor(Random& random) {
  const RandomFrame frame(random);
  return tensor_of_eigen(Vec3d{1.7e-3, random.uniform(3e-4, 8e-4), 2e-4}, frame.axis);
}

/// Adds the voxel's signals; noise is that of the magnitude of a complex signal.
void add_signals(std::vector<float>& signal, const Scheme& s, const SymTensor3d& t, double s0, double noise,
                 Random& random) {
  for (std::size_t i = 0; i < s.table.b.size(); ++i) {
    const double clean = s0 * std::exp(-s.table.b[i] * squared_length(t, s.world[i]));
    signal.push_back(static_cast<float>(std::hypot(clean + noise * random.normal(), noise * random.normal())));
  }
}

std::vector<double> exact_signals(const Scheme& s, const std::vector<SymTensor3d>& tensors) {
  std::vector<double> signal;
  for (const SymTensor3d& t : tensors)
    for (std::size_t i = 0; i < s.table.b.size(); ++i)
      signal.push_back(850 * std::exp(-s.table.b[i] * squared_length(t, s.world[i])));
  return signal;
}

int volumes_of(const Scheme& s) { return static_cast<int>(s.table.b.size()); }

TEST(TensorFit, NoiselessSignalsGiveTheTensorBack) {
  Random random(31);
  for (const double handedness : {1.0, -1.0})
    for (const auto method : {TensorFitMethod::wls, TensorFitMethod::ols}) {
      const Scheme s = oblique_scheme(random, handedness);
      std::vector<SymTensor3d> truth(12);
      for (SymTensor3d& t : truth) t = random_tensor(random);
      const DataArray signal{"dwi", volumes_of(s), exact_signals(s, truth)};
      const TensorFit fit = fit_tensors(signal, world_gradients(s.table, s.grid), {}, {.method = method});
      for (std::size_t v = 0; v < truth.size(); ++v) {
        EXPECT_LT(largest_component(fit.tensor[v] - truth[v]), 1e-15);
        EXPECT_NEAR(std::abs(dot(principal_direction(fit.tensor[v]), principal_direction(truth[v]))), 1, 1e-12);
      }
      EXPECT_EQ(fit.counts.fitted, 12U);
      EXPECT_EQ(fit.counts.not_positive_definite, 0U);
    }
}

TEST(TensorFit, WeightsHelpAgainstNoise) {
  Random random(32);
  const Scheme s = oblique_scheme(random, 1, 30);
  std::vector<float> signal;
  std::vector<SymTensor3d> truth(2000);
  for (SymTensor3d& t : truth) {
    t = random_tensor(random);
    add_signals(signal, s, t, 1000, 40, random);
  }
  const DataArray image{"dwi", volumes_of(s), signal};
  const auto error = [&](TensorFitMethod method) {
    const TensorFit fit = fit_tensors(image, world_gradients(s.table, s.grid), {}, {.method = method});
    double squares = 0;
    for (std::size_t v = 0; v < truth.size(); ++v) {
      const SymTensor3d d = fit.tensor[v] - truth[v];
      squares += d.xx * d.xx + d.yy * d.yy + d.zz * d.zz + 2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz);
    }
    return std::sqrt(squares / static_cast<double>(truth.size()));
  };
  const double weighted = error(TensorFitMethod::wls), ordinary = error(TensorFitMethod::ols);
  EXPECT_LT(weighted, 0.95 * ordinary);
  EXPECT_LT(weighted, 2e-4);
}

TEST(TensorFit, SignalsThatAreNotPositiveAreLeftOut) {
  Random random(33);
  const Scheme s = oblique_scheme(random, -1);
  std::vector<SymTensor3d> truth(6);
  for (SymTensor3d& t : truth) t = random_tensor(random);
  auto signal = exact_signals(s, truth);
  const auto at = [&](std::size_t voxel, std::size_t volume) -> double& { return signal[voxel * 22 + volume]; };
  at(1, 5) = 0;
  at(1, 7) = -3;
  at(2, 0) = std::numeric_limits<double>::quiet_NaN();
  at(2, 9) = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 22; ++i) at(3, i) = 0;                    // background
  for (std::size_t i = 6; i < 22; ++i) at(4, i) = -1;                   // four directions are left
  for (std::size_t i = 0; i < 22; ++i) at(5, i) = -std::abs(at(5, i));  // background of a filtered image
  const DataArray image{"dwi", 22, signal};
  const TensorFit fit = fit_tensors(image, world_gradients(s.table, s.grid));
  for (const std::size_t v : {0U, 1U, 2U}) EXPECT_LT(largest_component(fit.tensor[v] - truth[v]), 1e-15);
  for (const std::size_t v : {3U, 4U, 5U}) EXPECT_EQ(fit.tensor[v], SymTensor3d{});
  EXPECT_EQ(fit.counts.voxels, 6U);
  EXPECT_EQ(fit.counts.fitted, 3U);
  EXPECT_EQ(fit.counts.missing_signals, 2U);
  EXPECT_EQ(fit.counts.empty, 2U);
  EXPECT_EQ(fit.counts.failed, 1U);
}

TEST(TensorFit, MaskAndThreads) {
  Random random(34);
  const Scheme s = oblique_scheme(random, 1, 12);
  std::vector<std::int32_t> signal;
  for (int v = 0; v < 20000; ++v)
    for (int i = 0; i < 14; ++i) signal.push_back(static_cast<std::int32_t>(random.below(1000)) - 20);
  const DataArray image{"dwi", 14, signal};
  std::vector<std::uint8_t> mask(20000, 0);
  for (std::size_t v = 0; v < mask.size(); v += 3) mask[v] = 1;
  const auto gradients = world_gradients(s.table, s.grid);
  const TensorFit all = fit_tensors(image, gradients, {}, {.threads = 3});
  const TensorFit some = fit_tensors(image, gradients, mask);
  EXPECT_EQ(some.counts.voxels, 6667U);
  EXPECT_EQ(all.counts.voxels, 20000U);
  EXPECT_EQ(all.counts.fitted + all.counts.empty + all.counts.failed, 20000U);
  EXPECT_GT(all.counts.not_positive_definite, 0U);
  for (std::size_t v = 0; v < mask.size(); ++v)
    EXPECT_EQ(some.tensor[v], mask[v] != 0 ? all.tensor[v] : SymTensor3d{}) << v;
}

TEST(TensorFit, LengthsOfDirections) {
  Random random(35);
  Scheme s = oblique_scheme(random, 1);
  const std::vector<SymTensor3d> truth{random_tensor(random)};
  const DataArray image{"dwi", volumes_of(s), exact_signals(s, truth)};
  // Half a per cent is rounding in the file.
  GradientTable rounded = s.table;
  for (Vec3d& g : rounded.direction) g = 1.004 * g;
  const auto kept = world_gradients(rounded, s.grid);
  EXPECT_FALSE(kept.scaled);
  EXPECT_LT(largest_component(fit_tensors(image, kept).tensor[0] - truth[0]), 1e-15);
  // More is a b-value: 1000 = 4000 · 0.5².
  GradientTable carried = s.table;
  for (std::size_t i = 2; i < carried.b.size(); i += 2) {
    carried.b[i] = 4000;
    carried.direction[i] = 0.5 * carried.direction[i];
  }
  const auto scaled = world_gradients(carried, s.grid);
  EXPECT_TRUE(scaled.scaled);
  EXPECT_LT(largest_component(fit_tensors(image, scaled).tensor[0] - truth[0]), 1e-15);
}

TEST(TensorFit, VolumesWithoutADirectionAreLeftOut) {
  Random random(36);
  Scheme s = oblique_scheme(random, 1);
  const std::vector<SymTensor3d> truth{random_tensor(random)};
  auto signal = exact_signals(s, truth);
  s.table.direction[0] = Vec3d{1, 1, 1} * std::numeric_limits<double>::quiet_NaN();  // b = 0: means nothing
  s.table.b.push_back(1000);
  s.table.direction.push_back({});
  signal.push_back(123);  // a mean image
  const auto gradients = world_gradients(s.table, s.grid);
  EXPECT_EQ(gradients.left_out(), 1U);
  const TensorFit fit = fit_tensors(DataArray{"dwi", volumes_of(s), signal}, gradients);
  EXPECT_LT(largest_component(fit.tensor[0] - truth[0]), 1e-15);
}

TEST(TensorFit, RefusesGradientsThatDoNotDetermineATensor) {
  Random random(37);
  const auto fit = [](const Scheme& s) {
    const DataArray image{"dwi", volumes_of(s), std::vector<float>(s.table.b.size(), 1.0F)};
    return fit_tensors(image, world_gradients(s.table, s.grid));
  };
  EXPECT_NO_THROW(fit(oblique_scheme(random, 1, 6)));
  EXPECT_THROW(fit(oblique_scheme(random, 1, 5)), InputError);
  Scheme one_shell = oblique_scheme(random, 1, 20);
  one_shell.table.b[0] = one_shell.table.b[1] = 1000;  // no b = 0 left
  one_shell.table.direction[0] = one_shell.table.direction[1] = {1, 0, 0};
  EXPECT_THROW(fit(one_shell), InputError);
  one_shell.table.b[0] = 300;  // a second shell tells S₀
  EXPECT_NO_THROW(fit(one_shell));
  Scheme flat = oblique_scheme(random, 1, 20);
  for (Vec3d& g : flat.table.direction) g.z = 0;  // all in one plane
  EXPECT_THROW(fit(flat), InputError);
  Scheme unweighted = oblique_scheme(random, 1, 20);
  std::fill(unweighted.table.b.begin(), unweighted.table.b.end(), 0.0);
  EXPECT_THROW(fit(unweighted), InputError);
}

TEST(TensorFit, CountsMustAgree) {
  Random random(38);
  const Scheme s = oblique_scheme(random, 1);
  const auto gradients = world_gradients(s.table, s.grid);
  EXPECT_THROW((void)fit_tensors(DataArray{"dwi", 21, std::vector<float>(42, 1.0F)}, gradients), InputError);
  const std::vector<std::uint8_t> mask(3, 1);
  EXPECT_THROW((void)fit_tensors(DataArray{"dwi", 22, std::vector<float>(44, 1.0F)}, gradients, mask), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
