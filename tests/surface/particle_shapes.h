// A ball and a ring with sizes on them and random seeds, and what particles on them look like.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/particles/relax.h"
#include "isochron/surface/particles/step.h"
#include "surface/sampled.h"

namespace isochron::particle_test {

/// A surface, the sizes on it, seeds in about the right number, and how many particles the sizes ask for.
struct Shape {
  SplineField distance;
  SizeField sizes;
  std::vector<Vec3d> seeds;
  double expected = 0;
};

/// `draw(random)` gives a point of the surface, all parts of its area being equally likely.
template <class Distance, class Size, class Draw>
Shape make_shape(const Lattice& lattice, Distance&& distance, Size&& size, double area, Draw&& draw) {
  Shape shape{SplineField(lattice, sampled(lattice, distance)), {lattice, sampled(lattice, size)}, {}, 0};
  Random random(7);
  constexpr int draws = 60000;
  double sum = 0.5;
  for (int i = 0; i < draws; ++i) {
    const Vec3d point = draw(random);
    const double h = shape.sizes.view().size(point);
    const double wanted = ideal_density * area / draws / (h * h);
    shape.expected += wanted;
    sum += wanted;
    for (; sum >= 1; sum -= 1) shape.seeds.push_back(point);
  }
  return shape;
}

inline constexpr double ball_radius = 14, ring_radius = 12, tube_radius = 5;
inline const Lattice shape_lattice{{40, 40, 40}, {1, 1, 1}};
inline const Vec3d shape_centre{19.3, 19.6, 19.1};

/// Sizes run linearly along x from `size` (1 − vary) to `size` (1 + vary) over the ball's width.
inline auto linear_size(double size, double vary) {
  return [=](Vec3d p) { return size * (1 + vary * std::clamp((p.x - shape_centre.x) / ball_radius, -1.3, 1.3)); };
}

inline Shape make_ball(double size, double vary = 0) {
  return make_shape(
      shape_lattice, [](Vec3d p) { return ball(p, shape_centre, ball_radius); }, linear_size(size, vary),
      4 * std::numbers::pi * ball_radius * ball_radius,
      [](Random& random) {
        const Vec3d d{random.normal(), random.normal(), random.normal()};
        return shape_centre + ball_radius / norm(d) * d;
      });
}

inline Shape make_ring(double size, double vary = 0) {
  const auto distance = [](Vec3d p) { return torus(p, shape_centre, ring_radius, tube_radius); };
  return make_shape(
      shape_lattice, distance, linear_size(size, vary),
      4 * std::numbers::pi * std::numbers::pi * ring_radius * tube_radius, [](Random& random) {
        for (;;) {
          const double around = random.uniform(0, 2 * std::numbers::pi);
          const double about = random.uniform(0, 2 * std::numbers::pi);
          const double out = ring_radius + tube_radius * std::cos(about);
          if (random.uniform() * (ring_radius + tube_radius) > out) continue;
          return shape_centre + Vec3d{out * std::cos(around), out * std::sin(around), tube_radius * std::sin(about)};
        }
      });
}

/// Triangles around particles, as a Delaunay triangulation of each one's neighbours in its tangent plane has them.
struct Stars {
  double mean_ratio = 0, min_ratio = 1;
  double six = 0;       ///< share of particles with six triangles
  double shortest = 0;  ///< smallest distance to another particle, in sizes
};

inline Stars examine_stars(const Particles& particles) {
  struct Near {
    double x, y;
    std::size_t id;
  };
  Stars stars;
  stars.shortest = 1e9;
  std::size_t triangles = 0, sixes = 0;
  const std::size_t count = particles.positions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const TangentPlane<double> plane(particles.normals[i]);
    std::vector<Near> near;
    for (std::size_t j = 0; j < count; ++j) {
      const Vec3d d = particles.positions[j] - particles.positions[i];
      const double length = norm(d);
      if (j == i || length > 2.4 * particles.sizes[i] || dot(particles.normals[i], particles.normals[j]) < 0) continue;
      stars.shortest = std::min(stars.shortest, length / particles.sizes[i]);
      const double x = dot(d, plane.u), y = dot(d, plane.v), stretch = length / std::hypot(x, y);
      near.push_back({stretch * x, stretch * y, j});
    }
    int around = 0;
    for (const Near& a : near) {
      for (const Near& b : near) {
        const double turn = a.x * b.y - a.y * b.x;
        if (!(turn > 1e-9)) continue;
        const double aa = a.x * a.x + a.y * a.y, bb = b.x * b.x + b.y * b.y;
        const double cx = (b.y * aa - a.y * bb) / (2 * turn), cy = (a.x * bb - b.x * aa) / (2 * turn);
        const bool empty = std::none_of(near.begin(), near.end(), [&](const Near& c) {
          return c.id != a.id && c.id != b.id &&
                 (c.x - cx) * (c.x - cx) + (c.y - cy) * (c.y - cy) < (1 - 1e-9) * (cx * cx + cy * cy);
        });
        if (!empty) continue;
        ++around;
        const double ratio =
            radius_ratio(std::array{particles.positions[i], particles.positions[a.id], particles.positions[b.id]});
        stars.mean_ratio += ratio;
        stars.min_ratio = std::min(stars.min_ratio, ratio);
      }
    }
    triangles += static_cast<std::size_t>(around);
    sixes += around == 6;
  }
  stars.mean_ratio /= static_cast<double>(triangles);
  stars.six = static_cast<double>(sixes) / static_cast<double>(count);
  return stars;
}

}  // namespace isochron::particle_test
