// Geodesic distance on a surface from two points, and which of them is nearer: Voronoi regions on a sphere.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "isochron/generate.h"
#include "isochron/solver.h"

int main() {
  using namespace isochron;
  const TriangleMesh sphere = generate_sphere({.frequency = 40, .radius = 1});

  Sources poles;
  poles.points.push_back({{0, 0, 1}, 0});
  poles.points.push_back({{0, 0, -1}, 0});
  const Arrival distance = solve(sphere, Metric::isotropic(1), poles);

  std::size_t north = 0;
  double worst = 0;
  for (std::size_t v = 0; v < sphere.vertex_count(); ++v) {
    north += distance.source[v] == 0 ? 1 : 0;
    worst = std::max(worst, std::abs(distance.times[v] - std::acos(std::abs(sphere.points[v].z))));
  }
  const double share = static_cast<double>(north) / static_cast<double>(sphere.vertex_count());
  std::printf("%.1f %% of the sphere is nearer to the north pole; largest error %.4f of the radius\n", 100 * share,
              worst);
  return std::abs(share - 0.5) < 0.02 && worst < 0.03 ? 0 : 1;
}
