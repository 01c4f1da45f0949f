// Which corners of an element are not acute in its metric.
#pragma once

#include "isochron/mesh.h"
#include "isochron/types.h"

namespace isochron {

/// Bit k is set when corner k is not acute in the metric: some product of two of its edges is clearly negative.
/// `length` are the squared lengths in the order of `edge_corners`.
template <int Corners>
ISOCHRON_HD inline unsigned obtuse_mask(const double* length) {
  constexpr double rounding = 1e-6;  // right angles of lattices count as acute
  const auto obtuse = [length](int k, int a, int b) {
    const double sum = length[edge_index(k, a)] + length[edge_index(k, b)];
    return sum * (1 + rounding) < length[edge_index(a, b)];
  };
  unsigned mask = 0;
  for (int k = 0; k < Corners; ++k) {
    const int a = (k + 1) % Corners, b = (k + 2) % Corners, c = (k + 3) % Corners;
    bool any = obtuse(k, a, b);
    if constexpr (Corners == 4) any = any || obtuse(k, a, c) || obtuse(k, b, c);
    mask |= static_cast<unsigned>(any) << k;
  }
  return mask;
}

}  // namespace isochron
