// The lens model of paper 003 (Mesh 4, Speed 4).
#pragma once

#include "isochron/mesh/generate/region_model.h"

namespace isochron {

struct LensOptions {
  std::size_t n = 64;               ///< lattice vertices a side; 64 gives 265,000 vertices and 1,516,000 tetrahedra
  double extent = 1;                ///< length of a side
  double radius = 0.55;             ///< of the two spheres whose common part is the lens, as a share of the extent
  double thickness = 0.25;          ///< of the lens along x, as a share of the extent
  double refractive_index = 2.419;  ///< inside; the speed there is one over it
  double jitter = 0.1;
  std::uint64_t seed = 1;
};

/// A biconvex lens in the middle of a cube of air: its axis is x, region 1 is the lens. Paper 003 has 260,908 vertices
/// and 1,561,642 tetrahedra. Throws UsageError when an option is out of range.
RegionModel generate_lens(const LensOptions& options);

}  // namespace isochron
