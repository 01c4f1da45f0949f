#include "isochron/diffusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/types.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

using test::RandomFrame;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// White matter in a random direction, in mm²/s.
SymTensor3d white_matter(Random& random) {
  const RandomFrame frame(random);
  return tensor_of_eigen(Vec3d{1.7e-3, 4e-4, 2e-4}, frame.axis);
}

std::vector<SymTensor3d> some_tensors(std::size_t count) {
  Random random(21);
  std::vector<SymTensor3d> result(count);
  for (SymTensor3d& t : result) t = white_matter(random);
  return result;
}

/// M to single precision: relative to its largest component.
void expect_metric(const Metric& metric, std::size_t voxel, const SymTensor3d& expected, double tolerance = 2e-7) {
  const SymTensor3d m = metric.tensor(ElementId(voxel));
  EXPECT_LT(largest_component(m - expected), tolerance * largest_component(expected));
}

TEST(Diffusion, AnisotropyOfKnownTensors) {
  EXPECT_EQ(fractional_anisotropy(SymTensor3d{}), 0);
  EXPECT_NEAR(fractional_anisotropy(SymTensor3d::identity(1e-3)), 0, 1e-15);
  EXPECT_NEAR(fractional_anisotropy(SymTensor3d::diagonal(0, 2e-9, 0)), 1, 1e-15);
  EXPECT_NEAR(fractional_anisotropy(SymTensor3d::diagonal(1, 1, 0)), std::sqrt(0.5), 1e-15);
  EXPECT_GT(fractional_anisotropy(SymTensor3d::diagonal(1, -0.2, -0.1)), 1);
  Random random(22);
  // From the eigenvalues' differences, another way to write it.
  const double a = 1.7, b = 0.4, c = 0.2;
  const double squares = (a - b) * (a - b) + (b - c) * (b - c) + (c - a) * (c - a);
  EXPECT_NEAR(fractional_anisotropy(white_matter(random)), std::sqrt(0.5 * squares / (a * a + b * b + c * c)), 1e-14);
  EXPECT_NEAR(mean_diffusivity(white_matter(random)), 2.3e-3 / 3, 1e-17);
}

TEST(Diffusion, PrincipalDirectionIsThatOfTheLargestEigenvalue) {
  Random random(23);
  for (int trial = 0; trial < 100; ++trial) {
    const RandomFrame frame(random);
    const SymTensor3d t = tensor_of_eigen(Vec3d{0.3, 2, 1}, frame.axis);
    EXPECT_NEAR(std::abs(dot(principal_direction(t), frame.axis[1])), 1, 1e-14);
  }
}

TEST(Diffusion, SharpenedMetricIsTheFormula) {
  Random random(24);
  std::vector<SymTensor3d> tensors;
  std::vector<RandomFrame> frames;
  for (int i = 0; i < 40; ++i) {
    frames.emplace_back(random);
    tensors.push_back(tensor_of_eigen(Vec3d{1.7e-3, 4e-4, 2e-4}, frames.back().axis));
  }
  for (const double alpha : {0.0, 1.0, 2.0, 3.0}) {
    const auto result = diffusion_metric(tensors, {}, {.alpha = alpha});
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const double det = determinant(tensors[i]);
      SymTensor3d expected;
      for (int k = 0; k < 3; ++k) {
        const double lambda = squared_length(tensors[i], frames[i].axis[k]);
        const double mu = std::pow(det, -1.0 / 3) * std::pow(lambda / std::pow(det, 1.0 / 3), -alpha);
        expected = expected + SymTensor3d::outer(frames[i].axis[k], mu);
      }
      expect_metric(result.metric, i, expected);
      EXPECT_EQ(result.usable[i], 1);
    }
    EXPECT_EQ(result.counts.floored, 0U);
  }
}

TEST(Diffusion, SharpenedWithoutContrastAndWithPlainContrast) {
  const auto tensors = some_tensors(20);
  const auto flat = diffusion_metric(tensors, {}, {.alpha = 0});
  const auto plain = diffusion_metric(tensors, {}, {.alpha = 1});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    expect_metric(flat.metric, i, SymTensor3d::identity(1 / std::cbrt(1.7e-3 * 4e-4 * 2e-4)));
    expect_metric(plain.metric, i, inverse(tensors[i]));
  }
}

TEST(Diffusion, SharpenedVolumeDoesNotDependOnAlpha) {
  const auto tensors = some_tensors(20);
  const auto result = diffusion_metric(tensors, {}, {.alpha = 3});
  for (std::size_t i = 0; i < tensors.size(); ++i)
    EXPECT_NEAR(determinant(result.metric.tensor(ElementId(i))) * determinant(tensors[i]), 1, 1e-4);
}

TEST(Diffusion, InverseAndAdjugate) {
  const auto tensors = some_tensors(20);
  const auto inverted = diffusion_metric(tensors, {}, {.kind = DiffusionMetricKind::inverse});
  const auto adjugate = diffusion_metric(tensors, {}, {.kind = DiffusionMetricKind::adjugate});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    expect_metric(inverted.metric, i, inverse(tensors[i]));
    expect_metric(adjugate.metric, i, determinant(tensors[i]) * inverse(tensors[i]));
  }
}

TEST(Diffusion, TakesAFormulaOfItsOwn) {
  const auto tensors = some_tensors(5);
  DiffusionMetricOptions options;
  options.own = [](const Vec3d& t) { return Vec3d{1 / (t.x * t.x), 1 / (t.y * t.y), 1 / (t.z * t.z)}; };
  const auto result = diffusion_metric(tensors, {}, options);
  const SymTensor3d m = inverse(tensors[2]);
  const Vec3d v{0.3, -0.5, 0.8};
  EXPECT_NEAR(squared_length(result.metric.tensor(ElementId(2)), v) / dot(m * v, m * v), 1, 1e-5);
}

TEST(Diffusion, CountsAndRepairsBadTensors) {
  auto tensors = some_tensors(11);
  tensors[1] = {};                                          // background
  tensors[2].xy = nan;                                      // broken
  tensors[3].zz = std::numeric_limits<double>::infinity();  // broken
  tensors[4] = SymTensor3d::diagonal(1e-3, 5e-4, -1e-4);    // not positive definite, anisotropy below 1
  tensors[5] = SymTensor3d::diagonal(1e-3, -4e-4, -4e-4);   // above 1
  tensors[6] = SymTensor3d::diagonal(-1e-3, -1e-3, -1e-3);  // negative definite
  tensors[7] = SymTensor3d::diagonal(8e-4, 8e-4, 1e-6);     // positive, but below the floor
  std::vector<std::uint8_t> mask(11, 1);
  mask[10] = 0;
  tensors[10].xx = nan;  // not looked at
  const auto result = diffusion_metric(tensors, mask, {.kind = DiffusionMetricKind::inverse});
  EXPECT_EQ(result.counts.voxels, 10U);
  EXPECT_EQ(result.counts.empty, 1U);
  EXPECT_EQ(result.counts.not_finite, 2U);
  EXPECT_EQ(result.counts.usable, 7U);
  EXPECT_EQ(result.counts.not_positive_definite, 3U);
  EXPECT_EQ(result.counts.fa_above_one, 1U);
  EXPECT_EQ(result.counts.floored, 4U);
  const std::vector<std::uint8_t> usable{1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0};
  EXPECT_EQ(result.usable, usable);
  EXPECT_NEAR(result.median_diffusivity, 2.3e-3 / 3, 1e-16);
  EXPECT_DOUBLE_EQ(result.smallest_eigenvalue, 0.01 * result.median_diffusivity);
  const double low = result.smallest_eigenvalue;
  expect_metric(result.metric, 4, SymTensor3d::diagonal(1e3, 2e3, 1 / low));
  expect_metric(result.metric, 5, SymTensor3d::diagonal(1e3, 1 / low, 1 / low));
  expect_metric(result.metric, 6, SymTensor3d::identity(1 / low));
  expect_metric(result.metric, 7, SymTensor3d::diagonal(1.25e3, 1.25e3, 1 / low));
  EXPECT_NO_THROW(check_metric(result.metric, 11, "metric"));  // left-out voxels hold something harmless
}

TEST(Diffusion, GoodTensorsCanStayAsTheyAre) {
  auto tensors = some_tensors(8);
  tensors[0] = SymTensor3d::diagonal(1e-3, 1e-3, 1e-9);    // positive definite, and far below the floor
  tensors[1] = SymTensor3d::diagonal(1e-3, 1e-3, -1e-3);   // not
  tensors[2] = SymTensor3d::diagonal(1e-3, 1e-3, 1e-300);  // not as it is stored
  for (const auto kind : {DiffusionMetricKind::inverse, DiffusionMetricKind::identity}) {
    const auto result = diffusion_metric(tensors, {}, {.kind = kind, .raised = RaisedTensors::unusable});
    const auto wanted = [&](const SymTensor3d& t) { return kind == DiffusionMetricKind::inverse ? inverse(t) : t; };
    EXPECT_EQ(result.counts.not_positive_definite, 2U);
    EXPECT_EQ(result.counts.floored, 2U);
    for (const std::size_t i : {0U, 3U, 4U, 5U, 6U, 7U})
      EXPECT_EQ(result.metric.tensor(ElementId(i)), widened(narrowed(wanted(tensors[i]))));
    const double low = result.smallest_eigenvalue;
    for (const std::size_t i : {1U, 2U})
      expect_metric(result.metric, i, wanted(SymTensor3d::diagonal(1e-3, 1e-3, low)));
  }
}

TEST(Diffusion, MetricRatioIsCapped) {
  std::vector<SymTensor3d> tensors(3, SymTensor3d::diagonal(1e-3, 1e-3, 1e-3));
  tensors[1] = SymTensor3d::diagonal(2e-3, 4e-5, 4e-5);  // 50:1, cubed 1.25e5:1
  const auto result = diffusion_metric(tensors);
  const SymTensor3d m = result.metric.tensor(ElementId(1));
  EXPECT_NEAR(m.yy / m.xx, 1e4, 10);
  EXPECT_NEAR(m.zz / m.xx, 1e4, 10);
  EXPECT_EQ(result.counts.floored, 1U);
  EXPECT_EQ(diffusion_metric(tensors, {}, {.largest_ratio = 1e6}).counts.floored, 0U);
  // The strongest contrast that is let through is still a tensor in single precision, in any direction.
  Random random(25);
  for (SymTensor3d& t : tensors) {
    const RandomFrame frame(random);
    t = tensor_of_eigen(Vec3d{2e-3, 2e-3, 1e-5}, frame.axis);
  }
  EXPECT_NO_THROW(check_metric(diffusion_metric(tensors).metric, 3, "metric"));
}

TEST(Diffusion, UnitsDoNotMatter) {
  auto tensors = some_tensors(30);
  tensors[3] = SymTensor3d::diagonal(1e-3, 1e-9, -1e-5);
  auto in_square_metres = tensors;
  for (SymTensor3d& t : in_square_metres) t = 1e-6 * t;
  const auto a = diffusion_metric(tensors), b = diffusion_metric(in_square_metres);
  EXPECT_EQ(a.counts.floored, b.counts.floored);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    expect_metric(b.metric, i, 1e6 * a.metric.tensor(ElementId(i)), 1e-5);
}

TEST(Diffusion, ThreadsGiveTheSame) {
  auto tensors = some_tensors(20000);
  for (std::size_t i = 0; i < tensors.size(); i += 7) tensors[i].xx = -tensors[i].xx;
  const auto one = diffusion_metric(tensors), four = diffusion_metric(tensors, {}, {.threads = 4});
  EXPECT_EQ(std::get<TensorMetric>(one.metric.kind()).tensor, std::get<TensorMetric>(four.metric.kind()).tensor);
  EXPECT_EQ(one.counts.floored, four.counts.floored);
  EXPECT_EQ(one.counts.not_positive_definite, four.counts.not_positive_definite);
  EXPECT_EQ(one.usable, four.usable);
}

TEST(Diffusion, RefusesWhatMakesNoSense) {
  const auto tensors = some_tensors(4);
  const std::vector<std::uint8_t> short_mask(3, 1), empty_mask(4, 0);
  EXPECT_THROW((void)diffusion_metric(tensors, short_mask), InputError);
  EXPECT_THROW((void)diffusion_metric(tensors, empty_mask), InputError);
  EXPECT_THROW((void)diffusion_metric(tensors, {}, {.alpha = -1}), UsageError);
  EXPECT_THROW((void)diffusion_metric(tensors, {}, {.floor = 0}), UsageError);
  EXPECT_THROW((void)diffusion_metric(tensors, {}, {.largest_ratio = 0.5}), UsageError);
  const std::vector<SymTensor3d> negative(4, SymTensor3d::identity(-1));
  EXPECT_THROW((void)diffusion_metric(negative), InputError);
}

TEST(WorldTensors, ReadsOrdersAndFrames) {
  ImageGrid grid;
  grid.shape = {2, 1, 1};
  grid.axes = {Vec3d{0, 2, 0}, Vec3d{-2, 0, 0}, Vec3d{0, 0, 2}};  // x of a voxel is the world's y, right-handed
  const DataArray mrtrix{"t", 6, std::vector<float>{1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 0, 0}};
  const auto world = world_tensors(mrtrix, TensorOrder::mrtrix, grid, TensorFrame::world, "t");
  EXPECT_EQ(world[0], (SymTensor3d{1, 4, 5, 2, 6, 3}));
  const auto voxel = world_tensors(mrtrix, TensorOrder::mrtrix, grid, TensorFrame::voxel, "t");
  EXPECT_EQ(voxel[1], (SymTensor3d{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(voxel[0], (SymTensor3d{2, -4, -6, 1, 5, 3}));
  const auto fsl = world_tensors(mrtrix, TensorOrder::mrtrix, grid, TensorFrame::fsl, "t");
  EXPECT_EQ(fsl[0], (SymTensor3d{2, 4, -6, 1, -5, 3}));
  const DataArray full{"t", 9, std::vector<double>{1, 4, 5, 4, 2, 6, 5, 6, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  EXPECT_EQ(world_tensors(full, TensorOrder::vtk, grid, TensorFrame::world, "t")[0], world[0]);
  const DataArray scalar{"t", 1, std::vector<float>{1, 2}}, longer{"t", 6, std::vector<float>(18)};
  EXPECT_THROW((void)world_tensors(scalar, TensorOrder::vtk, grid, TensorFrame::world, "t"), InputError);
  EXPECT_THROW((void)world_tensors(longer, TensorOrder::vtk, grid, TensorFrame::world, "t"), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
