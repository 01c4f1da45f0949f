#include "isochron/surface/particles/seeds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "isochron/error.h"
#include "isochron/generate.h"
#include "particle_shapes.h"

namespace isochron {
namespace TEST_FILE {

// Balls of several radii side by side.
struct Balls {
  std::vector<Vec3d> centres{{9, 9, 9}, {22, 9, 9}, {29.5, 9, 9}};
  std::vector<double> radii{6, 3.5, 1.2};

  [[nodiscard]] double distance(Vec3d p) const {
    double least = 1e9;
    for (std::size_t b = 0; b < radii.size(); ++b) least = std::min(least, norm(p - centres[b]) - radii[b]);
    return least;
  }
  [[nodiscard]] TriangleMesh surface() const {
    TriangleMesh all;
    for (std::size_t b = 0; b < radii.size(); ++b) {
      const TriangleMesh ball = generate_sphere({12, 1.05 * radii[b]});
      const std::size_t base = all.points.size();
      for (const Vec3d p : ball.points) all.points.push_back(p + centres[b]);
      for (const auto& e : ball.elements) {
        all.elements.push_back(
            {VertexId{e[0].index() + base}, VertexId{e[1].index() + base}, VertexId{e[2].index() + base}});
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<std::size_t> count(const std::vector<Vec3d>& points) const {
    std::vector<std::size_t> counts(radii.size(), 0);
    for (const Vec3d p : points) {
      for (std::size_t b = 0; b < radii.size(); ++b) counts[b] += std::abs(norm(p - centres[b]) - radii[b]) < 0.5;
    }
    return counts;
  }
};

const Lattice lattice{{36, 19, 19}, {1, 1, 1}};

TEST(Seeds, EveryComponentGetsItsShareAndAtLeastFour) {
  const Balls balls;
  const SplineField field(lattice, sampled(lattice, [&](Vec3d p) { return balls.distance(p); }));
  const SizeField sizes{lattice, std::vector<float>(lattice.point_count(), 2)};
  const std::vector<Vec3d> seeds = surface_seeds(balls.surface(), field, sizes);
  const auto counts = balls.count(seeds);
  for (const std::size_t b : {0U, 1U}) {
    const double expected = ideal_density * 4 * std::numbers::pi * 1.05 * 1.05 * balls.radii[b] * balls.radii[b] / 4;
    EXPECT_NEAR(static_cast<double>(counts[b]), expected, 0.03 * expected + 1);
  }
  EXPECT_GE(counts[2], 4U);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], seeds.size());
  for (const Vec3d p : seeds) EXPECT_NEAR(field.view().value(p), 0, 1e-3);

  // A size that asks for less than one particle on each.
  const SizeField large{lattice, std::vector<float>(lattice.point_count(), 50)};
  for (const std::size_t count : balls.count(surface_seeds(balls.surface(), field, large))) EXPECT_EQ(count, 4U);
}

TEST(Seeds, AreAsManyAsAskedFor) {
  const Balls balls;
  const SplineField field(lattice, sampled(lattice, [&](Vec3d p) { return balls.distance(p); }));
  const SizeField sizes{lattice, std::vector<float>(lattice.point_count(), 2)};
  SeedOptions options;
  options.count = 5000;
  const std::vector<Vec3d> seeds = surface_seeds(balls.surface(), field, sizes, options);
  EXPECT_NEAR(static_cast<double>(seeds.size()), 5000, 3);
  options.threads = 3;
  EXPECT_EQ(surface_seeds(balls.surface(), field, sizes, options), seeds);
  options.seed = 2;
  EXPECT_NE(surface_seeds(balls.surface(), field, sizes, options), seeds);
}

TEST(Seeds, FollowTheSizes) {
  const TriangleMesh ball = [] {
    TriangleMesh mesh = generate_sphere({60, particle_test::ball_radius});
    for (Vec3d& p : mesh.points) p += particle_test::shape_centre;
    return mesh;
  }();
  const auto shape = particle_test::make_ball(1, 0.6);
  const std::vector<Vec3d> seeds = surface_seeds(ball, shape.distance, shape.sizes);
  EXPECT_NEAR(static_cast<double>(seeds.size()), shape.expected, 0.02 * shape.expected);
}

TEST(Seeds, RefuseWhatCannotBe) {
  const Balls balls;
  const SplineField field(lattice, sampled(lattice, [&](Vec3d p) { return balls.distance(p); }));
  SizeField sizes{lattice, std::vector<float>(lattice.point_count(), 1e-4F)};
  EXPECT_THROW(surface_seeds(balls.surface(), field, sizes), InputError);
  EXPECT_THROW(surface_seeds({}, field, sizes), InputError);
  sizes.values.assign(sizes.values.size(), -1);
  EXPECT_THROW(surface_seeds(balls.surface(), field, sizes), InputError);
}

}  // namespace TEST_FILE
}  // namespace isochron
