// Particles on the GPU. Skipped where there is none.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <utility>

#include "isochron/error.h"
#include "isochron/surface/particles/published_step.h"
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

// ---- The scheme of paper 002 as published.

class DevicePublished : public test::DeviceCase {
 protected:
  static ParticleOptions published(Backend backend) {
    ParticleOptions result;
    result.scheme = ParticleScheme::published;
    result.backend = backend;
    return result;
  }
  static Particles relaxed(const Shape& shape, const ParticleOptions& options) {
    return relax(shape.distance, shape.sizes, shape.seeds, options);
  }
  static void expect_on_the_surface(const Shape& shape, const Particles& particles) {
    for (std::size_t i = 0; i < particles.positions.size(); ++i) {
      EXPECT_NEAR(shape.distance.view().value(particles.positions[i]), 0, 1e-6);
      EXPECT_NEAR(particles.sizes[i], shape.sizes.view().size(particles.positions[i]), 1e-12);
    }
  }
  // So many sweeps, however little the energy changes: by chance it may stand still in one of the first few.
  static ParticleOptions sweeps(int count, Backend backend) {
    ParticleOptions result = published(backend);
    result.iterations = count;
    result.min_change = 0;
    return result;
  }
  // Bins lie elsewhere on the two, so particles do not move in the same order.
  static void expect_near_host(const Shape& shape, int count) {
    const Particles device = relaxed(shape, sweeps(count, Backend::cuda)),
                    host = relaxed(shape, sweeps(count, Backend::serial));
    expect_on_the_surface(shape, device);
    EXPECT_NEAR(static_cast<double>(device.positions.size()) / static_cast<double>(host.positions.size()), 1, 0.03);
    EXPECT_NEAR(device.iterations.front().energy / host.iterations.front().energy, 1, 0.03);
    EXPECT_NEAR(device.iterations.back().energy / host.iterations.back().energy, 1, 0.05);
    const auto sums = [](const Particles& particles) {
      return static_cast<double>(particles.iterations.front().energy_evaluations);
    };
    EXPECT_NEAR(sums(device) / sums(host), 1, 0.05);
  }
};

TEST_F(DevicePublished, BallsAndRingsAreSampledWell) {
  for (const Shape& shape : {particle_test::make_ball(1.2), particle_test::make_ball(1.2, 0.6),
                             particle_test::make_ring(1.2), particle_test::make_ring(1.2, 0.4)}) {
    const Particles particles = relaxed(shape, sweeps(12, Backend::cuda));
    expect_on_the_surface(shape, particles);
    EXPECT_NEAR(static_cast<double>(particles.positions.size()) / shape.expected, 0.93, 0.08);
    EXPECT_NEAR(particles.iterations.back().energy / published_ideal_energy, 0.9, 0.15);
    const Stars stars = examine_stars(particles);
    EXPECT_GT(stars.mean_ratio, 0.92);
    EXPECT_GT(stars.six, 0.55);
  }
}

TEST_F(DevicePublished, EndsWhenTheEnergyStandsStill) {
  const Particles particles = relaxed(particle_test::make_ring(1.2, 0.4), published(Backend::cuda));
  EXPECT_TRUE(particles.converged);
  EXPECT_LT(particles.iterations.size(), 50U);
}

TEST_F(DevicePublished, AgreesWithTheHost) { expect_near_host(particle_test::make_ring(1.2, 0.4), 8); }

// Bins are as wide as the largest size, which here is 19 times the smallest: some neighbourhoods have more particles
// than shared memory has room for, and blocks have many threads.
TEST_F(DevicePublished, LargeNeighbourhoodsAgreeWithTheHost) {
  expect_near_host(particle_test::make_ball(2.4, 0.9), 5);
}

TEST_F(DevicePublished, EqualInputGivesEqualParticles) {
  for (const Shape& shape : {particle_test::make_ring(1.2, 0.4), particle_test::make_ball(2.4, 0.9)}) {
    ParticleOptions chosen = sweeps(8, Backend::cuda);
    const Particles one = relaxed(shape, chosen), other = relaxed(shape, chosen);
    EXPECT_EQ(one.positions, other.positions);
    ASSERT_EQ(one.iterations.size(), other.iterations.size());
    EXPECT_EQ(one.iterations.back().energy, other.iterations.back().energy);
    EXPECT_EQ(one.iterations.back().energy_evaluations, other.iterations.back().energy_evaluations);
    chosen.seed = 2;
    EXPECT_NE(relaxed(shape, chosen).positions, one.positions);
  }
}

TEST_F(DevicePublished, NothingIsAddedWithoutInsertion) {
  Shape shape = particle_test::make_ball(0.9);
  shape.seeds = particle_test::make_ball(1.2).seeds;
  ParticleOptions chosen = published(Backend::cuda);
  chosen.density = DensityControl::delete_only;
  const Particles particles = relaxed(shape, chosen);
  EXPECT_LE(particles.positions.size(), shape.seeds.size());
  EXPECT_GT(particles.positions.size(), shape.seeds.size() / 2);
  for (const RelaxIteration& iteration : particles.iterations) EXPECT_EQ(iteration.added, 0U);
}

TEST_F(DevicePublished, CountsItsWork) {
  const Particles particles = relaxed(particle_test::make_ball(2), published(Backend::cuda));
  std::size_t moved = 0;
  for (std::size_t k = 0; k + 1 < particles.iterations.size(); ++k) {
    const RelaxIteration& iteration = particles.iterations[k];
    EXPECT_LE(iteration.moved, iteration.particles);
    EXPECT_GE(iteration.energy_evaluations, 2 * iteration.particles);  // before a move and after all
    EXPECT_GE(iteration.spline_evaluations, iteration.moved);
    EXPECT_EQ(particles.iterations[k + 1].particles, iteration.particles + iteration.added - iteration.deleted);
    moved += iteration.moved;
  }
  EXPECT_GT(moved, particles.positions.size());
}

TEST_F(DevicePublished, OneParticleAndTwoInOnePlace) {
  Shape shape = particle_test::make_ball(30);
  for (const std::size_t count : {1U, 2U}) {
    shape.seeds.assign(count, particle_test::shape_centre + Vec3d{particle_test::ball_radius, 0, 0});
    EXPECT_GE(relaxed(shape, published(Backend::cuda)).positions.size(), 1U);
  }
}

TEST_F(DevicePublished, RefusesWhatCannotBe) {
  Shape shape = particle_test::make_ball(4);
  const std::vector<Vec3d> seeds = std::exchange(shape.seeds, {});
  EXPECT_THROW(relaxed(shape, published(Backend::cuda)), InputError);
  shape.seeds = seeds;
  for (const float size : {0.0F, -1.0F, std::nanf("")}) {
    shape.sizes.values.assign(shape.sizes.values.size(), size);
    EXPECT_THROW(relaxed(shape, published(Backend::cuda)), InputError);
  }
}

TEST_F(DevicePublished, IsCancelledBetweenSweeps) {
  const Shape shape = particle_test::make_ball(2);
  std::atomic<bool> cancel = false;
  std::size_t sweeps = 0;
  ParticleOptions chosen = published(Backend::cuda);
  chosen.watch = [&](const RelaxIteration&) { cancel = ++sweeps == 2; };
  EXPECT_THROW(relax(shape.distance, shape.sizes, shape.seeds, chosen, Progress{{}, &cancel}), Cancelled);
  EXPECT_EQ(sweeps, 2U);
}

}  // namespace TEST_FILE
}  // namespace isochron
