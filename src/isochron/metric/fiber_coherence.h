// Do the principal directions of a tensor image continue one another? Finds axes that were mixed up on the way.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/tensor_frame.h"

namespace isochron {

/// One way in which the tensors' axes could have been meant.
struct AxesCandidate {
  std::string name;      ///< "as given", "x negated", …, "frame voxel"
  double coherence = 0;  ///< from 0 to 1
};

struct FiberCoherence {
  std::size_t voxels = 0;                 ///< that were looked at: anisotropic ones
  std::vector<AxesCandidate> candidates;  ///< the first is "as given"

  /// The best other candidate where it is better by more than chance allows; else null.
  [[nodiscard]] const AxesCandidate* better() const;
};

/// From every voxel of fractional anisotropy above `min_anisotropy` (and at most 1) one step is made, both ways, to
/// the neighbour that lies most nearly along the principal direction, as each candidate understands it. The coherence
/// is the mean |cosine| between the two principal directions, weighted by the anisotropy; a neighbour without a
/// direction counts as 0. Fibres are longer than voxels, so the right candidate has the highest value (after Schilling
/// et al., A fiber coherence index for quality control of B-table orientation in diffusion MRI scans, 2019). `tensors`
/// has one tensor per voxel, in the world if `given` was their frame; candidates are that with an axis negated, and the
/// others.
FiberCoherence fiber_coherence(const ImageGrid& grid, std::span<const SymTensor3d> tensors,
                               TensorFrame given = TensorFrame::world, double min_anisotropy = 0.25);

}  // namespace isochron
