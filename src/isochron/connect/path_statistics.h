// What a path runs through (its length, the tensors and the cost along it), also as data for files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isochron/connect/tensor_field.h"
#include "isochron/mesh/dataset.h"
#include "isochron/metric/metric.h"
#include "isochron/trace/path.h"

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

/// Adds a line with points of its own.
void add_line(Dataset& dataset, std::span<const Vec3d> points);

/// The path as one line with point arrays "distance", "fa", "md", "local_cost" and "cost". `statistics` are those of
/// its points.
Dataset path_dataset(const Path& path, const PathStatistics& statistics);

/// The same as a table with a row for each point, under a line of names; what is not known is left empty.
std::string profile_csv(const Path& path, const PathStatistics& statistics);

}  // namespace isochron
