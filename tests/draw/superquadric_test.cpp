#include "isochron/draw/shaded_mesh.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "isochron/draw/color_map.h"
#include "isochron/error.h"
#include "isochron/mesh_quality.h"
#include "support/random_frame.h"

namespace isochron {
namespace TEST_FILE {

Vec3d as_double(const Vec3f& v) { return {v.x, v.y, v.z}; }

double beta_function(double a, double b) { return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b)); }

/// Of a superquadric with half axes 1 (Jaklič, Leonardis and Solina 2000).
double unit_volume(const GlyphShape& s) {
  return 2 * s.alpha * s.beta * beta_function(s.beta / 2 + 1, s.beta) * beta_function(s.alpha / 2, s.alpha / 2);
}

/// A glyph's own coordinates, the main axis last, in half axes.
struct Axes {
  Vec3d direction[3];
  double length[3];
};

Axes axes_of(const TensorAt& at, const GlyphShape& shape, const GlyphOptions& options) {
  const auto eigen = eigen_system(at.tensor);
  const bool along_first = shape.main == GlyphShape::Axis::largest;
  Axes axes{};
  for (int a = 0; a < 3; ++a) {
    const int e = along_first ? (a + 1) % 3 : a;
    axes.direction[a] = eigen.vectors[e];
    axes.length[a] = options.size * std::max(eigen.values[e] / eigen.values.x, options.min_thickness);
  }
  return axes;
}

double power(double x, double e) { return std::pow(std::abs(x), e); }

class OneGlyph : public testing::TestWithParam<Vec3d> {
 protected:
  void make(int sides) {
    Random random(11);
    at_ = {{3, -4, 5}, tensor_of_eigen(GetParam(), test::RandomFrame(random).axis)};
    options_.size = 0.8;
    options_.sides = sides;
    shape_ = glyph_shape(tensor_shape(GetParam()), options_.sharpness);
    axes_ = axes_of(at_, shape_, options_);
    glyph_ = superquadric_glyphs(std::span(&at_, 1), options_);
  }
  [[nodiscard]] Vec3d own(const Vec3d& p) const {
    Vec3d q;
    for (int a = 0; a < 3; ++a) q[a] = dot(p - at_.position, axes_.direction[a]) / axes_.length[a];
    return q;
  }

  TensorAt at_;
  GlyphOptions options_;
  GlyphShape shape_;
  Axes axes_{};
  ShadedMesh glyph_;
};

TEST_P(OneGlyph, IsClosedAndFacesOut) {
  make(16);
  const SurfaceTopology topology = surface_topology(glyph_.mesh);
  EXPECT_TRUE(topology.closed());
  EXPECT_TRUE(topology.manifold());
  EXPECT_TRUE(topology.oriented());
  EXPECT_EQ(topology.euler_characteristic(), 2);
  EXPECT_GT(topology.volume, 0);
}

TEST_P(OneGlyph, LiesOnItsSuperquadric) {
  make(24);
  for (const Vec3d& p : glyph_.mesh.points) {
    const Vec3d q = own(p);
    // To the power of beta / 2, which is a length: exponents near 0 would blow rounding up.
    const double ring = std::pow(power(q.x, 2 / shape_.alpha) + power(q.y, 2 / shape_.alpha), shape_.alpha / 2);
    const double radius = std::pow(power(ring, 2 / shape_.beta) + power(q.z, 2 / shape_.beta), shape_.beta / 2);
    EXPECT_NEAR(radius, 1, 1e-6);
  }
}

TEST_P(OneGlyph, NormalsAreThoseOfTheSurface) {
  make(24);
  // Each is perpendicular to the two ways along the surface: those that change only one of the two angles.
  const auto& points = glyph_.mesh.points;
  for (std::size_t v = 0; v < points.size(); ++v) {
    const Vec3d n = as_double(glyph_.normals[v]), q = own(points[v]);
    EXPECT_NEAR(norm(n), 1, 1e-5);
    Vec3d m;  // the gradient in the glyph's own coordinates, up to a factor
    for (int a = 0; a < 3; ++a) m[a] = dot(n, axes_.direction[a]) * axes_.length[a];
    EXPECT_GT(dot(m, q), 0);
    if (std::abs(q.x * q.y * q.z) < 1e-3) continue;
    // d/dx of (x^(2/a) + y^(2/a))^(a/b) + z^(2/b).
    const double alpha = shape_.alpha, beta = shape_.beta;
    const double ring = power(q.x, 2 / alpha) + power(q.y, 2 / alpha);
    const double outer = std::pow(ring, alpha / beta - 1);
    const Vec3d gradient{std::copysign(outer * power(q.x, 2 / alpha - 1), q.x),
                         std::copysign(outer * power(q.y, 2 / alpha - 1), q.y),
                         std::copysign(power(q.z, 2 / beta - 1), q.z)};
    EXPECT_NEAR(dot(m, gradient) / (norm(m) * norm(gradient)), 1, 1e-4);
  }
}

TEST_P(OneGlyph, HasItsVolume) {
  make(400);
  const double exact = unit_volume(shape_) * axes_.length[0] * axes_.length[1] * axes_.length[2];
  EXPECT_NEAR(surface_topology(glyph_.mesh).volume, exact, 0.01 * exact);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OneGlyph,
                         testing::Values(Vec3d{1, 1, 1}, Vec3d{1.7, 0.3, 0.2}, Vec3d{1, 0.9, 0.1}, Vec3d{1, 0.5, 0.2},
                                         Vec3d{2e-3, 1.2e-3, 0.9e-3}, Vec3d{1, 0.02, 0.01}, Vec3d{1, 1, 0.03}));

TEST(TensorShapes, SharesAddUpToOne) {
  const TensorShape ball = tensor_shape({2, 2, 2}), line = tensor_shape({3, 0, 0}), disc = tensor_shape({4, 4, 0});
  EXPECT_EQ(ball.spherical, 1);
  EXPECT_EQ(line.linear, 1);
  EXPECT_EQ(disc.planar, 1);
  const TensorShape mixed = tensor_shape({5, 3, 2});
  EXPECT_DOUBLE_EQ(mixed.linear, 0.2);
  EXPECT_DOUBLE_EQ(mixed.planar, 0.2);
  EXPECT_DOUBLE_EQ(mixed.spherical, 0.6);
  EXPECT_EQ(tensor_shape({0, 0, 0}).spherical, 0);
  EXPECT_EQ(tensor_shape({1, 0, -0.5}).linear, 1);
}

TEST(TensorShapes, AreRoundWhereTheTensorIsAndSharpWhereItIsNot) {
  const GlyphShape ball = glyph_shape({0, 0, 1}, 3), line = glyph_shape({0.5, 0, 0.5}, 3);
  EXPECT_EQ(ball.alpha, 1);
  EXPECT_EQ(ball.beta, 1);
  EXPECT_EQ(line.main, GlyphShape::Axis::largest);
  EXPECT_EQ(line.alpha, 1);
  EXPECT_EQ(line.beta, 0.125);
  const GlyphShape disc = glyph_shape({0.1, 0.5, 0.4}, 3);
  EXPECT_EQ(disc.main, GlyphShape::Axis::smallest);
  EXPECT_DOUBLE_EQ(disc.alpha, 0.729);
  EXPECT_EQ(disc.beta, 0.125);
  EXPECT_EQ(glyph_shape({0.5, 0.3, 0.2}, 0).beta, 1);
}

TEST(Glyphs, AreOneMeshOfSeparateParts) {
  std::vector<TensorAt> tensors;
  for (int i = 0; i < 50; ++i) tensors.push_back({{2.0 * i, 0, 0}, SymTensor3d::diagonal(1, 1 + 0.02 * i, 0.3)});
  tensors.push_back({{-5, 0, 0}, {}});  // background has no glyph, nor what is not finite
  tensors.push_back({{-9, 0, 0}, SymTensor3d::identity(std::numeric_limits<double>::quiet_NaN())});
  tensors.push_back({{-9, 0, 0}, SymTensor3d::identity(-1)});
  for (const int threads : {1, 3}) {
    GlyphOptions options{.size = 0.9};
    options.threads = threads;
    const ShadedMesh mesh = superquadric_glyphs(tensors, options);
    const SurfaceTopology topology = surface_topology(mesh.mesh);
    EXPECT_EQ(topology.components.size(), 50U);
    EXPECT_TRUE(topology.closed() && topology.oriented() && topology.manifold());
    for (const SurfaceComponent& part : topology.components) EXPECT_GT(part.volume, 0);
    for (const Vec3d& p : mesh.mesh.points) EXPECT_LE(norm(Vec3d{0, p.y, p.z}), 1.8);
    EXPECT_EQ(mesh.colors.size(), mesh.mesh.vertex_count());
  }
}

TEST(Glyphs, AreColouredByTheirDirection) {
  const std::vector<TensorAt> tensors{{{0, 0, 0}, SymTensor3d::diagonal(3, 1, 1)},
                                      {{5, 0, 0}, SymTensor3d::outer({0, 0.6, -0.8}, 2) + SymTensor3d::identity(0.1)}};
  const ShadedMesh mesh = superquadric_glyphs(tensors);
  EXPECT_EQ(mesh.colors.front(), (Color{255, 0, 0}));
  EXPECT_EQ(mesh.colors.back(), (Color{0, 153, 204}));
  EXPECT_EQ(direction_color({0, 0, -1}, 0.5), (Color{0, 0, 128}));
  EXPECT_EQ(direction_color({1, 0, 0}, std::numeric_limits<double>::quiet_NaN()), (Color{0, 0, 0}));
}

TEST(Glyphs, HaveLessDetailWhereThereAreMany) {
  EXPECT_EQ(glyph_sides(10, 400000), 32);
  EXPECT_EQ(glyph_sides(5000, 400000), 12);
  EXPECT_EQ(glyph_sides(1000000, 400000), 8);
  int last = 32;
  for (std::size_t n = 1; n < 100000; n = n * 2) {
    EXPECT_LE(glyph_sides(n, 400000), last);
    last = glyph_sides(n, 400000);
  }
}

TEST(Glyphs, RefusesOptionsThatMakeNoSense) {
  const auto with = [](auto change) {
    GlyphOptions options;
    change(options);
    return superquadric_glyphs({}, options);
  };
  EXPECT_THROW(with([](GlyphOptions& o) { o.size = 0; }), UsageError);
  EXPECT_THROW(with([](GlyphOptions& o) { o.sharpness = -1; }), UsageError);
  EXPECT_THROW(with([](GlyphOptions& o) { o.sides = 6; }), UsageError);
  EXPECT_THROW(with([](GlyphOptions& o) { o.min_thickness = 0; }), UsageError);
}

}  // namespace TEST_FILE
}  // namespace isochron
