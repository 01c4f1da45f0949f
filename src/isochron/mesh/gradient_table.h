// How the volumes of a diffusion image were weighted.
#pragma once

#include <vector>

#include "isochron/core/vec.h"

namespace isochron {

/// One b-value and one direction per volume, as a pair of FSL files gives them: directions along the voxel axes with
/// FSL's sign rule (`TensorFrame::fsl`), of any length, zero or not finite where b is 0.
struct GradientTable {
  std::vector<double> b;  ///< s/mm²
  std::vector<Vec3d> direction;
};

}  // namespace isochron
