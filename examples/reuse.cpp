// One mesh, many questions: a Solver keeps what can be prepared once and takes new sources and new metrics.
#include <cstdio>

#include "isochron/generate.h"
#include "isochron/solver.h"

int main() {
  using namespace isochron;
  const TetMesh box = generate_cube({.nx = 25, .ny = 25, .nz = 25, .extent = {24, 24, 24}});
  const Metric water = Metric::isotropic(1.5), rock = Metric::isotropic(4.5);

  Solver solver({box, water}, {});
  double last_in_water = 0;
  for (const std::size_t corner : {std::size_t{0}, box.vertex_count() - 1}) {
    Sources shot;
    shot.vertices.push_back({VertexId(corner), 0});
    last_in_water = solver.solve(shot).max_time;
    std::printf("shot at vertex %zu: last arrival %.3f\n", corner, last_in_water);
  }
  solver.set_metric(rock);
  Sources shot;
  shot.vertices.push_back({VertexId(0), 0});
  const double last_in_rock = solver.solve(shot).max_time;
  std::printf("three times faster: last arrival %.3f\n", last_in_rock);
  return last_in_rock > 0.3 * last_in_water && last_in_rock < 0.37 * last_in_water ? 0 : 1;
}
