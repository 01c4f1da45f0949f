// What a path runs through: its length, the tensors and the cost along it.
#pragma once

#include <span>
#include <vector>

#include "isochron/connect/tensor_field.h"
#include "isochron/metric/metric.h"

namespace isochron {

/// The path at one of its points.
struct PathSample {
  Vec3d position;
  double distance = 0;     ///< along the path from its beginning
  double anisotropy = 0;   ///< fractional anisotropy of the interpolated tensor; NaN where there is none
  double diffusivity = 0;  ///< mean diffusivity of the interpolated tensor; NaN where there is none
  double local_cost = 0;   ///< cost per length of the pieces beside it: √(tᵀ M t) of a piece's unit tangent t
};

struct PathStatistics {
  double length = 0;           ///< in the world's unit
  double mean_anisotropy = 0;  ///< averages along the path, each piece with its length; NaN for a path of one point
  double mean_diffusivity = 0;
  double min_anisotropy = 0;
  double cost = 0;                  ///< the local cost summed up along the path
  double cost_density = 0;          ///< cost / length; 0 for a path of one point
  std::vector<PathSample> profile;  ///< at every point of the path
};

/// Looks at a path of at least one point. `metric` has an M per voxel.
PathStatistics path_statistics(std::span<const Vec3d> path, const TensorField& field, const Metric& metric);

}  // namespace isochron
