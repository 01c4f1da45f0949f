#include "isochron/surface/particles/relax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "isochron/error.h"
#include "isochron/surface/particles/density.h"
#include "particle_shapes.h"

namespace isochron {
namespace TEST_FILE {

using particle_test::examine_stars;
using particle_test::make_ball;
using particle_test::make_ring;
using particle_test::Shape;
using particle_test::Stars;

Particles relaxed(const Shape& shape, ParticleOptions options = {}) {
  return relax(shape.distance, shape.sizes, shape.seeds, options);
}

void expect_good(const Shape& shape, const Particles& particles, double mean_ratio) {
  EXPECT_TRUE(particles.converged);
  const auto count = static_cast<double>(particles.positions.size());
  EXPECT_NEAR(count / shape.expected, 1, 0.05);
  for (std::size_t i = 0; i < particles.positions.size(); ++i) {
    EXPECT_NEAR(shape.distance.view().value(particles.positions[i]), 0, 1e-6);
    EXPECT_NEAR(norm(particles.normals[i]), 1, 1e-12);
    EXPECT_NEAR(particles.sizes[i], shape.sizes.view().size(particles.positions[i]), 1e-12);
  }
  EXPECT_NEAR(particles.iterations.back().energy / ideal_energy, 1, 0.1);
  const Stars stars = examine_stars(particles);
  EXPECT_GT(stars.mean_ratio, mean_ratio);
  EXPECT_GT(stars.min_ratio, 0.5);
  EXPECT_GT(stars.six, 0.7);
  EXPECT_GT(stars.shortest, 0.6);
}

TEST(Relax, BallOfOneSize) {
  const Shape shape = make_ball(1.2);
  expect_good(shape, relaxed(shape), 0.955);
}

TEST(Relax, RingOfOneSize) {
  const Shape shape = make_ring(1.2);
  expect_good(shape, relaxed(shape), 0.955);
}

TEST(Relax, BallOfVaryingSizes) {
  const Shape shape = make_ball(1.2, 0.6);
  expect_good(shape, relaxed(shape), 0.955);
}

TEST(Relax, RingOfVaryingSizes) {
  const Shape shape = make_ring(1.2, 0.4);
  expect_good(shape, relaxed(shape), 0.955);
}

TEST(Relax, ThreadsDoNotChangeTheResult) {
  const Shape shape = make_ball(1.3, 0.5);
  for (const BinKind bins : {BinKind::uniform, BinKind::adaptive}) {
    ParticleOptions options;
    options.bins = bins;
    options.iterations = 12;
    const Particles serial = relaxed(shape, options);
    for (const int threads : {2, 3}) {
      options.threads = threads;
      const Particles together = relaxed(shape, options);
      EXPECT_EQ(together.positions, serial.positions);
      EXPECT_EQ(together.iterations.back().energy, serial.iterations.back().energy);
      EXPECT_EQ(together.iterations.back().energy_evaluations, serial.iterations.back().energy_evaluations);
    }
  }
}

TEST(Relax, UniformAndAdaptiveBinsAgree) {
  const Shape shape = make_ring(1.2, 0.5);
  ParticleOptions options;
  const Particles adaptive = relaxed(shape, options);
  options.bins = BinKind::uniform;
  const Particles uniform = relaxed(shape, options);
  expect_good(shape, uniform, 0.955);
  EXPECT_NEAR(static_cast<double>(adaptive.positions.size()) / static_cast<double>(uniform.positions.size()), 1, 0.02);
  EXPECT_NEAR(adaptive.iterations.back().energy / uniform.iterations.back().energy, 1, 0.08);
  EXPECT_NEAR(examine_stars(adaptive).mean_ratio, examine_stars(uniform).mean_ratio, 0.01);
}

TEST(Relax, SeedsOfTheRandomNumbersChangeTheResultButNotItsShape) {
  const Shape shape = make_ball(1.5);
  ParticleOptions options;
  const Particles one = relaxed(shape, options);
  EXPECT_EQ(relaxed(shape, options).positions, one.positions);
  options.seed = 2;
  const Particles other = relaxed(shape, options);
  EXPECT_NE(other.positions, one.positions);
  expect_good(shape, other, 0.95);
}

TEST(Relax, FillsAnEmptySurfaceFromAFewSeeds) {
  Shape shape = make_ball(2);
  shape.seeds.resize(4);
  ParticleOptions options;
  options.iterations = 100;
  expect_good(shape, relaxed(shape, options), 0.95);
}

TEST(Relax, RemovesTooManySeeds) {
  Shape shape = make_ball(2);
  const std::vector<Vec3d> seeds = make_ball(1).seeds;  // four times too many
  shape.seeds = seeds;
  expect_good(shape, relaxed(shape), 0.95);
}

TEST(Relax, NothingIsAddedWithoutInsertion) {
  const Shape dense = make_ball(1.2), shape = make_ball(0.6);
  ParticleOptions options;
  options.density = DensityControl::delete_only;
  const Particles particles = relax(shape.distance, shape.sizes, dense.seeds, options);
  EXPECT_LE(particles.positions.size(), dense.seeds.size());
  EXPECT_GT(particles.positions.size(), dense.seeds.size() / 2);
  for (const RelaxIteration& iteration : particles.iterations) EXPECT_EQ(iteration.added, 0U);
}

// Two flat sheets a third of a size apart, with seeds on both: each relaxes as if it were alone.
TEST(Relax, SheetsOfAThinPlateDoNotMix) {
  const Lattice lattice{{28, 28, 9}, {1, 1, 0.25}};
  const double middle = 1.03, half = 0.3;
  const auto plate = particle_test::make_shape(
      lattice, [&](Vec3d p) { return std::abs(p.z - middle) - half; }, [](Vec3d) { return 1.5; }, 2 * 27.0 * 27.0,
      [&](Random& random) {
        const double side = random.uniform() < 0.5 ? -half : half;
        return Vec3d{random.uniform(0, 27), random.uniform(0, 27), middle + side};
      });
  const auto one_sheet = particle_test::make_shape(
      lattice, [&](Vec3d p) { return p.z - middle - half; }, [](Vec3d) { return 1.5; }, 27.0 * 27.0,
      [&](Random& random) {
        return Vec3d{random.uniform(0, 27), random.uniform(0, 27), middle + half};
      });
  // The fields end at the border, where F turns flat: particles stay inside only by the seeds' own spacing.
  ParticleOptions options;
  options.iterations = 20;
  const Particles both = relaxed(plate, options), alone = relaxed(one_sheet, options);
  std::size_t up = 0;
  for (const Vec3d normal : both.normals) up += normal.z > 0;
  const auto down = both.positions.size() - up;
  EXPECT_NEAR(static_cast<double>(up), static_cast<double>(down), 0.1 * static_cast<double>(up));
  EXPECT_NEAR(both.iterations.back().energy, alone.iterations.back().energy, 0.05 * ideal_energy);
  for (std::size_t i = 0; i < both.positions.size(); ++i) {
    EXPECT_NEAR(std::abs(both.positions[i].z - middle), std::abs(both.positions[0].z - middle), 0.05);
  }
}

// A ball far smaller than the size asked for is not thrown away.
TEST(Relax, SmallComponentsKeepTheirParticles) {
  const Shape shape = particle_test::make_ball(60);
  EXPECT_LT(shape.seeds.size(), 2U);
  Shape few = shape;
  few.seeds = make_ball(2).seeds;
  few.seeds.resize(4);
  EXPECT_EQ(relaxed(few).positions.size(), 4U);
}

TEST(Relax, SameSheetIsSymmetricAndKnowsThinWalls) {
  const Particle<double> a{{0, 0, 0}, 1, {0, 0, 1}, 1};
  const Particle<double> beside{{0.9, 0, -0.2}, 1, {0.6, 0, 0.8}, 1};
  const Particle<double> across{{0.2, 0, -0.3}, 1, {0, 0, -1}, 1};
  const Particle<double> above{{0.2, 0, 0.9}, 1, {0, 0, 1}, 1};
  EXPECT_TRUE(same_sheet(a, beside));
  EXPECT_TRUE(same_sheet(beside, a));
  EXPECT_FALSE(same_sheet(a, across));
  EXPECT_FALSE(same_sheet(a, above));
}

TEST(Relax, CountsItsWork) {
  const Particles particles = relaxed(make_ball(2));
  std::size_t resting = 0;
  for (std::size_t k = 0; k < particles.iterations.size(); ++k) {
    const RelaxIteration& iteration = particles.iterations[k];
    EXPECT_LE(iteration.moved + iteration.resting, iteration.particles);
    EXPECT_GE(iteration.energy_evaluations + iteration.resting, iteration.particles);
    if (k + 1 < particles.iterations.size()) {
      EXPECT_EQ(particles.iterations[k + 1].particles, iteration.particles + iteration.added - iteration.deleted);
    }
    resting += iteration.resting;
  }
  EXPECT_EQ(particles.iterations.back().particles, particles.positions.size());
}

TEST(Relax, RefusesWhatCannotBe) {
  Shape shape = make_ball(2);
  EXPECT_THROW(relax(shape.distance, shape.sizes, {}, {}), InputError);
  shape.sizes.values.assign(shape.sizes.values.size(), 0);
  EXPECT_THROW(relaxed(shape), InputError);
  const std::atomic<bool> stop{true};
  EXPECT_THROW(relax(make_ball(2).distance, make_ball(2).sizes, shape.seeds, {}, Progress{nullptr, &stop}), Error);
}

// What is shown after the last iteration is what comes out, up to the last projection.
TEST(Relax, ShowsItsParticlesWhileTheyMove) {
  const Shape shape = make_ball(1.2);
  std::size_t frames = 0, shown_count = 0;
  std::vector<Vec3d> last;
  ParticleOptions options;
  options.show = [&](const RelaxIteration& iteration, std::span<const Particle<double>> now) {
    ++frames;
    shown_count = iteration.particles + iteration.added - iteration.deleted;
    EXPECT_EQ(now.size(), shown_count);
    last.clear();
    for (const Particle<double>& particle : now) {
      EXPECT_LT(std::abs(shape.distance.view().value(particle.position)), 0.05 * particle.size);
      EXPECT_NEAR(norm(particle.normal), 1, 1e-9);
      last.push_back(particle.position);
    }
  };
  const Particles result = relaxed(shape, options);
  EXPECT_EQ(frames, result.iterations.size());
  ASSERT_EQ(last.size(), result.positions.size());
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_LT(norm(last[i] - result.positions[i]), 0.05);
}

}  // namespace TEST_FILE
}  // namespace isochron
