// Particles on the GPU. Skipped where there is none.
#include <gtest/gtest.h>

#include <cmath>

#include "isochron/error.h"
#include "isochron/surface/particles/relax.h"
#include "particle_shapes.h"
#include "support/device_case.h"

namespace isochron {
namespace TEST_FILE {

using particle_test::examine_stars;
using particle_test::Shape;
using particle_test::Stars;

class DeviceRelax : public test::DeviceCase {};
class DeviceSmallRelax : public test::DeviceCase {};

Particles relaxed(const Shape& shape, BinKind bins, ParticleOptions options = {}) {
  options.backend = Backend::cuda;
  options.bins = bins;
  return relax(shape.distance, shape.sizes, shape.seeds, options);
}

void expect_good(const Shape& shape, const Particles& particles) {
  EXPECT_TRUE(particles.converged);
  EXPECT_NEAR(static_cast<double>(particles.positions.size()) / shape.expected, 1, 0.05);
  for (const Vec3d p : particles.positions) EXPECT_NEAR(shape.distance.view().value(p), 0, 1e-6);
  EXPECT_NEAR(particles.iterations.back().energy / ideal_energy, 1, 0.1);
  const Stars stars = examine_stars(particles);
  EXPECT_GT(stars.mean_ratio, 0.955);
  EXPECT_GT(stars.min_ratio, 0.5);
  EXPECT_GT(stars.six, 0.7);
}

TEST_F(DeviceRelax, BallsAndRingsWithBothKindsOfBins) {
  for (const BinKind bins : {BinKind::uniform, BinKind::adaptive}) {
    for (const Shape& shape :
         {particle_test::make_ball(1.2), particle_test::make_ball(1.2, 0.6), particle_test::make_ring(1.2, 0.4)}) {
      expect_good(shape, relaxed(shape, bins));
    }
  }
}

TEST_F(DeviceRelax, AgreesWithTheHost) {
  const Shape shape = particle_test::make_ring(1.2, 0.4);
  const Particles host = relax(shape.distance, shape.sizes, shape.seeds), device = relaxed(shape, BinKind::adaptive);
  EXPECT_NEAR(static_cast<double>(device.positions.size()) / static_cast<double>(host.positions.size()), 1, 0.02);
  EXPECT_NEAR(device.iterations.back().energy / host.iterations.back().energy, 1, 0.08);
  EXPECT_NEAR(device.iterations.front().energy / host.iterations.front().energy, 1, 0.1);
}

TEST_F(DeviceRelax, NothingIsAddedWithoutInsertion) {
  Shape shape = particle_test::make_ball(0.6);
  shape.seeds = particle_test::make_ball(1.2).seeds;
  ParticleOptions options;
  options.density = DensityControl::delete_only;
  const Particles particles = relaxed(shape, BinKind::adaptive, options);
  EXPECT_LE(particles.positions.size(), shape.seeds.size());
  for (const RelaxIteration& iteration : particles.iterations) EXPECT_EQ(iteration.added, 0U);
}

TEST_F(DeviceSmallRelax, AFewParticlesAndOne) {
  for (const BinKind bins : {BinKind::uniform, BinKind::adaptive}) {
    Shape shape = particle_test::make_ball(4);
    ParticleOptions options;
    options.iterations = 8;
    EXPECT_GT(relaxed(shape, bins, options).positions.size(), 100U);
    shape.seeds.resize(1);
    EXPECT_GT(relaxed(shape, bins, options).positions.size(), 1U);
  }
}

TEST_F(DeviceSmallRelax, RefusesWhatCannotBe) {
  Shape shape = particle_test::make_ball(4);
  const std::vector<Vec3d> seeds = shape.seeds;
  shape.seeds.clear();
  EXPECT_THROW(relaxed(shape, BinKind::adaptive), InputError);
  shape.seeds = seeds;
  for (const float size : {0.0F, -1.0F, std::nanf("")}) {
    shape.sizes.values.assign(shape.sizes.values.size(), size);
    EXPECT_THROW(relaxed(shape, BinKind::adaptive), InputError);
  }
}

}  // namespace TEST_FILE
}  // namespace isochron
