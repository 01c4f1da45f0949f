// The times of all shots for given values of the unknowns, and products with their derivatives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "isochron/invert/model.h"
#include "isochron/solver.h"

namespace isochron {

/// Of the solves, where the options say none.
inline constexpr double default_tolerance = 1e-9;

/// Computed times of one set of values.
struct ShotTimes {
  Metric metric;
  std::vector<Sources> sources;            ///< of each shot
  std::vector<Arrival> arrivals;           ///< of each shot, times only
  std::vector<std::vector<double>> picks;  ///< computed times of each shot's picks
  double sum = 0;                          ///< of weight · difference²
};

/// Solves for all shots; after `linearize` it multiplies with W^½ J, the weighted derivative of the picks.
class ShotSystem {
 public:
  /// Keeps references to what it is given.
  ShotSystem(const Domain& domain, const Measurements& measured, const InversionModel& model,
             const InversionOptions& options);

  /// Throws InputError when a receiver is not reached.
  [[nodiscard]] ShotTimes solve(std::span<const double> values);
  /// Takes the derivatives at times that `solve` gave last.
  void linearize(ShotTimes times);
  [[nodiscard]] const ShotTimes& times() const { return times_; }

  /// Jᵀ W (computed − measured).
  [[nodiscard]] std::vector<double> gradient();
  /// Jᵀ W J change.
  [[nodiscard]] std::vector<double> normal_product(std::span<const double> change);
  /// The diagonal of Jᵀ W J: exact for single unknowns, for the field its mean.
  [[nodiscard]] std::vector<double> diagonal();

  [[nodiscard]] std::size_t pick_count() const { return pick_count_; }

 private:
  /// Dense columns of W^½ J of one shot: those of `unknowns`, numbers of single ones.
  struct Columns {
    std::vector<std::size_t> unknowns;
    std::vector<std::vector<double>> values;  ///< per unknown one for each pick
  };

  /// W^½ J change of one shot; `direction` is that of the field.
  [[nodiscard]] std::vector<double> at_picks(std::size_t shot, const Linearization& linear,
                                             const InputValues& direction) const;
  /// For each shot `at(shot, linear)` makes values at its picks, of which Jᵀ W^½ is summed up.
  template <class At>
  std::vector<double> transposed_sum(const At& at);
  /// Calls `make(shot, linear)` side by side and `take(shot, result)` in order. Without a field `linear` is null.
  template <class Make, class Take>
  void for_each_shot(const Make& make, const Take& take);

  const Measurements* measured_;
  const InversionModel* model_;
  const InversionOptions* options_;
  Solver solver_;
  int threads_;
  std::size_t pick_count_ = 0;
  ShotTimes times_;
  std::vector<Linearization> kept_;  ///< of the first shots
  std::vector<Columns> columns_;     ///< of each shot
};

}  // namespace isochron
