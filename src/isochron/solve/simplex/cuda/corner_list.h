// The corners of an element as the device stores them.
#pragma once

#include <cstdint>

namespace isochron::cuda {

template <int Corners>
struct CornerList {
  std::uint32_t corner[Corners];
};

}  // namespace isochron::cuda
