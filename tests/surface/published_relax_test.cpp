// The scheme of paper 002 as published.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/surface/particles/published_relaxation.h"
#include "isochron/surface/particles/published_step.h"
#include "isochron/surface/particles/relax.h"
#include "particle_shapes.h"
#include "support/device_case.h"

namespace isochron {
namespace TEST_FILE {

using particle_test::examine_stars;
using particle_test::make_ball;
using particle_test::make_ring;
using particle_test::Shape;
using particle_test::Stars;

ParticleOptions published() {
  ParticleOptions options;
  options.scheme = ParticleScheme::published;
  return options;
}

Particles relaxed(const Shape& shape, const ParticleOptions& options = published()) {
  return relax(shape.distance, shape.sizes, shape.seeds, options);
}

TEST(Published, AHexagonalLatticeOfTheSizesHasThePapersIdealEnergy) {
  for (const double size : {1.0, 0.3}) {
    Energies<double> sum;
    for (int i = -6; i <= 6; ++i)
      for (int j = -6; j <= 6; ++j)
        if (i != 0 || j != 0) {
          const Particle<double> other{{size * (i + 0.5 * j), size * std::sqrt(0.75) * j, 0}, size, {0, 0, 1}, 1};
          add_energy<PublishedPairs>(sum, Vec3d{0, 0, 0}, size, other);
        }
    EXPECT_NEAR(sum.plain, published_ideal_energy, 1e-7);
    EXPECT_EQ(sum.weighted, sum.plain);
  }
}

TEST(Published, DensityChangesBeyondTheLimitsAndTheLikelierTheFartherBeyond) {
  const DensityRules<double> rules{0.75, 1.35, true}, no_split{0.75, 1.35, false};
  const double ideal = published_ideal_energy;
  for (const double chance : {0.0, 0.5, 0.999}) {
    EXPECT_EQ(published_change(0.76 * ideal, chance, rules), 0);
    EXPECT_EQ(published_change(1.34 * ideal, chance, rules), 0);
  }
  EXPECT_EQ(published_change(0.5 * ideal, 0.7, rules), 1);
  EXPECT_EQ(published_change(0.5 * ideal, 0.6, rules), 0);
  EXPECT_EQ(published_change(0.5 * ideal, 0.7, no_split), 0);
  EXPECT_EQ(published_change(2.7 * ideal, 0.51, rules), -1);
  EXPECT_EQ(published_change(2.7 * ideal, 0.49, rules), 0);
}

TEST(Published, AParticleIsAddedOnTheSurfaceAnEdgeAwayWithItsOwnSize) {
  const Shape shape = make_ball(1.2, 0.6);
  const SurfaceFields<double> fields{shape.distance.view(), shape.sizes.view()};
  const double flatness = PublishedRules<double>{}.flatness;
  PublishedControl<double> control = published_control(published(), flatness, 3);
  std::size_t removed = 0, added = 0;
  const std::vector<Particle<double>> particles = place_seeds(fields, shape.seeds, 1);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Particle<double>& here = particles[i];
    const auto fate_at = [&](double energy) { return published_fate(here, energy, i, fields, control); };
    const PublishedFate<double> ideal = fate_at(published_ideal_energy), alone = fate_at(0);
    EXPECT_TRUE(ideal.stays && !ideal.splits && alone.stays);
    const PublishedFate<double> crowded = fate_at(4 * published_ideal_energy);
    EXPECT_FALSE(crowded.splits);
    removed += !crowded.stays;
    if (!alone.splits) continue;
    ++added;
    const Particle<double>& newcomer = alone.newcomer;
    EXPECT_NEAR(fields.distance.value(newcomer.position), 0, flatness * here.size);
    EXPECT_NEAR(norm(newcomer.position - here.position), here.size, 0.1 * here.size);
    EXPECT_EQ(newcomer.size, fields.sizes.size(newcomer.position));
    EXPECT_EQ(newcomer.lambda, here.lambda);
  }
  // The chance of 4 times the ideal energy times a number of [0, 1) to be above 1.35.
  EXPECT_NEAR(static_cast<double>(removed) / static_cast<double>(particles.size()), 1 - 1.35 / 4, 0.05);
  EXPECT_GT(static_cast<double>(added), 0.99 * static_cast<double>(particles.size()));
  control.density.may_split = false;
  EXPECT_FALSE(published_fate(particles[0], 0.0, 0, fields, control).splits);
}

// Particles strewn in a box, sorted into bins of one width.
struct Strewn {
  std::vector<Particle<double>> particles;
  Bins bins;
};

Strewn strewn(int count) {
  Random random(3);
  std::vector<Particle<double>> all;
  for (int i = 0; i < count; ++i) {
    const Vec3d p{random.uniform(0, 20), random.uniform(-5, 15), random.uniform(9, 22)};
    all.push_back({p, random.uniform(0.6, 1.1), {0, 0, 1}, 0.1});
  }
  const BinFrame frame(particle_box(all), BinKind::uniform, published_length);
  const BinOrder sorted = bin_order(frame, all, 1);
  Strewn result;
  for (const std::uint32_t i : sorted.order) result.particles.push_back(all[i]);
  result.bins = Bins(sorted.keys);
  return result;
}

TEST(Published, NoBinIsInTwoNeighbourhoodsOfAColour) {
  const Strewn all = strewn(4000);
  const auto colours = bins_by_colour(all.bins);
  std::size_t bins = 0, colours_used = 0;
  for (const auto& colour : colours) {
    bins += colour.size();
    colours_used += !colour.empty();
    std::set<std::uint64_t> taken;
    for (const std::uint32_t b : colour)
      for_neighbourhood(all.bins.table(), all.bins.all()[b],
                        [&](const Bin& bin) { EXPECT_TRUE(taken.insert(bin.key).second); });
  }
  EXPECT_EQ(bins, all.bins.all().size());
  EXPECT_EQ(colours_used, 27U);
}

TEST(Published, ANeighbourhoodIsTheBinAndAllAroundIt) {
  const Strewn all = strewn(1500);
  for (const Bin& bin : all.bins.all()) {
    std::set<std::uint64_t> found, expected;
    for_neighbourhood(all.bins.table(), bin, [&](const Bin& other) {
      if (found.empty()) {
        EXPECT_EQ(other.key, bin.key);
      }
      EXPECT_TRUE(found.insert(other.key).second);
    });
    const BinPlace here = BinPlace::of_key(bin.key);
    std::uint32_t count = 0;
    for (const Bin& other : all.bins.all()) {
      const BinPlace there = BinPlace::of_key(other.key);
      int apart = 0;
      for (int a = 0; a < 3; ++a) apart = std::max(apart, std::abs(there.cell[a] - here.cell[a]));
      if (apart > 1) continue;
      expected.insert(other.key);
      count += other.end - other.begin;
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(count_neighbourhood(all.bins.table(), bin), count);
  }
}

double energy_of_all_pairs(const Neighbourhood<double>& all) {
  double sum = 0;
  for (std::uint32_t i = 0; i < all.count; ++i) sum += published_energy(all, i, OneThread{});
  return sum / 2;
}

// Of sizes that vary, so that a particle's own size changes as it moves.
TEST(Published, MovingABinNeverRaisesTheEnergy) {
  const Shape shape = make_ball(1.5, 0.5);
  const SurfaceFields<double> fields{shape.distance.view(), shape.sizes.view()};
  std::vector<Particle<double>> particles = place_seeds(fields, shape.seeds, 1);
  const Vec3d corner = particles[0].position;
  std::erase_if(particles, [&](const Particle<double>& p) { return norm(p.position - corner) > 6; });
  ASSERT_GT(particles.size(), 30U);
  const auto count = static_cast<std::uint32_t>(particles.size());
  const Neighbourhood<double> all{particles.data(), count / 2, count};
  const std::vector<Particle<double>> others(particles.begin() + count / 2, particles.end());
  std::uint32_t moved = 0;
  double energy = energy_of_all_pairs(all);
  for (int k = 0; k < 20; ++k) {
    const BinWork work = move_bin(all, fields, 3.0, PublishedRules<double>{}, OneThread{});
    const double now = energy_of_all_pairs(all);
    EXPECT_TRUE(work.moved > 0 ? now < energy : now == energy) << now << " after " << energy;
    EXPECT_GE(work.energies, all.own);
    energy = now;
    moved += work.moved;
  }
  EXPECT_GT(moved, 5 * all.own);
  for (std::uint32_t i = 0; i < others.size(); ++i) EXPECT_EQ(particles[all.own + i].position, others[i].position);
}

// Seeds that crowd are removed, and none is added down to 0.75 of the ideal energy: there are fewer particles than a
// lattice of the sizes has. The paper's meshes have mean radius ratios of 0.913 to 0.921 (Table 1).
void expect_good(const Shape& shape, const Particles& particles) {
  EXPECT_TRUE(particles.converged);
  EXPECT_NEAR(static_cast<double>(particles.positions.size()) / shape.expected, 0.93, 0.08);
  for (std::size_t i = 0; i < particles.positions.size(); ++i) {
    EXPECT_NEAR(shape.distance.view().value(particles.positions[i]), 0, 1e-6);
    EXPECT_NEAR(particles.sizes[i], shape.sizes.view().size(particles.positions[i]), 1e-12);
  }
  EXPECT_NEAR(particles.iterations.back().energy / published_ideal_energy, 0.9, 0.15);
  const Stars stars = examine_stars(particles);
  EXPECT_GT(stars.mean_ratio, 0.91);
  EXPECT_GT(stars.six, 0.5);
}

TEST(Published, BallsAndRingsAreSampledWell) {
  for (const Shape& shape : {make_ball(1.2), make_ball(1.2, 0.6), make_ring(1.2), make_ring(1.2, 0.4)})
    expect_good(shape, relaxed(shape));
}

TEST(Published, ThreadsDoNotChangeTheResult) {
  const Shape shape = make_ball(1.3, 0.5);
  ParticleOptions options = published();
  options.iterations = 12;
  const Particles serial = relaxed(shape, options);
  for (const int threads : {2, 3, 5}) {
    options.threads = threads;
    const Particles together = relaxed(shape, options);
    EXPECT_EQ(together.positions, serial.positions);
    ASSERT_EQ(together.iterations.size(), serial.iterations.size());
    EXPECT_EQ(together.iterations.back().energy, serial.iterations.back().energy);
    EXPECT_EQ(together.iterations.back().energy_evaluations, serial.iterations.back().energy_evaluations);
  }
  options.seed = 2;
  EXPECT_NE(relaxed(shape, options).positions, serial.positions);
}

TEST(Published, NothingIsAddedWithoutInsertion) {
  const Shape dense = make_ball(1.2), shape = make_ball(0.9);
  ParticleOptions options = published();
  options.density = DensityControl::delete_only;
  const Particles particles = relax(shape.distance, shape.sizes, dense.seeds, options);
  EXPECT_LE(particles.positions.size(), dense.seeds.size());
  EXPECT_GT(particles.positions.size(), dense.seeds.size() / 2);
  for (const RelaxIteration& iteration : particles.iterations) EXPECT_EQ(iteration.added, 0U);
}

TEST(Published, CountsItsWork) {
  const Particles particles = relaxed(make_ball(2));
  for (std::size_t k = 0; k + 1 < particles.iterations.size(); ++k) {
    const RelaxIteration& iteration = particles.iterations[k];
    EXPECT_LE(iteration.moved, iteration.particles);
    EXPECT_GE(iteration.energy_evaluations, 2 * iteration.particles);  // before a move and after all
    EXPECT_EQ(particles.iterations[k + 1].particles, iteration.particles + iteration.added - iteration.deleted);
  }
}

TEST(Published, OneParticleAndTwoInOnePlace) {
  Shape shape = make_ball(30);
  shape.seeds.assign(1, particle_test::shape_centre + Vec3d{particle_test::ball_radius, 0, 0});
  EXPECT_GE(relaxed(shape).positions.size(), 1U);
  shape.seeds.assign(2, particle_test::shape_centre + Vec3d{particle_test::ball_radius, 0, 0});
  EXPECT_GE(relaxed(shape).positions.size(), 1U);
}

TEST(Published, WithoutAGpuThatIsSaid) {
  if (test::no_device().empty()) GTEST_SKIP() << "there is a GPU";
  ParticleOptions options = published();
  options.backend = Backend::cuda;
  EXPECT_THROW(relaxed(make_ball(3), options), DeviceError);
}

}  // namespace TEST_FILE
}  // namespace isochron
