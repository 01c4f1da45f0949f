// Which source a front came from, as shares. Where two fronts run side by side a vertex has its time from vertices of
// both; passing on one label of them would follow the mesh's edges, shares of both follow the front. For host and
// device.
#pragma once

#include <cmath>
#include <cstdint>

#include "isochron/types.h"

namespace isochron {

/// The two labels of the largest shares. Their shares add up to one; labels are ≥ 0, and negative ones are none.
struct LabelMix {
  std::int32_t first = -1, second = -1;
  float second_share = 0;  ///< at most a half
};

namespace detail {

/// The shares of labels while they are added up.
template <int Most>
struct LabelShares {
  int count = 0;
  std::int32_t label[Most] = {};
  float share[Most] = {};

  ISOCHRON_HD void add(std::int32_t one, float more) {
    for (int k = 0; k < count; ++k)
      if (label[k] == one) {
        share[k] += more;
        return;
      }
    label[count] = one;
    share[count++] = more;
  }
  /// Of labels with the same share the lower one comes first.
  [[nodiscard]] ISOCHRON_HD bool before(int a, int b) const {
    return share[a] > share[b] || (share[a] == share[b] && label[a] < label[b]);
  }
};

}  // namespace detail

/// The mix of several, `count` of them and not more than `Most`, with weights of any sum. Shares are rounded, so that
/// what is symmetric does not depend on the order of additions, and traces of a label end.
template <int Most>
ISOCHRON_HD LabelMix blend(const LabelMix (&mixes)[Most], const float (&weights)[Most], int count) {
  detail::LabelShares<2 * Most> sum;
  for (int k = 0; k < count; ++k) {
    sum.add(mixes[k].first, weights[k] * (1 - mixes[k].second_share));
    if (mixes[k].second >= 0) sum.add(mixes[k].second, weights[k] * mixes[k].second_share);
  }
  if (sum.count == 1) return {sum.label[0], -1, 0};
  int first = 0, second = 1;
  if (sum.before(1, 0)) first = 1, second = 0;
  for (int k = 2; k < sum.count; ++k) {
    if (!sum.before(k, second)) continue;
    second = k;
    if (!sum.before(k, first)) continue;
    second = first;
    first = k;
  }
  constexpr float parts = 65536;
  const float share = std::floor(sum.share[second] / (sum.share[first] + sum.share[second]) * parts + 0.5F) / parts;
  if (!(share > 0)) return {sum.label[first], -1, 0};
  if (share == 0.5F && sum.label[second] < sum.label[first]) return {sum.label[second], sum.label[first], share};
  return {sum.label[first], sum.label[second], share};
}

}  // namespace isochron
