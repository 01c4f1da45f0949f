// Selling's decomposition of a symmetric positive definite tensor into integer directions with weights ≥ 0:
// D = Σ ρ_i e_i e_iᵀ, three terms in the plane and six in space. It is what makes the grid's upwind differences
// monotone and causal at any anisotropy (J.-M. Mirebeau, Riemannian fast marching on Cartesian grids using Voronoi's
// first reduction of quadratic forms, 2019). For host and device.
#pragma once

#include "isochron/types.h"

namespace isochron {

/// The terms of a decomposition. Those of weight 0 have a direction too, which need not be used.
template <int Count>
struct SellingTerms {
  Vec3i offset[Count];
  double weight[Count];
};

namespace selling {

/// Four vectors that sum to zero and six products b_iᵀ D b_j; `product[k]` belongs to the pair `pair(k)`.
struct Superbase {
  Vec3i b[4];
  double product[6];
};

/// The pairs of 0…3 in the order of `Superbase::product`, and behind each the two numbers it leaves.
struct Pair {
  int i, j, k, l;
};
ISOCHRON_HD constexpr Pair pair(int place) {
  constexpr Pair pairs[6] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}, {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
  return pairs[place];
}
ISOCHRON_HD constexpr int place_of(int i, int j) {
  const int low = i < j ? i : j, high = i < j ? j : i;
  return low == 0 ? high - 1 : low + high;
}

/// Replaces b by (−b_i, b_j, b_i+b_k, b_i+b_l), which has the product of i and j negated. The other products follow by
/// additions.
ISOCHRON_HD inline void flip(Superbase& base, int place) {
  const Pair q = pair(place);
  double* p = base.product;
  const double value = p[place];
  const int ik = place_of(q.i, q.k), il = place_of(q.i, q.l), jk = place_of(q.j, q.k), jl = place_of(q.j, q.l);
  const double before_ik = p[ik];
  p[place] = -value;
  p[ik] = value + p[il];
  p[il] = value + before_ik;
  p[jk] += value;
  p[jl] += value;
  p[place_of(q.k, q.l)] -= value;
  base.b[q.k] += base.b[q.i];
  base.b[q.l] += base.b[q.i];
  base.b[q.i] = -base.b[q.i];
}

}  // namespace selling

/// Flips before a decomposition counts as reduced; needed are about as many as the ratio of the semi-axes.
inline constexpr int max_selling_flips = 1 << 20;

/// The decomposition in space. D must be positive definite (up to a condition number of about 1e12).
ISOCHRON_HD inline SellingTerms<6> selling_terms(const SymTensor3d& d) {
  selling::Superbase base{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, -1, -1}}, {}};
  base.product[0] = d.xy;
  base.product[1] = d.xz;
  base.product[2] = -(d.xx + d.xy + d.xz);
  base.product[3] = d.yz;
  base.product[4] = -(d.xy + d.yy + d.yz);
  base.product[5] = -(d.xz + d.yz + d.zz);
  // Products this small are rounding; flipping on them could go round in circles.
  const double rounding = 1e-15 * (d.xx + d.yy + d.zz);
  for (int flips = 0; flips < max_selling_flips; ++flips) {
    int largest = 0;
    for (int k = 1; k < 6; ++k)
      if (base.product[k] > base.product[largest]) largest = k;
    if (!(base.product[largest] > rounding)) break;
    selling::flip(base, largest);
  }
  SellingTerms<6> terms;
  for (int k = 0; k < 6; ++k) {
    const selling::Pair q = selling::pair(k);
    terms.offset[k] = cross(base.b[q.k], base.b[q.l]);
    terms.weight[k] = base.product[k] < -rounding ? -base.product[k] : 0;
  }
  return terms;
}

/// The decomposition in the plane of the first two axes: of the block xx, xy, yy.
ISOCHRON_HD inline SellingTerms<3> selling_terms_flat(double xx, double xy, double yy) {
  Vec3i b[3] = {{1, 0, 0}, {0, 1, 0}, {-1, -1, 0}};
  double p[3] = {-(xy + yy), -(xx + xy), xy};  // p[k] belongs to the pair that leaves k out
  const double rounding = 1e-15 * (xx + yy);
  for (int flips = 0; flips < max_selling_flips; ++flips) {
    int k = 0;
    for (int candidate = 1; candidate < 3; ++candidate)
      if (p[candidate] > p[k]) k = candidate;
    if (!(p[k] > rounding)) break;
    // (b_i, b_j, b_k) becomes (−b_i, b_j, b_i − b_j).
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double value = p[k];
    p[i] += 2 * value;
    p[j] += 2 * value;
    p[k] = -value;
    b[k] = b[i] - b[j];
    b[i] = -b[i];
  }
  SellingTerms<3> terms;
  for (int k = 0; k < 3; ++k) {
    terms.offset[k] = {-b[k].y, b[k].x, 0};
    terms.weight[k] = p[k] < -rounding ? -p[k] : 0;
  }
  return terms;
}

}  // namespace isochron
