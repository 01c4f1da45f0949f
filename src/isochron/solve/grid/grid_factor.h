// Additive factoring on grids: near a point source the times are u₀ = √((x−s)ᵀ M₀ (x−s)) and something smooth.
// Differences of u₀ are wrong there, but their error is known, so each neighbour's time is corrected by it: seen from
// x, a neighbour y = x − e has the time u(y) + [u₀(x) − u₀(y) − ⟨∇u₀(x), e⟩]. Where the metric is constant the solution
// is exact.
#pragma once

#include <cmath>
#include <cstdint>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron {

/// Neighbours' times as they are.
struct NoFactor {
  struct At {
    template <class T>
    [[nodiscard]] ISOCHRON_ALWAYS_INLINE T one(T time, std::uint32_t, int, int) const {
      return time;
    }
    template <class T>
    [[nodiscard]] ISOCHRON_ALWAYS_INLINE T two(T near, T far, std::uint32_t, std::uint32_t, int, int) const {
      return (4 * near - far) / 3;
    }
  };
  template <class Problem>
  [[nodiscard]] At at(const Problem&, const typename Problem::Stencil&, std::uint32_t) const {
    return {};
  }
  template <class Problem, class T>
  [[nodiscard]] static bool may_depend(const Problem&, std::uint32_t, std::uint32_t, T, T) {
    return false;
  }
};

/// u₀ of one source on all cells, internal units, from the source's onset on.
class SourceTimes {
 public:
  template <class Problem>
  SourceTimes(const Problem& problem, const Vec3d& source, const SymTensor3d& metric, int threads)
      : source_(source), metric_((1 / (problem.unit * problem.unit)) * metric), time_(problem.vertex_count) {
    const GridCells& cells = *problem.cells;
    parallel_for(threads, time_.size(), [&](std::size_t cell) {
      const Vec3d way = way_to(cells.box, static_cast<std::uint32_t>(cell));
      time_[cell] = std::sqrt(squared_length(metric_, way));
    });
  }

  [[nodiscard]] double time(std::uint32_t cell) const { return time_[cell]; }
  /// ∇u₀, in voxels; nothing at the source itself.
  [[nodiscard]] Vec3d slope(const GridBox& box, std::uint32_t cell) const {
    const double time = time_[cell];
    return time > 0 ? (metric_ * way_to(box, cell)) / time : Vec3d{};
  }
  [[nodiscard]] Vec3d way_to(const GridBox& box, std::uint32_t cell) const {
    const Vec3i at = box.index(cell);
    return Vec3d{static_cast<double>(at.x), static_cast<double>(at.y), static_cast<double>(at.z)} - source_;
  }

 private:
  Vec3d source_;
  SymTensor3d metric_;
  BigVector<double> time_;
};

/// Corrections by a source's u₀. Only neighbours on u₀'s upwind side are corrected: the others do not matter where u₀
/// is any guide.
///
/// Corrections cₖ are negative, since u₀ is convex, and make steps shorter. Those that take too much of a step are left
/// out, so that Σ wₖ cₖ² < ½ over the terms of a cell (`one`). Then the update, Σ wₖ (u − tₖ − cₖ)² = 1 over the terms
/// that count, is later than the earliest of its neighbours: were u ≤ tₖ for all of them, the sum would be at most Σ wₖ
/// cₖ². So no time falls below the earliest seed's, and lowering times comes to an end.
class SourceFactor {
 public:
  explicit SourceFactor(const SourceTimes& times) : times_(&times) {}

  template <int Terms>
  struct At {
    const SourceTimes* times;
    double here;
    double slope[Terms];       ///< of u₀ along the terms' directions
    double correction[Terms];  ///< of the neighbour on u₀'s upwind side
    double weight[Terms];

    [[nodiscard]] ISOCHRON_ALWAYS_INLINE double one(double time, std::uint32_t, int i, int side) const {
      return side * slope[i] > 0 ? time + correction[i] : time;
    }
    [[nodiscard]] ISOCHRON_ALWAYS_INLINE double two(double near, double far, std::uint32_t y, std::uint32_t z, int i,
                                                    int side) const {
      const double plain = (4 * near - far) / 3, along = side * slope[i];
      if (!(along > 0)) return plain;
      const double change = here - (4 * times->time(y) - times->time(z)) / 3 - along * (2.0 / 3);
      return change * change * weight[i] < max_of_a_step ? plain + change : plain;
    }
  };
  template <class Problem>
  [[nodiscard]] ISOCHRON_ALWAYS_INLINE At<Problem::terms> at(const Problem& problem,
                                                             const typename Problem::Stencil& stencil,
                                                             std::uint32_t x) const {
    At<Problem::terms> result;
    result.times = times_;
    result.here = times_->time(x);
    const Vec3d slope = times_->slope(problem.cells->box, x);
    double taken = 0;  // of a step, squared
    for (int i = 0; i < Problem::terms; ++i) {
      const Vec3i e = problem.offset(x, i);
      const double along = slope.x * e.x + slope.y * e.y + slope.z * e.z;
      result.slope[i] = along;
      result.weight[i] = stencil.weight[i];
      result.correction[i] = 0;
      if (along > 0 ? !stencil.back(i) : !(along < 0 && stencil.ahead(i))) continue;
      const auto y = static_cast<std::uint32_t>(along > 0 ? x - stencil.step[i] : x + stencil.step[i]);
      result.correction[i] = result.here - times_->time(y) - std::abs(along);
      taken += taken_by(result, i);
    }
    for (int left = Problem::terms; left > 0 && !(taken < max_of_a_step); --left) taken = leave_out_largest(result);
    return result;
  }
  /// Whether y, which has an earlier time than x, may still see x earlier than itself.
  template <class Problem>
  [[nodiscard]] bool may_depend(const Problem& problem, std::uint32_t y, std::uint32_t x, double time_y,
                                double time_x) const {
    const GridBox& box = problem.cells->box;
    if constexpr (Problem::terms == Problem::dim) {
      // u₀ is convex: where it does not rise from y away from x, its slope at y is not that way either.
      if (times_->time(2 * y - x) <= times_->time(y)) return false;
    }
    const double along = dot(times_->slope(box, y), times_->way_to(box, y) - times_->way_to(box, x));
    return along > 0 && time_y > time_x + times_->time(y) - times_->time(x) - along;
  }

 private:
  static constexpr double max_of_a_step = 0.5;  ///< squared

  template <int Terms>
  static double taken_by(const At<Terms>& at, int i) {
    return at.correction[i] * at.correction[i] * at.weight[i];
  }
  /// Gives what the others take.
  template <int Terms>
  static double leave_out_largest(At<Terms>& at) {
    int largest = 0;
    for (int i = 1; i < Terms; ++i)
      if (taken_by(at, i) > taken_by(at, largest)) largest = i;
    at.correction[largest] = 0;
    double taken = 0;
    for (int i = 0; i < Terms; ++i) taken += taken_by(at, i);
    return taken;
  }

  const SourceTimes* times_;
};

}  // namespace isochron
