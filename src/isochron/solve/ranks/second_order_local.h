// Second-order times on one part of an image.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/solve/grid/grid_start.h"
#include "isochron/solve/grid/second_order.h"
#include "isochron/solve/ranks/local_solver.h"
#include "isochron/solve/schedules/banded/banded.h"

namespace isochron::ranks {

/// What `second_order_times` does, with some of the cells elsewhere. Cells go by bands of their first-order times; one
/// whose update asks for a time that is not known yet waits until it is, computed here or received. Each border time is
/// sent once. Since updates only ask for cells that are earlier at first order, all are computed in the end.
template <class Problem>
class SecondOrderLocal final : public LocalSolver<typename Problem::Scalar> {
  using T = typename Problem::Scalar;
  static constexpr std::uint32_t none = VertexId::invalid_value;

 public:
  /// `start.first` has the first-order times, those of ghosts that are read, too; `start.state.time` gets the result.
  /// Keeps references.
  SecondOrderLocal(const Problem& problem, Start<T>& start, const Halo& halo, const BandTuning& tuning)
      : halo_(halo),
        first_(start.first),
        times_(start.state.time),
        width_(static_cast<T>(tuning.width) * problem.mean_edge),
        order_(by_bands(problem.cells->list, first_.data(), width_)),
        problem_(problem),
        rule_(seed_rule(problem, start)),
        waits_for_(first_.size(), none),
        next_waiting_(first_.size(), none) {
    times_ = first_;
    for (std::size_t x = 0; x < times_.size(); ++x)
      if (!rule_.keeps(static_cast<std::uint32_t>(x)) && first_[x] < std::numeric_limits<T>::infinity())
        times_[x] = std::numeric_limits<T>::quiet_NaN();
    // Seeds that kept their times are known: nobody waits for them here, but copies of them are elsewhere.
    for (const std::uint32_t x : order_)
      if (rule_.keeps(x)) done_.push_back(x);
  }

  [[nodiscard]] std::uint32_t next_band() override {
    if (!done_.empty() || !ready_.empty()) return band_;
    return taken_ < order_.size() ? band_of(order_[taken_]) : no_band;
  }

  bool advance(std::uint32_t band, std::size_t most, Outbox<T>& out) override {
    if (band != band_) ++counters_.rounds;
    band_ = band;
    for (std::size_t work = 0; work < most; ++work) {
      for (const std::uint32_t x : done_) send(x, out);
      done_.clear();
      if (!ready_.empty()) {
        const std::uint32_t x = ready_.back();
        ready_.pop_back();
        compute(x, out);
      } else if (taken_ < order_.size() && band_of(order_[taken_]) <= band) {
        compute(order_[taken_++], out);
      } else {
        return false;
      }
    }
    return true;
  }

  void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      times_[vertices[i]] = times[i];
      wake(vertices[i]);
    }
  }

  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  [[nodiscard]] std::uint32_t band_of(std::uint32_t x) const {
    constexpr T last = T(1U << 22U);
    return static_cast<std::uint32_t>(std::min(first_[x] / width_, last));
  }

  void compute(std::uint32_t x, Outbox<T>& out) {
    if (times_[x] == times_[x]) return;
    std::uint32_t missing = none;
    const SecondOrder<Problem, PendingTimes<T>, NoFactor> second(problem_, first_.data(), {times_.data(), &missing},
                                                                 factor_);
    ++counters_.local_solves;
    const T time = rule_.limited(x, second.update(x));
    if (missing != none) {
      next_waiting_[x] = waits_for_[missing];
      waits_for_[missing] = x;
      return;
    }
    ++counters_.vertex_updates;
    times_[x] = time;
    send(x, out);
    wake(x);
  }

  /// Those that wait for x are ready to be tried again.
  void wake(std::uint32_t x) {
    for (std::uint32_t y = waits_for_[x]; y != none; y = next_waiting_[y]) ready_.push_back(y);
    waits_for_[x] = none;
  }

  void send(std::uint32_t x, Outbox<T>& out) const {
    if (const std::uint32_t border = halo_.border_of[x]; border != Halo::none) out.put(border, times_[x]);
  }

  const Halo& halo_;
  const BigVector<T>& first_;
  BigVector<T>& times_;
  T width_;
  std::vector<std::uint32_t> order_;  ///< the reached cells, by band
  const Problem& problem_;
  SeedRule<T> rule_;
  NoFactor factor_;
  std::vector<std::uint32_t> waits_for_;     ///< by cell: the last one that waits for it
  std::vector<std::uint32_t> next_waiting_;  ///< by waiting cell: another one that waits for the same
  std::vector<std::uint32_t> ready_;         ///< to be tried again
  std::vector<std::uint32_t> done_;          ///< known, but not sent
  std::size_t taken_ = 0;                    ///< of `order_`
  std::uint32_t band_ = 0;
  Counters counters_;
};

}  // namespace isochron::ranks
