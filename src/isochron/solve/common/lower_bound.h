// A check of times that knows nothing of elements and updates: no front is faster than the largest speed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/seed.h"
#include "isochron/types.h"

namespace isochron {

/// Where the vertices or voxels lie (user's numbering), and the least time that any unit of length takes.
struct BoundGeometry {
  std::function<Vec3d(std::size_t)> position;
  double slowness = 0;
};

/// Bounds times from below by straight lines at the largest speed. The bound is convex and not above any seed's time,
/// so that interpolated times keep to it as exact ones do: an update of first order from times above it gives one above
/// it.
/// Of a source between its seeds, which the updates know of, `onset` is the time. Seeds of the ball
/// around a vertex are results, not given: the bound holds for them too.
class LowerBound {
 public:
  LowerBound(const BoundGeometry& geometry, std::span<const Seed> seeds, std::optional<double> onset = {})
      : slowness_(geometry.slowness) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    earliest_ = infinity;
    low_ = {infinity, infinity, infinity};
    high_ = -low_;
    for (const Seed& seed : seeds) {
      if (seed.kind == SeedKind::ball) continue;
      const Vec3d p = geometry.position(seed.vertex.index());
      for (int k = 0; k < 3; ++k) {
        low_[k] = std::min(low_[k], p[k]);
        high_[k] = std::max(high_[k], p[k]);
      }
      if (seed.time < earliest_) earliest_ = seed.time, centre_ = p;
    }
    at_centre_ = onset ? -infinity : infinity;
    if (onset) earliest_ = std::min(earliest_, *onset);
    for (const Seed& seed : seeds)
      if (seed.kind != SeedKind::ball)
        at_centre_ =
            std::min(at_centre_, seed.time - slowness_ * norm(geometry.position(seed.vertex.index()) - centre_));
  }

  /// Of the earliest seed; no time is before it.
  [[nodiscard]] double earliest() const { return earliest_; }

  [[nodiscard]] double at(const Vec3d& p) const {
    Vec3d beyond{};
    for (int k = 0; k < 3; ++k) beyond[k] = std::max({low_[k] - p[k], p[k] - high_[k], 0.0});
    // Rounded down: at a seed that is what the cone lies on, the two cancel.
    constexpr double rounded_down = 1 - 1e-12;
    return std::max(earliest_ + slowness_ * norm(beyond), at_centre_ + rounded_down * slowness_ * norm(p - centre_));
  }

 private:
  double slowness_;
  double earliest_;
  Vec3d low_, high_;  ///< the box of all seeds
  Vec3d centre_;      ///< the earliest seed
  double at_centre_;  ///< of the cone around it that lies below all seeds
};

/// By what share times may lie below the bound. Rounding is all there is where updates are monotone and in the mesh;
/// differences of second order, factored sources and virtual elements on curved surfaces may be off by more.
constexpr double max_share_below(bool monotone) { return monotone ? 1e-3 : 0.25; }

/// See `LowerBound`. Adds to `residual` the largest share by which a time lies below the bound.
inline void check_lower_bound(const BoundGeometry& geometry, std::span<const Seed> seeds, std::span<const double> times,
                              std::optional<double> onset, double max_share, Residual& residual) {
  residual.max_share_below = max_share;
  if (seeds.empty() || !(geometry.slowness > 0)) return;
  const LowerBound bound(geometry, seeds, onset);
  double latest = bound.earliest();
  for (const double time : times)
    if (std::isfinite(time)) latest = std::max(latest, time);
  const double rounding = 1e-6 * (latest - bound.earliest()) + 1e-12 * std::abs(bound.earliest());
  const StoppableLoop loop;
  loop(0, times.size(), [&](std::size_t v) {
    const double least = bound.at(geometry.position(v)) - bound.earliest();
    const double share = (least - (times[v] - bound.earliest()) - rounding) / least;
    if (!(least > 0) || !(share > residual.share_below)) return;
    residual.share_below = share;
    residual.vertex_below = GlobalVertexId(v);
  });
}

}  // namespace isochron
