// Coordinates and M of a problem's tetrahedra: what paper 001's old code kept in place of lengths.
#pragma once

#include <vector>

#include "isochron/solve/simplex/pull_candidate.h"

namespace isochron {

template <class T>
struct CoordinateStorage {
  std::vector<MetricRecord<T>> records;  ///< by element of the problem
  std::vector<Vec3<T>> points;           ///< by vertex of the problem
};

/// Precondition: `apply_metric` has given the problem this metric.
template <class T>
CoordinateStorage<T> coordinates_of(const SimplexProblem<T, 4>& problem, const TetMesh& mesh, const Metric& metric);

}  // namespace isochron
