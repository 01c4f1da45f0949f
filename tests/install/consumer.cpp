// How far is the far corner of a unit square from its origin? Answers 1.41.
#include <cstdio>

#include "isochron/solver.h"

int main() {
  using isochron::VertexId;
  isochron::TriangleMesh square;
  square.points = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  square.elements = {{VertexId(0), VertexId(1), VertexId(2)}, {VertexId(0), VertexId(2), VertexId(3)}};
  isochron::Sources sources;
  sources.vertices = {{VertexId(0), 0.0}};
  const isochron::Arrival arrival = isochron::solve(square, isochron::Metric::isotropic(1.0), sources);
  std::printf("arrival at the far corner: %.2f\n", arrival.times[2]);
}
