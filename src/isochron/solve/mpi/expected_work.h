// How often a solve will process each vertex, guessed from times that are known roughly.
#pragma once

#include <span>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/metric/metric.h"

namespace isochron::mpi {

/// By vertex, 1 where once is enough.
std::vector<float> expected_work(const TetMesh& mesh, const Metric& metric, std::span<const double> times, int threads);
/// Obtuse corners of triangles are split, so that hardly a vertex is processed twice.
std::vector<float> expected_work(const TriangleMesh& mesh, const Metric& metric, std::span<const double> times,
                                 int threads);

}  // namespace isochron::mpi
