// Numbers of the grids' GPU schedule, by compute capability.
#pragma once

#include <cstddef>

#include "isochron/device.h"

namespace isochron::cuda {

struct GridTuning {
  int major;               ///< from this compute capability on
  int few_blocks, blocks;  ///< thread blocks a multiprocessor, at most: with few cells (of all layers), and with many
  std::size_t few_cells;   ///< so many are few
  double width;          ///< where the metric varies: cells later than the earliest by so many mean shortest steps wait
  double min_box_share;  ///< cells are numbered as in the box when at least this share of it is allowed
};

inline constexpr GridTuning grid_tunings[] = {{8, 1, 2, 1500000, 24, 0.5}, {9, 1, 2, 1500000, 24, 0.5}};

inline GridTuning grid_tuning(const Device& device) {
  GridTuning best = grid_tunings[0];
  for (const GridTuning& tuning : grid_tunings)
    if (tuning.major <= device.major) best = tuning;
  return best;
}

}  // namespace isochron::cuda
