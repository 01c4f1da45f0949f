// What a solver does, whatever the domain: fall back to the CPU, share out a batch, start a schedule from seeds, and
// read the result off the times. An adapter knows the domain.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isochron/adjoint/system.h"
#include "isochron/arrival.h"
#include "isochron/capabilities.h"
#include "isochron/core/parallel.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/linearization.h"
#include "isochron/progress.h"
#include "isochron/solve/batch.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/lower_bound.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/device_metric.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/engine.h"
#include "isochron/solve/held_metric.h"
#include "isochron/solve/schedules/banded/withdraw.h"
#include "isochron/solve/source_set.h"
#include "isochron/solver.h"
#include "isochron/sources.h"

namespace isochron {

/// What a domain calls the places that have a time.
struct Noun {
  const char *singular, *plural;
};

/// The engine of a domain. A solve on the host goes from `solve_many` through `solve_one` (one set of sources) and
/// `solve_group` (sources that are solved together) to a run of the adapter, which starts a schedule. Where the GPU
/// does everything, `solve_on_device` gives a DeviceEngine the seeds. An adapter has
/// - `use(options)`, `ready()`, `facts(metric)`, `gpu()` (the device that holds the shape's arrays, −1: the host),
/// `user_count()` and
///   `user_noun()` (vertices or voxels), `element_count()`, `left_out()` (elements of it that do not conduct);
/// - `prepare(plan, metric)`, which makes what is not there yet, `metric_changed()` and `forget()`; `notes()` of it;
/// - `device()`, the DeviceAdapter when the GPU does everything, else null, and `device_seeds(sets)`;
/// - `prepare_host(plan, metric)`, `prepare_sources(sets)`, `groups(sources, init)`: sources that are solved together;
/// - `with_problem(use)`: the prepared problem; `internal(problem, vertex)` and `for_users(problem, threads, visit)`,
///   which calls `visit(internal, user)`; `make_run(problem, group, threads)`, one run of a schedule, with `solve`,
///   `residual`, `spread_labels`, `upwind`;
/// - `bound_geometry(metric)`, for the second check;
/// - where updates keep times, `change_metric(metric, elements)`, which prepares some elements again or returns false,
///   `for_vertices(element, visit)` and `for_changed(elements, visit)`, those whose updates read the metric of an
///   element, and its runs have `update`;
/// - where it has derivatives, `check_differentiable()`, `seed_rows(sources, init)`, `movable(sources)`,
///   `user_element(element)`, `on_mesh`, and its runs have `rows`: see `linearize`.
template <class Adapter>
class EngineOf final : public Engine {
 public:
  EngineOf(Adapter adapter, const AnyMetric& metric, SolveOptions options)
      : adapter_(std::move(adapter)), options_(std::move(options)), machine_(this_machine()) {
    adapter_.use(options_);
    gpu_ = device_holding(metric, adapter_.gpu());
    use(make_plan(options_, adapter_.facts(metric), machine_));
    set_metric(metric);
  }

  /// When the metric is refused, the one before stays, and is prepared again for the next solve.
  void set_metric(const AnyMetric& metric) override {
    if (metric.host() == nullptr) check_device_metric(metric);
    HeldMetric next;
    {
      const cuda::OnDevice here(metric.host() == nullptr ? gpu_ : -1);
      next = HeldMetric(metric, adapter_.element_count());
    }
    HeldMetric before = std::exchange(metric_, std::move(next));
    adapter_.metric_changed();
    try {
      with_cpu_fallback([&] { prepare(); });
    } catch (...) {
      adapter_.forget();
      metric_ = std::move(before);
      throw;
    }
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) override {
    std::size_t taken = 0;  // after a fallback the solves go on behind these
    bool taking = false;
    const auto take_next = [&](std::size_t set, Arrival&& arrival) {
      const cuda::OnDevice still_here(gpu_);  // `take` may go to another device than ours
      taking = true;
      take(set, std::move(arrival));
      taking = false;
      ++taken;
    };
    const auto solve = [&] {
      prepare();
      if (adapter_.device() != nullptr) solve_on_device(source_sets, take_next);
      else solve_on_host(source_sets, taken, take_next);
    };
    with_cpu_fallback(solve, [&] { return !taking; });
  }

  Residual residual(const Arrival& arrival, const Sources& sources) override {
    const std::vector<double> fetched = arrival.on_device ? fetch_times(*arrival.on_device) : std::vector<double>();
    const std::span<const double> times = arrival.on_device ? fetched : arrival.times;
    check_times(times);
    Residual result;
    with_cpu_fallback([&] {
      prepare();
      if (adapter_.device() != nullptr) {
        const std::vector<Seed> seeds = std::move(adapter_.device_seeds({&sources, 1})[0]);
        result = device_engine().residual(times, seeds);
        check_bound(seeds, {}, times, result);
        return;
      }
      const SourceInit init = arrival.source_init.value_or(plan_.source_init);
      prepare_host({&sources, 1});
      with_times(times, sources, init, plan_.threads, [&](auto& run, const auto& start, const auto& group) {
        result = run.residual(start, limit_of(start));
        check_bound(group.seeds, onset_of(group), times, result);
      });
    });
    return result;
  }

  /// When it fails, the metric before stays, and is prepared again for the next solve.
  Arrival update(const Arrival& before, const Sources& sources, const ProblemChange& change) override {
    if (!before.on_device) check_times(before.times);
    check_elements(change.elements);
    HeldMetric held = metric_;
    try {
      return updated(before, sources, change);
    } catch (...) {
      if (change.metric) {
        adapter_.forget();
        metric_ = std::move(held);
      }
      throw;
    }
  }

  std::vector<Linearization> linearize(std::span<const Arrival> arrivals,
                                       std::span<const Sources> source_sets) override {
    if constexpr (!requires { adapter_.check_differentiable(); }) {
      return Engine::linearize(arrivals, source_sets);
    } else {
      const StopScope stop(options_.progress.cancel);
      prepare();
      adapter_.check_differentiable();
      prepare_host(source_sets);
      const int at_once = solves_at_once(arrivals.size(), plan_.threads, plan_.batch_threads);
      std::vector<Linearization> result;
      parallel_in_order<std::shared_ptr<const DependenceSystem>>(
          at_once, arrivals.size(),
          [&](std::size_t i, const std::atomic<bool>&) {
            const StopScope also(options_.progress.cancel);
            return dependence_of(arrivals[i], source_sets[i], at_once > 1 ? 1 : plan_.threads);
          },
          [&](std::size_t, std::shared_ptr<const DependenceSystem>&& system) {
            result.emplace_back(std::move(system));
          });
      return result;
    }
  }

 private:
  /// Whether updates can keep times.
  static constexpr bool keeps_times = requires(Adapter & adapter, const HeldMetric& metric) {
    adapter.change_metric(metric, {});
  };

  /// What an update starts from.
  struct Before {
    const Arrival& arrival;
    std::span<const SourceFate> fates;
    std::span<const Seed> seeds;
    std::span<const ElementId> elements;  ///< that have another metric now
  };

  Arrival updated(const Arrival& before, const Sources& sources, const ProblemChange& change) {
    const StopScope stop(options_.progress.cancel);
    const Sources& after = change.sources ? *change.sources : sources;
    const auto solve_all = [&] {
      if (change.metric) set_metric(*change.metric);
      return solve_again(before, after);
    };
    const bool device = plan_.on_device() || before.on_device || metric_.host() == nullptr ||
                        (change.metric && change.metric->host() == nullptr);
    if (device) return solve_all();  // which takes less time there than looking for what to keep
    if (const char* why = why_solved_again(before); why != nullptr) {
      Arrival all = solve_all();
      all.notes.emplace_back(std::string("everything was solved again: ") + why);
      return all;
    }
    const std::vector<SourceFate> fates = fates_of_sources(sources, after);
    if (mostly_lost(before, fates, max_withdrawn_share)) return solve_all();

    prepare();
    prepare_host({&sources, 1});
    const std::vector<Seed> seeds = std::move(adapter_.groups(sources, plan_.source_init)[0].seeds);
    std::vector<ElementId> elements;
    const std::size_t precision_before = bytes_of_time();
    if (change.metric) elements = change_metric(*change.metric, change.elements);
    // Times of single precision are not kept where the changed metric needs double.
    if (bytes_of_time() != precision_before || are_most(elements.size(), adapter_.element_count()))
      return solve_again(before, after);
    prepare_host({&after, 1});
    const auto group = std::move(adapter_.groups(after, plan_.source_init)[0]);

    Arrival arrival;
    adapter_.with_problem([&](const auto& problem) {
      update_group(problem, group, Before{before, fates, seeds, elements}, arrival);
    });
    describe_sources(plan_.source_init, group.seeds, arrival);
    describe(arrival);
    return arrival;
  }

  Arrival solve_again(const Arrival& before, const Sources& sources) {
    Arrival result;
    solve_many({&sources, 1}, [&](std::size_t, Arrival&& arrival) { result = std::move(arrival); });
    if (!result.on_device && !before.on_device) result.changed = count_changed(before.times, result.times);
    return result;
  }

  void check_elements(std::span<const ElementId> elements) const {
    for (const ElementId e : elements)
      if (e.index() >= adapter_.element_count())
        throw InputError(
            fmt::format("element {} is out of range (there are {}, from 0 on); correct the changed elements", e.index(),
                        adapter_.element_count()));
  }

  /// Why an update cannot keep any time; null when it can.
  [[nodiscard]] const char* why_solved_again(const Arrival& before) const {
    if constexpr (!keeps_times) return "the scheme is not the adaptive one";
    if (plan_.method != Method::banded) return "the method is not banded";
    if (plan_.order != 1) return "it is of second order";
    const SourceInit init = before.source_init.value_or(plan_.source_init);
    if (init == SourceInit::factored || init != plan_.source_init) return "its sources are factored";
    return nullptr;
  }

  /// Voxels outside the mask do not, whatever their metric.
  [[nodiscard]] bool takes_part(ElementId element) const {
    if constexpr (keeps_times) {
      bool found = false;
      adapter_.for_vertices(element, [&](VertexId) { found = true; });
      return found;
    }
    return true;
  }

  /// Of one time, as the prepared problem computes it.
  [[nodiscard]] std::size_t bytes_of_time() const {
    std::size_t bytes = 0;
    adapter_.with_problem(
        [&](const auto& problem) { bytes = sizeof(typename std::decay_t<decltype(problem)>::Scalar); });
    return bytes;
  }

  /// So many that solving all of it again costs less than keeping the rest.
  static bool are_most(std::size_t some, std::size_t all) {
    return static_cast<double>(some) > max_withdrawn_share * static_cast<double>(all);
  }

  /// Takes a metric that differs on some elements, found by comparison where none are given. Returns them.
  std::vector<ElementId> change_metric(const AnyMetric& metric, std::vector<ElementId> elements) {
    const Timer timer;
    const Metric& next = *metric.host();
    const std::size_t count = adapter_.element_count();
    if (next.element_count() != 0 && next.element_count() != count) set_metric(metric);  // refuses it
    check_metric_form(next, count, Subject::metric);
    if (elements.empty()) {
      elements = differing_elements(*metric_.host(), next, count, plan_.threads);
      std::erase_if(elements, [&](ElementId e) { return !takes_part(e); });
    }
    if constexpr (keeps_times) {
      constexpr std::size_t share = 8;  // of more, all threads prepare the whole in less time
      HeldMetric held(metric, count);
      if (elements.size() < count / share && adapter_.change_metric(held, elements)) {
        metric_ = std::move(held);
        setup_seconds_ = timer.seconds();
        return elements;
      }
    }
    set_metric(metric);
    return elements;
  }

  template <class Problem, class Group, class T = typename Problem::Scalar>
  void update_group(const Problem& problem, const Group& group, const Before& before, Arrival& arrival) {
    const Timer timer;
    const std::vector<double>& times = before.arrival.times;
    auto run = adapter_.make_run(problem, group, plan_.threads);
    const auto fresh_start = [&] {
      Start<T> fresh = start_of(problem, group.seeds);
      fresh.state.progress = options_.progress;
      return fresh;
    };
    Start<T> start = fresh_start();
    const auto inside = [&](double time) { return static_cast<T>((time - start.base) / problem.unit); };
    bool kept = false;
    if constexpr (keeps_times) {
      ChangedStart<T> changed = changed_start(problem, before, start);
      adapter_.for_users(problem, plan_.threads,
                         [&](std::uint32_t v, std::size_t user) { start.state.time[v] = inside(times[user]); });
      kept = run.update(start, changed);
    }
    if (!kept) {
      start = fresh_start();
      run.solve(start, arrival.notes);
    }
    arrival.solve_seconds = timer.seconds();
    arrival.threads = plan_.several_threads ? plan_.threads : 1;
    const auto same = [&](std::uint32_t v, std::size_t user) { return start.state.time[v] == inside(times[user]); };
    if (kept && options_.sources == Keep::yes && before.arrival.source.size() == times.size())
      adapter_.for_users(problem, plan_.threads, [&](std::uint32_t v, std::size_t user) {
        const auto source = static_cast<std::size_t>(before.arrival.source[user]);  // of none: beyond all
        if (source < before.fates.size() && start.label[v] < 0 && same(v, user))
          start.label[v] = before.fates[source].now;
      });
    finish(problem, run, group, plan_.threads, start, arrival);
    // Bit by bit what they were: a time that is not 0 inside is rounded on its way in and out.
    if (kept)
      adapter_.for_users(problem, plan_.threads, [&](std::uint32_t v, std::size_t user) {
        if (same(v, user)) arrival.times[user] = times[user];
      });
    arrival.changed = count_changed(times, arrival.times);
  }

  /// Takes the seeds' times out of `start`, and finds the vertices whose elements or seeds changed.
  template <class Problem, class T = typename Problem::Scalar>
  ChangedStart<T> changed_start(const Problem& problem, const Before& before, Start<T>& start) {
    ChangedStart<T> changed;
    changed.seed.assign(start.state.time.size(), std::numeric_limits<T>::infinity());
    changed.seed.swap(start.state.time);
    changed.base = std::numeric_limits<double>::infinity();
    for (const Seed& seed : before.seeds) changed.base = std::min(changed.base, seed.time);
    adapter_.for_changed(before.elements,
                         [&](VertexId v) { changed.vertices.push_back(adapter_.internal(problem, v)); });
    for (const Seed& seed : before.seeds) {
      const std::uint32_t v = adapter_.internal(problem, seed.vertex.in_whole());
      if (static_cast<T>((seed.time - start.base) / problem.unit) != changed.seed[v]) changed.vertices.push_back(v);
    }
    std::sort(changed.vertices.begin(), changed.vertices.end());
    changed.vertices.erase(std::unique(changed.vertices.begin(), changed.vertices.end()), changed.vertices.end());
    return changed;
  }

  void check_times(std::span<const double> times) const {
    if (times.size() != adapter_.user_count())
      throw UsageError(fmt::format("{} times for {} {}; give one per {}", times.size(), adapter_.user_count(),
                                   adapter_.user_noun().plural, adapter_.user_noun().singular));
  }

  [[nodiscard]] std::shared_ptr<const DependenceSystem> dependence_of(const Arrival& arrival, const Sources& sources,
                                                                      int threads) {
    const std::vector<double> fetched = arrival.on_device ? fetch_times(*arrival.on_device) : std::vector<double>();
    const std::span<const double> times = arrival.on_device ? fetched : arrival.times;
    check_times(times);
    const SourceInit init = arrival.source_init.value_or(plan_.source_init);
    if (init == SourceInit::factored)
      throw UsageError("derivatives are those of plain and ball sources; use " +
                       Message(Setting{Option::source_init, "plain"}));
    std::shared_ptr<const DependenceSystem> system;
    with_times(times, sources, init, threads, [&](auto& run, const auto& start, const auto& /*group*/) {
      adapter_.with_problem([&](const auto& problem) {
        DependenceRows rows = run.rows(start, adapter_.seed_rows(sources, init), [&](GlobalVertexId vertex) {
          return adapter_.internal(problem, vertex.in_whole());
        });
        for (std::uint32_t& e : rows.element) e = adapter_.user_element(e);
        DependenceSystem::Shape shape{std::vector<std::uint32_t>(problem.vertex_count, VertexId::invalid_value),
                                      adapter_.user_count(),
                                      adapter_.element_count(),
                                      adapter_.movable(sources),
                                      Adapter::on_mesh,
                                      onsets_of(sources),
                                      !sources.level_set.empty(),
                                      accuracy_of_rows(start)};
        adapter_.for_users(problem, threads, [&](std::uint32_t v, std::size_t user) {
          if (start.state.time[v] < std::numeric_limits<std::decay_t<decltype(start.state.time[v])>>::infinity())
            shape.user[v] = static_cast<std::uint32_t>(user);
        });
        system = std::make_shared<const DependenceSystem>(std::move(rows), std::move(shape));
      });
    });
    return system;
  }

  static std::vector<double> onsets_of(const Sources& sources) {
    std::vector<double> onsets;
    for (const VertexSource& source : sources.vertices) onsets.push_back(source.time);
    for (const PointSource& source : sources.points) onsets.push_back(source.time);
    onsets.resize(sources.count(), 0.0);  // that of a level set is 0
    return onsets;
  }

  /// Of given times, as a share of the largest: gains below the tolerance of an edge are dropped along all of a path.
  template <class T>
  [[nodiscard]] double accuracy_of_rows(const Start<T>& start) const {
    const bool exact = Adapter::on_mesh || std::holds_alternative<UniformMetric>(metric_.host()->kind());
    return std::max(std::is_same_v<T, float> ? 1e-4 : exact ? 1e-12 : 1e-5, limit_of(start));
  }

  /// Whether this solver can take a metric in device memory; throws UsageError.
  void check_device_metric(const AnyMetric& metric) const {
    if (plan_.method != Method::push)
      throw UsageError(fmt::format("a metric in the memory of a GPU is not taken by method {}; make another solver",
                                   name_of(plan_.method)));
    (void)make_plan(options_, adapter_.facts(metric), machine_);
    device_holding(metric, gpu_);
  }

  void use(Plan plan) {
    plan_ = std::move(plan);
    plan_.threads = granted_threads(plan_.threads);
    if (!plan_.on_device()) return;
    if (gpu_ < 0) gpu_ = cuda::current_device();
    const cuda::OnDevice here(gpu_);
    require_device();
  }

  /// The advice of the message must lead on: on the CPU there is no such method.
  void require_device() const {
    try {
      cuda::require_device();
    } catch (const DeviceError& error) {
      if (options_.method == Method::automatic) throw;
      throw DeviceError(error.detail() + " and without " +
                        Setting{Option::method, std::string(name_of(options_.method))});
    }
  }

  /// Does the work; when the device fails that nobody asked for, does it again on the CPU. After a failure `is_ours`
  /// says whether it is one of our device: the caller's code may fail too.
  template <class Work>
  void with_cpu_fallback(
      Work&& work, const std::function<bool()>& is_ours = [] { return true; }) {
    const StopScope stop(options_.progress.cancel);
    try {
      const cuda::OnDevice here(plan_.on_device() ? gpu_ : -1);
      work();
      return;
    } catch (const DeviceError& error) {
      if (!is_ours() || !plan_.may_fall_back || metric_.host() == nullptr) throw;
      adapter_.forget();
      use(plan_without_device(options_, adapter_.facts(AnyMetric(*metric_.host())), machine_, error.detail()));
      gpu_ = -1;
    }
    work();
  }

  void prepare() {
    if (adapter_.ready()) return;
    const Timer timer;
    adapter_.prepare(plan_, metric_);
    setup_seconds_ = timer.seconds();
  }

  void describe(Arrival& arrival) const {
    const bool summarised = arrival.reached + arrival.unreached > 0;  // on a device
    if (!summarised) summarise(arrival);
    arrival.setup_seconds = setup_seconds_;
    arrival.not_conducting = adapter_.left_out();
    std::vector<std::string> notes;
    if (!plan_.note.empty()) notes.push_back(plan_.note);
    if (options_.precision == Precision::single_ && plan_.source_init == SourceInit::factored)
      notes.emplace_back("precision raised to double: factored sources need it");
    const std::vector<std::string>& more = adapter_.notes();
    notes.insert(notes.end(), more.begin(), more.end());
    arrival.notes.insert(arrival.notes.begin(), notes.begin(), notes.end());
  }

  [[nodiscard]] DeviceEngine device_engine() { return {*adapter_.device(), plan_, options_}; }

  void solve_on_device(std::span<const Sources> source_sets, const TakeArrival& take) {
    const std::vector<std::vector<Seed>> seed_sets = adapter_.device_seeds(source_sets);
    device_engine().solve(seed_sets, [&](std::size_t set, Arrival&& arrival) {
      if (arrival.residual) {
        const std::vector<double> fetched = arrival.on_device ? fetch_times(*arrival.on_device) : std::vector<double>();
        check_bound(seed_sets[set], {}, arrival.on_device ? fetched : arrival.times, *arrival.residual);
        if (!arrival.residual->passed()) arrival.converged = false;
      }
      if (options_.weights == Keep::yes) add_upwind(source_sets[set], arrival);
      describe(arrival);
      describe_sources(plan_.source_init, seed_sets[set], arrival);
      take(set, std::move(arrival));
    });
  }

  /// From set `first` on.
  template <class Take>
  void solve_on_host(std::span<const Sources> source_sets, std::size_t first, const Take& take) {
    adapter_.prepare_sources(source_sets);
    const int at_once = plan_.on_device()
                            ? 1
                            : solves_at_once(source_sets.size() - first, plan_.several_threads ? plan_.threads : 1,
                                             plan_.batch_threads);
    solve_batch(
        source_sets, first, at_once, plan_.threads, options_.progress,
        [&](const Sources& sources, const SolveResources& resources) { return solve_one(sources, resources); }, take);
  }

  Arrival solve_one(const Sources& sources, const SolveResources& resources) {
    Arrival arrival;
    try {
      arrival = solve_groups(sources, plan_.source_init, resources);
    } catch (const FactoringFailed& failure) {
      arrival = solve_groups(sources, SourceInit::ball, resources);
      arrival.notes.emplace_back(std::string("ball instead of factored sources: ") + failure.what());
    }
    describe(arrival);
    return arrival;
  }

  /// The first arrival is the least of all groups.
  Arrival solve_groups(const Sources& sources, SourceInit init, const SolveResources& resources) {
    Arrival arrival;
    std::vector<Seed> seeds;
    for (const auto& group : adapter_.groups(sources, init)) {
      seeds.insert(seeds.end(), group.seeds.begin(), group.seeds.end());
      Arrival part;
      adapter_.with_problem([&](const auto& problem) { solve_group(problem, group, resources, part); });
      if (arrival.times.empty()) arrival = std::move(part);
      else take_earlier(std::move(part), arrival);
    }
    describe_sources(init, seeds, arrival);
    return arrival;
  }

  template <class Problem, class Group>
  void solve_group(const Problem& problem, const Group& group, const SolveResources& resources, Arrival& arrival) {
    auto start = start_of(problem, group.seeds);
    start.state.progress = resources.progress;
    const Timer timer;
    auto run = adapter_.make_run(problem, group, resources.threads);
    if (start.state.progress.cancelled()) throw Cancelled();  // a kernel once started runs to its end
    run.solve(start, arrival.notes);
    arrival.transfer_seconds = start.state.transfer_seconds;
    arrival.solve_seconds = timer.seconds() - arrival.transfer_seconds;
    arrival.threads = plan_.several_threads ? resources.threads : 1;
    finish(problem, run, group, resources.threads, start, arrival);
  }

  /// Everything of the result that is read off the times.
  template <class Problem, class Run, class Group, class T = typename Problem::Scalar>
  void finish(const Problem& problem, Run& run, const Group& group, int threads, Start<T>& start, Arrival& arrival) {
    arrival.counters = start.state.counters;
    arrival.converged = start.state.converged;
    arrival.method = plan_.method;
    arrival.backend = plan_.on_device() ? Backend::cuda : arrival.threads > 1 ? Backend::threads : Backend::serial;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.times.assign(adapter_.user_count(), std::numeric_limits<double>::infinity());
    adapter_.for_users(problem, threads, [&](std::uint32_t v, std::size_t user) {
      arrival.times[user] = static_cast<double>(start.state.time[v]) * problem.unit + start.base;
    });
    if (options_.verify == Keep::yes) {
      arrival.residual = run.residual(start, limit_of(start));
      check_bound(group.seeds, onset_of(group), arrival.times, *arrival.residual);
      if (!arrival.residual->passed()) arrival.converged = false;
    }
    if (options_.sources == Keep::yes) label(problem, run, group.seeds, threads, start, arrival);
    if (options_.weights == Keep::yes) arrival.upwind = run.upwind(start);
  }

  template <class Problem, class Run, class T = typename Problem::Scalar>
  void label(const Problem& problem, Run& run, const std::vector<Seed>& seeds, int threads, Start<T>& start,
             Arrival& arrival) {
    const std::int32_t only = only_source(seeds);
    if (only < 0) {
      for (const auto& [v, time] : start.seeds)
        if (start.state.time[v] < time) start.label[v] = -1;
      run.spread_labels(start);
    }
    arrival.source.assign(adapter_.user_count(), -1);
    adapter_.for_users(problem, threads, [&](std::uint32_t v, std::size_t user) {
      if (start.state.time[v] < std::numeric_limits<T>::infinity())
        arrival.source[user] = only >= 0 ? only : start.label[v];
    });
  }

  template <class Problem, class T = typename Problem::Scalar>
  Start<T> start_of(const Problem& problem, const std::vector<Seed>& seeds) const {
    const Precision precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    Start<T> start =
        make_start<T>(problem.vertex_count, make_start_seeds<T>(seeds, problem.unit), plan_.tolerance(precision),
                      [&](GlobalVertexId vertex) { return adapter_.internal(problem, vertex.in_whole()); });
    if constexpr (requires { problem.longest; }) start.state.contrast = problem.longest / problem.shortest;
    return start;
  }

  /// The second check of times, on what the user gave.
  void check_bound(std::span<const Seed> seeds, std::optional<double> onset, std::span<const double> times,
                   Residual& residual) {
    if (plan_.scheme == GridScheme::lax_friedrichs) return;  // smears times both ways
    const bool monotone = plan_.order == 1 && !onset && !plan_.split_obtuse;
    check_lower_bound(adapter_.bound_geometry(metric_), seeds, times, onset, max_share_below(monotone), residual);
  }
  /// Of a factored source.
  template <class Group>
  static std::optional<double> onset_of(const Group& group) {
    return group.factored ? std::optional(group.factored->time) : std::nullopt;
  }

  template <class T>
  static double limit_of(const Start<T>& start) {
    return residual_tolerances * static_cast<double>(start.state.tolerance);
  }

  /// Prepares what is looked at on the host with given times.
  void prepare_host(std::span<const Sources> source_sets) {
    adapter_.prepare_host(plan_, metric_);
    adapter_.prepare_sources(source_sets);
  }

  /// Calls `use(run, start, group)` with given times in place of a schedule's result, after `prepare_host`.
  template <class Use>
  void with_times(std::span<const double> times, const Sources& sources, SourceInit init, int threads, Use&& use) {
    const auto groups = adapter_.groups(sources, init);
    if (groups.size() > 1)
      throw UsageError("factored sources are solved one by one; check the times of each on its own");
    adapter_.with_problem([&](const auto& problem) {
      using T = typename std::decay_t<decltype(problem)>::Scalar;
      auto run = adapter_.make_run(problem, groups[0], threads);
      Start<T> start = start_of(problem, groups[0].seeds);
      // The choice of second-order differences is that of the first-order times.
      std::vector<std::string> notes;
      if (plan_.order == 2) run.solve(start, notes);
      adapter_.for_users(problem, threads, [&](std::uint32_t v, std::size_t user) {
        start.state.time[v] = static_cast<T>((times[user] - start.base) / problem.unit);
      });
      use(run, start, groups[0]);
    });
  }

  void add_upwind(const Sources& sources, Arrival& arrival) {
    prepare_host({&sources, 1});
    with_times(arrival.times, sources, plan_.source_init, plan_.threads,
               [&](auto& run, const auto& start, const auto&) { arrival.upwind = run.upwind(start); });
  }

  static std::vector<double> fetch_times(const DeviceResult& result) {
    std::vector<double> times(result.times.size());
    result.times.download_to(times);
    return times;
  }

  Adapter adapter_;
  SolveOptions options_;
  Machine machine_;
  Plan plan_;
  HeldMetric metric_;
  int gpu_ = -1;  ///< the device that everything on the GPU is done on
  double setup_seconds_ = 0;
};

}  // namespace isochron
