#include "isochron/surface/particles/seeds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>

#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/step.h"

namespace isochron {
namespace {

// Particles that each triangle's area and size ask for.
std::vector<double> expected_by_triangle(const TriangleMesh& surface, const SizeField& sizes) {
  std::vector<double> expected(surface.element_count());
  const SizeView<double> size = sizes.view();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const auto& corners = surface.elements[t];
    const Vec3d a = surface.point(corners[0]), b = surface.point(corners[1]), c = surface.point(corners[2]);
    const double h = size.size((a + b + c) / 3.0);
    if (!(h > 0)) throw InputError("a size is not positive (edge lengths must be); check the sizing field");
    expected[t] = ideal_density * 0.5 * norm(cross(b - a, c - a)) / (h * h);
  }
  return expected;
}

Vec3d random_point(const TriangleMesh& surface, std::size_t triangle, Random& random) {
  const auto& corners = surface.elements[triangle];
  const double root = std::sqrt(random.uniform()), part = random.uniform();
  return (1 - root) * surface.point(corners[0]) + (root * (1 - part)) * surface.point(corners[1]) +
         (root * part) * surface.point(corners[2]);
}

}  // namespace

std::vector<Vec3d> surface_seeds(const TriangleMesh& surface, const SplineField& distance, const SizeField& sizes,
                                 const SeedOptions& options) {
  if (surface.element_count() == 0) {
    throw InputError("the surface is empty (the field has no zero in the image); check the isovalue");
  }
  std::vector<double> wanted = expected_by_triangle(surface, sizes);
  const double total = std::accumulate(wanted.begin(), wanted.end(), 0.0);
  const double scale = options.count > 0 ? static_cast<double>(options.count) / total : 1.0;
  if (!(total * scale <= static_cast<double>(options.most))) {
    throw InputError(fmt::format("the sizes ask for {:.3g} particles (at most {} are made); ask for larger sizes",
                                 total * scale, options.most));
  }
  const SurfaceTopology topology = surface_topology(surface);
  std::vector<double> by_component(topology.components.size(), 0.0);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    wanted[t] *= scale;
    if (topology.component_of[t] != SurfaceTopology::no_component) by_component[topology.component_of[t]] += wanted[t];
  }
  // A running sum for each component puts a seed wherever it passes a whole number.
  std::vector<double> sums(by_component.size(), 0.5);
  std::vector<Vec3d> seeds;
  Random random(options.seed);
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    const std::uint32_t component = topology.component_of[t];
    if (component == SurfaceTopology::no_component || !(by_component[component] > 0)) continue;
    const double least = static_cast<double>(options.fewest) + 1e-9;
    double& sum = sums[component];
    sum += wanted[t] * std::max(1.0, least / by_component[component]);
    for (; sum >= 1; sum -= 1) seeds.push_back(random_point(surface, t, random));
  }
  const Vec3d spacing = distance.lattice().spacing;
  const double farthest = std::max({spacing.x, spacing.y, spacing.z});
  parallel_for(options.threads, seeds.size(), [&](std::size_t i) {
    const Projection<double> landed = project(distance.view(), seeds[i], farthest, 1e-3 * farthest, 8);
    if (landed.reached) seeds[i] = landed.position;
  });
  return seeds;
}

}  // namespace isochron
