// One rank's part of an image in the memory of its GPU. This header needs no CUDA.
#pragma once

#include <memory>

#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/ranks/cuda/device_part.h"

namespace isochron::ranks {

/// As `make_device_part`; vertices are the cells of the part, numbered as in its box, and those that are no ghosts are
/// its own.
template <class Problem>
std::unique_ptr<DevicePart<typename Problem::Scalar>> make_device_grid_part(const Problem& problem, const Halo& halo);

}  // namespace isochron::ranks
