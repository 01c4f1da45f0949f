// The blobs ("lava lamp") model of paper 003 (Mesh 5, Speed 5).
#pragma once

#include "isochron/mesh/generate/region_model.h"

namespace isochron {

struct BlobsOptions {
  std::size_t n = 74;        ///< lattice vertices a side; 74 gives 416,000 vertices and 2,388,000 tetrahedra
  double extent = 1;         ///< length of a side
  std::size_t blobs = 12;    ///< balls that melt together where they are close
  double speed_outside = 1;  ///< region 0
  double speed_inside = 10;  ///< region 1, the blobs
  double jitter = 0.1;
  std::uint64_t seed = 1;
};

/// Irregular smooth regions in a cube: the set where a sum of bell functions around random centres exceeds a threshold.
/// Paper 003 has 437,355 vertices and 2,306,717 tetrahedra. Throws UsageError when an option is out of range.
RegionModel generate_blobs(const BlobsOptions& options);

}  // namespace isochron
