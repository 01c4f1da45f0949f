// Random speeds, tensors and directions, correlated over a mesh.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

struct RandomFieldOptions {
  int smoothing = 10;  ///< steps of Laplacian smoothing; 0: white noise
  std::uint64_t seed = 1;
};

/// The interval of eigenvalues or speeds, 0 < low ≤ high.
struct ValueRange {
  double low = 0.1;
  double high = 1;
};

/// Gaussian white noise at the vertices, smoothed and then brought to mean 0 and deviation 1; one value per vertex.
/// Each step is u ← (u + m)/2 with m the mean over the other corners of the vertex's elements, an umbrella Laplacian
/// (paper 000 section 3.3.1).
template <int Corners>
std::vector<double> smoothed_noise(const SimplexMesh<Corners>& mesh, const RandomFieldOptions& options);

/// Speed 2 of paper 000: smoothed noise mapped into the range so that at a vertex every value is about equally likely,
/// averaged to one speed per element. Throws UsageError for an empty range.
template <int Corners>
std::vector<double> random_speed(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                 const RandomFieldOptions& options);

/// Speed 3 of paper 003: one symmetric positive-definite tensor per element, eigenvalues in the range and axes in any
/// direction, both from smoothed noise. Throws UsageError for an empty range.
template <int Corners>
std::vector<SymTensor3f> random_tensors(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                        const RandomFieldOptions& options);

/// One independent, uniformly distributed unit vector per element, in the plane of the element for triangles.
template <int Corners>
std::vector<Vec3f> random_fibers(const SimplexMesh<Corners>& mesh, std::uint64_t seed);

/// Unit vectors (cos θ, sin θ, 0) with θ growing by `turns` revolutions along one axis (0, 1, 2) over the bounding box,
/// projected into the element for triangles.
template <int Corners>
std::vector<Vec3f> rotating_fibers(const SimplexMesh<Corners>& mesh, double turns, int axis);

}  // namespace isochron
