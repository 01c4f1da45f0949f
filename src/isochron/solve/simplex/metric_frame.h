// Coordinates in which a constant metric is the ordinary one.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "isochron/types.h"

namespace isochron {

/// Maps x to Lᵀ(x − origin), where M = L Lᵀ (Cholesky): straight-line travel times become lengths. M must be positive
/// definite.
class MetricFrame {
 public:
  MetricFrame(SymTensor3d m, Vec3d origin) : origin_(origin) {
    const auto root = [](double square) { return std::sqrt(std::max(square, 0.0)); };
    a_ = root(m.xx);
    b_ = m.xy / a_;
    c_ = m.xz / a_;
    d_ = root(m.yy - b_ * b_);
    e_ = (m.yz - b_ * c_) / d_;
    f_ = root(m.zz - c_ * c_ - e_ * e_);
  }

  [[nodiscard]] Vec3d map(Vec3d x) const {
    const Vec3d r = x - origin_;
    return {a_ * r.x + b_ * r.y + c_ * r.z, d_ * r.y + e_ * r.z, f_ * r.z};
  }
  template <std::size_t N>
  [[nodiscard]] std::array<Vec3d, N> map(std::array<Vec3d, N> x) const {
    for (Vec3d& p : x) p = map(p);
    return x;
  }

 private:
  Vec3d origin_;
  double a_, b_, c_, d_, e_, f_;
};

}  // namespace isochron
