// From seeds to what a schedule starts with: each vertex once, times from zero on in internal units.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "isochron/solve/common/seed.h"

namespace isochron {

struct StartSeed {
  VertexId vertex;
  double time = 0;  ///< internal units, from `base` on
  std::int32_t source = -1;
};

struct StartSeeds {
  std::vector<StartSeed> seeds;  ///< in the order they were given, the earliest of each vertex
  double base = 0;               ///< user's time that is 0 inside
};

/// Times are counted from the earliest seed on, or from `latest_base` when that is before it. Throws InputError when a
/// time cannot be held in T.
template <class T>
StartSeeds make_start_seeds(const std::vector<Seed>& seeds, double unit,
                            double latest_base = std::numeric_limits<double>::infinity());

/// Returns it, or throws UsageError when it is not a share of an edge.
double checked_tolerance(double tolerance);

/// What the user is told when the edges' travel times do not fit single precision.
std::string precision_note(double shortest, double longest);

}  // namespace isochron
