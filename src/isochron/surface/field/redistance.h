// Signed distances to the zero set of values on a lattice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/options.h"
#include "isochron/progress.h"
#include "isochron/surface.h"

namespace isochron {

/// Threads for passes over a lattice when so many are asked for (0: all cores). They are bound by memory: 16 threads of
/// one machine took a third longer than 8.
inline int field_threads(int wanted) { return std::min(wanted > 0 ? wanted : hardware_threads(), 8); }

/// How the equations are solved.
struct MarchOptions {
  int threads = 1;
  Backend backend = Backend::automatic;
};

/// Distances of the lattice points to where the cubic spline through `level` is zero, with the sign of `level` (zero
/// counts as positive). Up to some three voxels from the surface the closest point is searched on the spline itself;
/// where it is not clear (kinks, features under a voxel) and farther away, the eikonal equation is solved at second
/// order from those distances. Farther than `reach` (a length; infinity for none) all values are ±reach.
/// Needs values of both signs, at least 2 points along each axis. Throws Cancelled.
std::vector<float> signed_distance(const Lattice& lattice, std::span<const float> level, double reach,
                                   const MarchOptions& options, const Progress& progress);

/// Where a front starts on a lattice, and when.
struct StartPoints {
  std::vector<std::uint32_t> points;
  std::vector<float> times;

  void add(std::size_t point, float time) {
    points.push_back(static_cast<std::uint32_t>(point));
    times.push_back(time);
  }
};

/// First arrivals on a lattice at the same speed everywhere; +inf where `mask` (one value per point) is 0. `order` is 1
/// or 2.
std::vector<float> arrivals(const Lattice& lattice, const StartPoints& start, std::span<const std::uint8_t> mask,
                            double speed, int order, const MarchOptions& options, const Progress& progress);

}  // namespace isochron
