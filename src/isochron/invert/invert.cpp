#include "isochron/invert.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/invert/model.h"
#include "isochron/invert/roughness.h"
#include "isochron/invert/shots.h"
#include "isochron/progress.h"

namespace isochron {
namespace {

constexpr double first_damping = 1e-3, least_damping = 1e-8;  // shares of the diagonal
constexpr double max_change = 1;  // of logarithms in one step: beyond it the linear model says nothing
constexpr int max_halvings = 5, max_retries = 6;
constexpr int field_products = 25;  // conjugate gradients stop there, or at this share of the residual
constexpr double field_residual = 0.03;
constexpr double enough_decrease = 1e-4;  // of what the gradient promises (Armijo)

void check(const Measurements& measured, const InversionOptions& options) {
  std::size_t picks = 0;
  for (std::size_t k = 0; k < measured.shots.size(); ++k) {
    const Shot& shot = measured.shots[k];
    if (shot.sources.empty()) throw InputError(fmt::format("shot {} has no source; give one", k));
    for (const Pick& pick : shot.picks) {
      if (pick.receiver >= measured.receivers.size())
        throw InputError(fmt::format("shot {} has a time at receiver {}, which is not there; there are {}", k,
                                     pick.receiver, measured.receivers.size()));
      const bool finite = std::isfinite(pick.time) || pick.weight == 0;
      if (!finite || !std::isfinite(pick.weight) || pick.weight < 0)
        throw InputError(
            fmt::format("shot {} has the time {} of weight {} at receiver {}; leave out what is not a finite time, and "
                        "give weights that are not negative",
                        k, pick.time, pick.weight, pick.receiver));
      picks += pick.weight > 0 ? 1 : 0;
    }
  }
  if (picks == 0) throw InputError("there are no measured times; give some");
  const auto positive = [](const std::optional<double>& value) {
    return !value || (*value > 0 && std::isfinite(*value));
  };
  if (!positive(options.min_velocity) || !positive(options.max_velocity))
    throw UsageError("bounds of velocities are not positive; give positive numbers");
  const auto not_negative = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!not_negative(options.smoothing) || !not_negative(options.noise) || !not_negative(options.min_decrease) ||
      !not_negative(options.receiver_tolerance) || options.max_iterations < 0)
    throw UsageError(
        "smoothing, noise, the least decrease, the number of steps or the tolerance of receivers is negative or not a "
        "finite number; give 0 or more");
}

double dot_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Inverter {
 public:
  Inverter(const Domain& domain, const Measurements& measured, const InversionOptions& options)
      : options_(options),
        measured_(measured),
        model_(domain, measured, options),
        shots_(domain, measured, model_, options) {
    if (model_.free_count() > shots_.pick_count() && (model_.field_size() == 0 || options.smoothing == 0))
      throw UsageError(
          fmt::format("{} unknowns cannot be found from {} measured {}{}; give more times or look for less",
                      model_.free_count(), shots_.pick_count(), shots_.pick_count() == 1 ? "time" : "times",
                      model_.field_size() == 0 ? "" : " without smoothing"));
  }

  Inversion run() {
    if (options_.start) resume();
    else state_.values = model_.start();
    state_.problem = model_.number_of(measured_);
    ShotTimes times = shots_.solve(state_.values);
    bool settled = false;
    for (int iteration = 0;; ++iteration) {
      if (iteration == 0) begin(std::move(times));  // NOLINT(bugprone-use-after-move): once
      const double misfit = steps_.back().misfit;
      if (options_.noise > 0 && misfit <= options_.noise) return finish(InversionEnd::noise_level);
      if (settled || misfit <= rounding_) return finish(InversionEnd::settled);
      if (iteration >= options_.max_iterations) return finish(InversionEnd::max_iterations);
      const double before = steps_.back().objective;
      if (!improve(iteration + 1)) return finish(InversionEnd::settled);
      settled = !limited_ && before - steps_.back().objective < options_.min_decrease * before;
    }
  }

 private:
  void resume() {
    state_ = *options_.start;
    const auto sound = [](double value) { return value >= 0 && std::isfinite(value); };
    if (!sound(state_.smoothing_weight) || !sound(state_.damping))
      throw InputError("the state to go on from is not finite; start anew");
    if (state_.values.size() != model_.size())
      throw InputError(fmt::format("the state to go on from has {} unknowns, this problem {}; start anew",
                                   state_.values.size(), model_.size()));
    if (state_.problem != model_.number_of(measured_))
      throw InputError("the state to go on from is that of another problem or other times; start anew");
    for (const double value : state_.values)
      if (!std::isfinite(value)) throw InputError("the state to go on from is not finite; start anew");
    model_.bring_inside(state_.values);
  }

  /// The derivatives at the start, and from them what the smoothing weighs.
  void begin(ShotTimes times) {
    shots_.linearize(std::move(times));
    diagonal_ = shots_.diagonal();
    double latest = 0;
    for (const std::vector<double>& of_shot : shots_.times().picks)
      for (const double time : of_shot)
        if (std::isfinite(time)) latest = std::max(latest, std::abs(time));
    rounding_ = 10 * options_.solve.tolerance.value_or(default_tolerance) * latest;
    const std::size_t field = model_.field_size();
    if (field > 0 && options_.smoothing > 0) {
      roughness_.emplace(model_.graph(), options_.smoothing_kind);
      double of_times = 0, of_roughness = 0;
      const std::vector<double> rough = roughness_->diagonal();
      for (std::size_t e = 0; e < field; ++e) {
        if (!(model_.lower()[e] < model_.upper()[e])) continue;
        of_times += diagonal_[e];
        of_roughness += rough[e];
      }
      if (!options_.start && of_roughness > 0) state_.smoothing_weight = options_.smoothing * of_times / of_roughness;
    }
    note_step(0, 1, 0, objective(shots_.times(), state_.values));
  }

  [[nodiscard]] double objective(const ShotTimes& times, std::span<const double> values) const {
    const double rough =
        roughness_ ? state_.smoothing_weight * roughness_->value(values.first(model_.field_size())) : 0;
    return times.sum / 2 + rough;
  }

  void note_step(int iteration, double length, int products, double objective) {
    const double misfit = std::sqrt(shots_.times().sum / static_cast<double>(shots_.pick_count()));
    steps_.push_back({iteration, misfit, objective, length, products});
    if (options_.on_step) options_.on_step(steps_.back(), state_);
  }

  /// One Gauss–Newton step; false when nothing is better.
  bool improve(int iteration) {
    const std::size_t field = model_.field_size();
    std::vector<double> gradient = shots_.gradient();
    if (roughness_) {
      const std::span<const double> values(state_.values);
      roughness_->take(values.first(field));
      roughness_->add_product(state_.smoothing_weight, values.first(field), gradient);
    }
    precondition();
    std::vector<bool> free(model_.size());
    for (std::size_t i = 0; i < free.size(); ++i) {
      const bool at_lower = state_.values[i] <= model_.lower()[i], at_upper = state_.values[i] >= model_.upper()[i];
      free[i] = !(at_lower && gradient[i] >= 0) && !(at_upper && gradient[i] <= 0) && scale_[i] > 0;
      if (!free[i]) gradient[i] = 0;
    }
    int products = 0;
    std::optional<Trial> best;
    for (int retry = 0; retry < max_retries && !best; ++retry) {
      best = search(gradient, newton_direction(gradient, free, products));
      if (!best) state_.damping = std::max(10 * state_.damping, 1e-2);
    }
    if (!best) return false;
    state_.values = std::move(best->values);
    shots_.linearize(std::move(best->times));
    diagonal_ = shots_.diagonal();
    // A step that had to be shortened was too long for the linear model: the next one is damped more.
    state_.damping = best->length == 1 ? std::max(state_.damping / 4, least_damping)
                                       : std::clamp(state_.damping / best->length, first_damping, 1.0);
    note_step(iteration, best->length, products, best->objective);
    return true;
  }

  struct Trial {
    std::vector<double> values;
    ShotTimes times;
    double objective, length;
  };

  /// The first step along a direction, from the whole one on, that lowers the objective.
  std::optional<Trial> search(const std::vector<double>& gradient, const std::vector<double>& direction) {
    const double before = steps_.back().objective;
    double length = std::min(1.0, max_change / largest_log_change(direction));
    limited_ = length < 1;
    for (int halving = 0; halving <= max_halvings; ++halving, length /= 2) {
      check_cancelled();
      std::vector<double> values = state_.values;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += length * direction[i];
      model_.bring_inside(values);
      double promised = 0;
      for (std::size_t i = 0; i < values.size(); ++i) promised -= gradient[i] * (values[i] - state_.values[i]);
      std::optional<ShotTimes> times;
      try {
        times = shots_.solve(values);
      } catch (const InputError&) {  // a source has come to where it does not reach its receivers
        continue;
      }
      const double now = objective(*times, values);
      if (now < before - enough_decrease * std::max(promised, 0.0))
        return Trial{std::move(values), std::move(*times), now, length};
    }
    return std::nullopt;
  }

  /// Of the logarithms among the unknowns.
  [[nodiscard]] double largest_log_change(std::span<const double> direction) const {
    const std::size_t field = model_.field_size();
    double largest = 1e-9;
    for (std::size_t i = 0; i < direction.size(); ++i)
      if (i < field || model_.singles()[i - field].kind == SingleUnknown::Kind::velocity)
        largest = std::max(largest, std::abs(direction[i]));
    return largest;
  }

  /// The diagonal of the Gauss–Newton matrix with the smoothing's.
  void precondition() {
    scale_ = diagonal_;
    if (!roughness_) return;
    const std::vector<double> rough = roughness_->diagonal();
    for (std::size_t e = 0; e < rough.size(); ++e) scale_[e] += state_.smoothing_weight * rough[e];
  }

  /// Solves (JᵀWJ + λL + μ diagonal) d = −gradient in the free unknowns by conjugate gradients.
  std::vector<double> newton_direction(const std::vector<double>& gradient, const std::vector<bool>& free,
                                       int& products) {
    const std::size_t count = gradient.size(), field = model_.field_size();
    const int limit = field > 0 ? field_products : 3 * static_cast<int>(count) + 10;
    const double goal = field > 0 ? field_residual : 1e-10;
    std::vector<double> x(count, 0.0), r(count), z(count), p(count);
    const auto apply_scale = [&] {
      for (std::size_t i = 0; i < count; ++i) z[i] = free[i] ? r[i] / scale_[i] : 0;
    };
    for (std::size_t i = 0; i < count; ++i) r[i] = -gradient[i];
    apply_scale();
    p = z;
    double rz = dot_product(r, z);
    const double first = rz;
    for (int k = 0; k < limit && rz > goal * goal * first && rz > 0; ++k) {
      check_cancelled();
      std::vector<double> product = shots_.normal_product(p);
      if (roughness_)
        roughness_->add_product(state_.smoothing_weight, std::span<const double>(p).first(field), product);
      ++products;
      for (std::size_t i = 0; i < count; ++i) product[i] = free[i] ? product[i] + state_.damping * scale_[i] * p[i] : 0;
      const double curvature = dot_product(p, product);
      if (!(curvature > 0)) break;
      const double step = rz / curvature;
      for (std::size_t i = 0; i < count; ++i) x[i] += step * p[i], r[i] -= step * product[i];
      apply_scale();
      const double next = dot_product(r, z);
      for (std::size_t i = 0; i < count; ++i) p[i] = z[i] + next / rz * p[i];
      rz = next;
    }
    return x;
  }

  void check_cancelled() const {
    if (options_.solve.progress.cancelled()) throw Cancelled();
  }

  Inversion finish(InversionEnd end) {
    Inversion result;
    const ShotTimes& times = shots_.times();
    result.metric = times.metric;
    result.sources = times.sources;
    result.scale = model_.scale(state_.values);
    result.times = times.picks;
    result.steps = std::move(steps_);
    result.end = end;
    result.source_init = times.arrivals[0].source_init.value_or(SourceInit::plain);
    return result;
  }

  const InversionOptions& options_;
  const Measurements& measured_;
  InversionModel model_;
  ShotSystem shots_;
  std::optional<Roughness> roughness_;
  InversionState state_;
  std::vector<InversionStep> steps_;
  bool limited_ = false;          ///< the last step was shortened, whatever it would have led to
  double rounding_ = 0;           ///< a misfit that comes from the tolerance of the solves
  std::vector<double> diagonal_;  ///< of the Gauss–Newton matrix
  std::vector<double> scale_;     ///< of the system that is solved
};

}  // namespace

Inversion invert(const Domain& domain, const Measurements& measured, const InversionOptions& options) {
  check(measured, options);
  return Inverter(domain, measured, options).run();
}

}  // namespace isochron
