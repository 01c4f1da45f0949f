#include "isochron/surface/field/sizing.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "isochron/error.h"
#include "isochron/surface/field/isosurface.h"
#include "surface/sampled.h"

namespace isochron {
namespace TEST_FILE {

SizeField constant_sizes(double size) {
  const Lattice lattice{{21, 21, 21}, {0.5, 0.5, 0.5}};
  return {lattice, std::vector<float>(lattice.point_count(), static_cast<float>(size))};
}

/// The lattice in a mirrored frame, so that the world's places are others.
LatticeFrame frame() { return {{100, 50, -7}, {Vec3d{0, 1, 0}, Vec3d{-1, 0, 0}, Vec3d{0, 0, -1}}}; }

TEST(SizeBrush, MultipliesWithASmoothEdge) {
  SizeField sizes = constant_sizes(2);
  const Vec3d center{5, 5, 5};
  const SizeBrush brush{frame().to_world(center), 4, 0.5};
  apply_brushes(std::span(&brush, 1), frame(), 10, sizes);  // a slope that no size has
  const SizeView<double> view = sizes.view();
  EXPECT_NEAR(view.size(center), 1, 1e-6);
  EXPECT_NEAR(view.size(center + Vec3d{2, 0, 0}), 2 * (1 - 0.5 * 0.75 * 0.75), 1e-6);
  EXPECT_NEAR(view.size(center + Vec3d{0, 0, 4}), 2, 1e-6);
  EXPECT_EQ(view.size(center + Vec3d{4.5, 0, 0}), 2);
}

TEST(SizeBrush, GrowsNoFasterThanDelta) {
  SizeField sizes = constant_sizes(2);
  const SizeBrush brush{frame().to_world({5, 5, 5}), 1, 0.1};
  apply_brushes(std::span(&brush, 1), frame(), 0.2, sizes);
  const Lattice& lattice = sizes.lattice;
  for (int k = 0; k + 1 < 21; ++k)
    for (int j = 0; j + 1 < 21; ++j)
      for (int i = 0; i + 1 < 21; ++i) {
        const float here = sizes.values[lattice.index(i, j, k)];
        EXPECT_LE(std::abs(sizes.values[lattice.index(i + 1, j, k)] - here), 0.2 * 0.5 + 1e-6);
        EXPECT_LE(std::abs(sizes.values[lattice.index(i, j + 1, k + 1)] - here), 0.2 * 0.5 * std::sqrt(2.0) + 1e-6);
      }
  EXPECT_LT(sizes.view().size({5, 6.5, 5}), 1);  // far outside of the brush, but its slope
}

TEST(SizeBrush, SeveralTogetherStayInBounds) {
  SizeField sizes = constant_sizes(2);
  const std::vector<SizeBrush> brushes(5, SizeBrush{frame().to_world({5, 5, 5}), 4, 0.1});
  apply_brushes(brushes, frame(), 100, sizes);
  EXPECT_NEAR(sizes.view().size({5, 5, 5}), 2 * SizeBrush::smallest_factor, 1e-6);
}

TEST(SizeBrush, OutsideOfTheLatticeDoesNothing) {
  SizeField sizes = constant_sizes(2);
  const SizeBrush brush{frame().to_world({-1e9, 1e12, 5}), 4, 0.1};
  apply_brushes(std::span(&brush, 1), frame(), 0.3, sizes);
  EXPECT_EQ(sizes.values, constant_sizes(2).values);
}

TEST(SizeBrush, RefusesNonsense) {
  const auto refused = [](const SizeBrush& brush) { EXPECT_THROW(check_brushes(std::span(&brush, 1)), UsageError); };
  refused({{}, 0, 0.5});
  refused({{}, 1, 0});
  refused({{}, 1, 21});
  refused({{}, 1, std::nan("")});
  refused({{std::numeric_limits<double>::infinity(), 0, 0}, 1, 0.5});
}

// A brush of a half asks for four times as many particles where it is, and for no more elsewhere.
TEST(SizeBrush, AsksForMoreParticlesThere) {
  ImageGrid grid;
  grid.shape = {33, 33, 33};
  FieldOptions inside;
  inside.inside = InsideIs::below;
  const Vec3d centre{16, 16, 16};
  const ImplicitSurface surface =
      from_isovalue(grid, sampled(grid, [&](const Vec3d& p) { return ball(p, centre, 11); }), 0, inside);
  const SplineField field(surface.lattice, surface.distance);
  const TriangleMesh mesh = marching_tetrahedra(surface.lattice, surface.distance);
  SizingOptions options;
  options.uniform = 1;
  const double plain = particle_estimate(mesh, sizes(field, surface, options));
  options.brushes = {{centre + Vec3d{11, 0, 0}, 1e4, 0.5}};  // everywhere
  EXPECT_NEAR(particle_estimate(mesh, sizes(field, surface, options)) / plain, 4, 0.01);
  options.brushes = {{centre + Vec3d{11, 0, 0}, 4, 0.5}};
  const SizeField brushed = sizes(field, surface, options);
  EXPECT_GT(particle_estimate(mesh, brushed), 1.015 * plain);
  EXPECT_LT(particle_estimate(mesh, brushed), 1.03 * plain);
  EXPECT_EQ(brushed.view().size(surface.frame.to_lattice(centre - Vec3d{11, 0, 0})), 1);
}

}  // namespace TEST_FILE
}  // namespace isochron
