#include "isochron/invert/shots.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/progress.h"

namespace isochron {
namespace {

SolveOptions solve_options(const InversionOptions& options) {
  SolveOptions result = options.solve;
  if (!result.tolerance) result.tolerance = default_tolerance;
  if (result.precision == Precision::automatic) result.precision = Precision::double_;
  const bool of_metric = std::any_of(options.unknowns.begin(), options.unknowns.end(), [](Unknown unknown) {
    return unknown != Unknown::onsets && unknown != Unknown::source_positions;
  });
  result.source_init = options.source_init.value_or(of_metric ? SourceInit::plain : SourceInit::ball);
  result.sources = Keep::no;
  result.weights = Keep::no;
  result.expected_solves = ExpectedSolves::many;
  result.progress.report = {};
  return result;
}

}  // namespace

ShotSystem::ShotSystem(const Domain& domain, const Measurements& measured, const InversionModel& model,
                       const InversionOptions& options)
    : measured_(&measured),
      model_(&model),
      options_(&options),
      solver_(domain, solve_options(options)),
      threads_(options.solve.threads > 0 ? options.solve.threads : usual_threads()) {
  for (const Shot& shot : measured.shots)
    for (const Pick& pick : shot.picks) pick_count_ += pick.weight > 0 ? 1 : 0;
}

ShotTimes ShotSystem::solve(std::span<const double> values) {
  ShotTimes found;
  found.metric = model_->metric(values);
  const std::size_t shots = measured_->shots.size();
  for (std::size_t k = 0; k < shots; ++k) found.sources.push_back(model_->sources(values, k));
  solver_.set_metric(Metric(found.metric));
  found.arrivals.resize(shots);
  found.picks.resize(shots);
  const auto at = [&](const Pick& pick) { return measured_->receivers[pick.receiver]; };
  solver_.solve_many(found.sources, [&](std::size_t k, Arrival&& arrival) {
    for (const Pick& pick : measured_->shots[k].picks) {
      const double time = model_->receivers().time_at(pick.receiver, arrival.times);
      found.picks[k].push_back(time);
      if (pick.weight == 0) continue;
      if (!std::isfinite(time))
        throw InputError(fmt::format("receiver {} at {:g},{:g},{:g} is not reached by shot {}; leave this time out",
                                     pick.receiver, at(pick).x, at(pick).y, at(pick).z, k));
      found.sum += pick.weight * (time - pick.time) * (time - pick.time);
    }
    found.arrivals[k] = std::move(arrival);
  });
  return found;
}

template <class Make, class Take>
void ShotSystem::for_each_shot(const Make& make, const Take& take) {
  using Result = decltype(make(std::size_t{}, static_cast<const Linearization*>(nullptr)));
  const std::size_t shots = measured_->shots.size();
  const auto run = [&](std::size_t begin, std::size_t end, const Linearization* linear) {
    const std::atomic<bool>* cancel = options_->solve.progress.cancel;
    parallel_in_order<Result>(
        static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads_), end - begin)), end - begin,
        [&](std::size_t i, const std::atomic<bool>&) {
          if (cancel != nullptr && *cancel) throw Cancelled();
          return make(begin + i, linear == nullptr ? nullptr : linear + i);
        },
        [&](std::size_t i, Result&& result) { take(begin + i, std::move(result)); });
  };
  if (model_->field_size() == 0) return run(0, shots, nullptr);
  if (!kept_.empty()) run(0, kept_.size(), kept_.data());
  if (kept_.size() < shots) solver_.set_metric(Metric(times_.metric));  // it may have that of a step that was not taken
  for (std::size_t begin = kept_.size(); begin < shots;) {
    const std::size_t end = std::min(shots, begin + static_cast<std::size_t>(threads_));
    const std::span arrivals(times_.arrivals);
    const std::span sources(times_.sources);
    const std::vector<Linearization> linear =
        solver_.linearize_many(arrivals.subspan(begin, end - begin), sources.subspan(begin, end - begin));
    run(begin, end, linear.data());
    begin = end;
  }
}

void ShotSystem::linearize(ShotTimes times) {
  times_ = std::move(times);
  kept_.clear();
  const std::size_t shots = measured_->shots.size();
  columns_.assign(shots, {});
  std::vector<InputValues> of_velocities;  // they are the same for all shots
  const std::vector<SingleUnknown>& singles = model_->singles();
  for (const SingleUnknown& single : singles)
    if (single.kind == SingleUnknown::Kind::velocity) of_velocities.push_back(model_->direction(times_.metric, single));
  for (std::size_t k = 0; k < singles.size(); ++k) {
    if (singles[k].kind != SingleUnknown::Kind::velocity) columns_[singles[k].shot].unknowns.push_back(k);
    else
      for (Columns& columns : columns_) columns.unknowns.push_back(k);
  }
  std::size_t bytes = 0;
  bool keep = model_->field_size() > 0;
  for (std::size_t begin = 0; begin < shots;) {
    const std::size_t end = std::min(shots, begin + static_cast<std::size_t>(threads_));
    std::vector<Linearization> linear = solver_.linearize_many(std::span(times_.arrivals).subspan(begin, end - begin),
                                                               std::span(times_.sources).subspan(begin, end - begin));
    parallel_tasks(threads_, end - begin, [&](std::size_t i) {
      Columns& columns = columns_[begin + i];
      for (const std::size_t k : columns.unknowns) {
        const bool velocity = k < of_velocities.size();
        columns.values.push_back(
            at_picks(begin + i, linear[i], velocity ? of_velocities[k] : model_->direction(times_.metric, singles[k])));
      }
    });
    for (Linearization& one : linear) {
      bytes += one.bytes();
      keep = keep && bytes <= options_->max_bytes;
      if (keep) kept_.push_back(std::move(one));
    }
    begin = end;
  }
}

std::vector<double> ShotSystem::at_picks(std::size_t shot, const Linearization& linear,
                                         const InputValues& direction) const {
  const std::vector<double> change = linear.jvp(direction);
  std::vector<double> result;
  for (const Pick& pick : measured_->shots[shot].picks)
    result.push_back(std::sqrt(pick.weight) * model_->receivers().time_at(pick.receiver, change));
  return result;
}

template <class At>
std::vector<double> ShotSystem::transposed_sum(const At& at) {
  struct Part {
    std::vector<double> field, single;
  };
  std::vector<double> result(model_->size(), 0.0);
  for_each_shot(
      [&](std::size_t shot, const Linearization* linear) {
        const std::vector<double> values = at(shot, linear);
        Part part;
        for (const auto& column : columns_[shot].values) {
          double sum = 0;
          for (std::size_t i = 0; i < values.size(); ++i) sum += column[i] * values[i];
          part.single.push_back(sum);
        }
        if (linear == nullptr) return part;
        std::vector<double> cotangent(linear->vertex_count(), 0.0);
        const std::vector<Pick>& picks = measured_->shots[shot].picks;
        for (std::size_t i = 0; i < picks.size(); ++i)
          model_->receivers().add_transposed(picks[i].receiver, std::sqrt(picks[i].weight) * values[i], cotangent);
        part.field = model_->field_gradient(times_.metric, linear->vjp(cotangent).metric);
        return part;
      },
      [&](std::size_t shot, Part&& part) {
        for (std::size_t e = 0; e < part.field.size(); ++e) result[e] += part.field[e];
        for (std::size_t k = 0; k < part.single.size(); ++k)
          result[model_->field_size() + columns_[shot].unknowns[k]] += part.single[k];
      });
  return result;
}

std::vector<double> ShotSystem::gradient() {
  return transposed_sum([&](std::size_t shot, const Linearization*) {
    std::vector<double> values;
    const std::vector<Pick>& picks = measured_->shots[shot].picks;
    for (std::size_t i = 0; i < picks.size(); ++i)
      values.push_back(picks[i].weight > 0 ? std::sqrt(picks[i].weight) * (times_.picks[shot][i] - picks[i].time) : 0);
    return values;
  });
}

std::vector<double> ShotSystem::normal_product(std::span<const double> change) {
  InputValues direction;
  const std::size_t field = model_->field_size();
  if (field > 0) direction.metric = model_->field_direction(times_.metric, change.first(field));
  return transposed_sum([&](std::size_t shot, const Linearization* linear) {
    std::vector<double> values(measured_->shots[shot].picks.size(), 0.0);
    if (linear != nullptr) values = at_picks(shot, *linear, direction);
    const Columns& columns = columns_[shot];
    for (std::size_t k = 0; k < columns.unknowns.size(); ++k)
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] += columns.values[k][i] * change[field + columns.unknowns[k]];
    return values;
  });
}

std::vector<double> ShotSystem::diagonal() {
  const std::size_t field = model_->field_size();
  std::vector<double> result(model_->size(), 0.0);
  for (const Columns& columns : columns_)
    for (std::size_t k = 0; k < columns.unknowns.size(); ++k)
      for (const double value : columns.values[k]) result[field + columns.unknowns[k]] += value * value;
  if (field == 0) return result;
  Random random(1);  // the mean of the diagonal by random signs (Hutchinson)
  std::vector<double> signs(model_->size(), 0.0);
  std::size_t count = 0;
  for (std::size_t e = 0; e < field; ++e) {
    if (!(model_->lower()[e] < model_->upper()[e])) continue;
    signs[e] = random.uniform() < 0.5 ? -1 : 1;
    ++count;
  }
  const std::vector<double> product = normal_product(signs);
  double trace = 0;
  for (std::size_t e = 0; e < field; ++e) trace += signs[e] * product[e];
  std::fill_n(result.begin(), field, trace / static_cast<double>(std::max<std::size_t>(count, 1)));
  return result;
}

}  // namespace isochron
