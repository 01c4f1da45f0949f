// Activation of a ventricle with fibres from a stimulus at the apex: the cardiac modeller's first question.
#include <cstdio>

#include "isochron/generate.h"
#include "isochron/solver.h"

int main() {
  using namespace isochron;
  VentricleOptions size;
  size.edge = 2;  // mm
  Ventricle ventricle = generate_ventricle(size);

  FiberMetric fibers;
  fibers.fiber = ventricle.fiber;
  fibers.velocities = {{0.6, 0.3, 0.3}};  // mm/ms along and across

  Sources stimulus;
  stimulus.points.push_back({{0, 0, -50}, 0});  // in the wall at the apex, at 0 ms

  SolveOptions options;
  options.verify = Keep::yes;
  const Arrival arrival = solve(ventricle.mesh, Metric(fibers), stimulus, options);
  std::printf("%zu vertices, the last activates at %.1f ms; residual %.1e of an edge (%s)\n", arrival.times.size(),
              arrival.max_time, arrival.residual->worst, arrival.residual->passed() ? "passed" : "FAILED");
  return arrival.converged && arrival.unreached == 0 ? 0 : 1;
}
