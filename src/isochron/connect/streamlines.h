// Deterministic streamline tracking, to compare with optimal paths (paper 004, Fig. 9).
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/connect/region.h"
#include "isochron/connect/tensor_field.h"

namespace isochron {

struct StreamlineOptions {
  double step = 0.5;             ///< in voxels (of the smallest spacing)
  double min_anisotropy = 0.15;  ///< tracking ends where the fractional anisotropy is below
  double largest_angle = 45;     ///< and where the direction turns by more degrees from one step to the next
  double shortest = 0;           ///< shorter streamlines are dropped, in the world's unit
  double longest = 0;            ///< tracking ends there; 0: twice the diagonal of the image
  int seeds_per_axis = 2;        ///< of each voxel: n³ seeds on a lattice inside it
  int threads = 1;
};

struct Streamline {
  std::vector<Vec3d> points;  ///< at least two
  bool reaches = false;       ///< one of its points is in a voxel of the target
};

struct Streamlines {
  std::vector<Streamline> lines;  ///< those that reach the target first, otherwise in the order of the seeds
  std::size_t seeds = 0;
  std::size_t reaching = 0;
};

/// Follows the principal direction of the linearly interpolated tensor both ways from seeds in the voxels of `from`,
/// by Runge and Kutta's fourth-order steps; ends at the border of the mask and where `options` say. Seeds where
/// tracking cannot start give no line. Throws UsageError for options out of range.
Streamlines track_streamlines(const TensorField& field, const Region& from, const Region& target,
                              const StreamlineOptions& options = {});

}  // namespace isochron
