// How far a run over several benches is, from what each is expected to take and what those before it took.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace isochron::bench {

class WorkEstimate {
 public:
  /// Seconds of each part, all positive.
  explicit WorkEstimate(std::vector<double> expected) : expected_(std::move(expected)) {}

  /// The next part has taken so many seconds.
  void finish(double seconds) {
    taken_ += seconds;
    ++done_;
  }

  /// The share of all seconds that is over, that many seconds into the part that runs now. Parts that are left count as
  /// they were expected, times what those done took more or less than that.
  [[nodiscard]] double fraction(double seconds) const {
    if (done_ >= expected_.size()) return 1;
    const double before =
        std::accumulate(expected_.begin(), expected_.begin() + static_cast<std::ptrdiff_t>(done_), 0.0);
    const double after =
        std::accumulate(expected_.begin() + static_cast<std::ptrdiff_t>(done_) + 1, expected_.end(), 0.0);
    // The first parts alone say little: they count beside a part of the whole that goes as expected.
    const double sure = 0.05 * (before + expected_[done_] + after);
    const double slower = (taken_ + sure) / (before + sure);
    const double now = slower * expected_[done_];
    const double left = std::max(now - seconds, 0.05 * now) + slower * after;
    return (taken_ + seconds) / (taken_ + seconds + left);
  }

 private:
  std::vector<double> expected_;
  std::size_t done_ = 0;
  double taken_ = 0;
};

}  // namespace isochron::bench
