// One mesh over several processes: mpirun -n 2 example_ranks. Rank 0 has the mesh and gets the times.
#include <cmath>
#include <cstdio>

#include "isochron/communicator.h"
#include "isochron/generate.h"
#include "isochron/solver.h"

int main() {
  using namespace isochron;
  const auto ranks = mpi::join_world();
  const bool first = ranks->rank() == 0;

  TetMesh box;
  const Metric metric = Metric::isotropic(1.5);
  if (first) box = generate_cube({.nx = 25, .ny = 25, .nz = 25, .extent = {24, 24, 24}});

  Sources shot;
  shot.vertices.push_back({VertexId(0), 0});  // a corner of the box
  SolveOptions options;
  options.backend = Backend::mpi;
  Solver solver(first ? Domain(box, metric) : Domain(), options, *ranks);
  const Arrival arrival = solver.solve(shot);
  if (!first) return 0;

  const double exact = std::sqrt(3.0) * 24 / 1.5;  // at the opposite corner
  std::printf("%d ranks, %zu vertices: the last arrival is at %.3f (exact: %.3f)\n", ranks->size(), box.vertex_count(),
              arrival.max_time, exact);
  return std::abs(arrival.max_time / exact - 1) < 0.05 ? 0 : 1;
}
