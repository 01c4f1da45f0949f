// Products of symmetric tensors.
#pragma once

#include "isochron/types.h"

namespace isochron {

/// a b a
inline SymTensor3d sandwich(const SymTensor3d& a, const SymTensor3d& b) {
  const Vec3d columns[3] = {{a.xx, a.xy, a.xz}, {a.xy, a.yy, a.yz}, {a.xz, a.yz, a.zz}};
  const auto at = [&](int i, int j) { return product(b, columns[i], columns[j]); };
  return {at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)};
}

}  // namespace isochron
