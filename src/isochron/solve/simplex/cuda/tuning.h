// Numbers of the GPU schedules that were found by measuring (bench/NOTES.md), by compute capability.
#pragma once

#include <cstdint>

#include "isochron/device.h"

namespace isochron::cuda {

/// Of the pushes through tetrahedra.
struct PushTuning {
  int major;                     ///< from this compute capability on
  int blocks;                    ///< thread blocks a multiprocessor, at most
  double width;                  ///< vertices later than the earliest by this many mean edge travel times wait
  std::uint32_t max_rounds = 0;  ///< 0: as many as theory says (`max_rounds`)
};

/// Measured on 9.0; 8.x takes over its numbers.
inline constexpr PushTuning push_tunings[] = {{8, 2, 5}, {9, 2, 5}};

inline PushTuning push_tuning(const Device& device) {
  PushTuning best = push_tunings[0];
  for (const PushTuning& tuning : push_tunings)
    if (tuning.major <= device.major) best = tuning;
  return best;
}

}  // namespace isochron::cuda
