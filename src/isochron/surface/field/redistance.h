// Signed distances to the zero set of values on a lattice.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

/// Distances of the lattice points to where the cubic spline through `level` is zero, with the sign of `level` (zero
/// counts as positive). Up to some three voxels from the surface the closest point is searched on the spline itself;
/// where it is not clear (kinks, features under a voxel) and farther away, the eikonal equation is solved at second
/// order from those distances. Farther than `reach` (a length; infinity for none) all values are ±reach.
/// Needs values of both signs, at least 2 points along each axis. Throws Cancelled.
std::vector<float> signed_distance(const Lattice& lattice, std::span<const float> level, double reach, int threads,
                                   const Progress& progress);

/// First arrivals at unit speed on a lattice from some of its points, each with its own start time; +inf where `mask`
/// (empty, or one value per point) is 0. `order` is 1 or 2.
std::vector<float> arrivals(const Lattice& lattice, std::span<const std::uint32_t> points, std::span<const float> times,
                            std::span<const std::uint8_t> mask, double speed, int order, int threads,
                            const Progress& progress);

}  // namespace isochron
