// Coordinates in which a constant metric is the ordinary one.
#pragma once

#include <array>
#include <cmath>

#include "isochron/types.h"

namespace isochron {

/// Maps x to Lᵀ(x − origin), where M = L Lᵀ (Cholesky): straight-line travel times become lengths. M must be positive
/// definite. `Real` is a number, or one with its derivatives.
template <class Real>
class MetricFrameOf {
  using Vec = Vec3<Real>;

 public:
  MetricFrameOf(SymTensor3<Real> m, Vec origin) : origin_(origin) {
    const auto root = [](const Real& square) {
      using std::sqrt;
      return sqrt(square < 0 ? Real(0) : square);
    };
    a_ = root(m.xx);
    b_ = m.xy / a_;
    c_ = m.xz / a_;
    d_ = root(m.yy - b_ * b_);
    e_ = (m.yz - b_ * c_) / d_;
    f_ = root(m.zz - c_ * c_ - e_ * e_);
  }

  [[nodiscard]] Vec map(Vec x) const {
    const Vec r = x - origin_;
    return {a_ * r.x + b_ * r.y + c_ * r.z, d_ * r.y + e_ * r.z, f_ * r.z};
  }
  template <std::size_t N>
  [[nodiscard]] std::array<Vec, N> map(std::array<Vec, N> x) const {
    for (Vec& p : x) p = map(p);
    return x;
  }

 private:
  Vec origin_;
  Real a_, b_, c_, d_, e_, f_;
};
using MetricFrame = MetricFrameOf<double>;

}  // namespace isochron
