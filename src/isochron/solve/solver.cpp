#include "isochron/solve/solver.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/cuda/device.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/simplex/banded_threads.h"
#include "isochron/solve/simplex/cuda/schedule.h"
#include "isochron/solve/simplex/factored.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/run.h"
#include "isochron/solve/simplex/seeds.h"

namespace isochron {
namespace {

/// Below this many elements starting threads costs more than it gains.
constexpr std::size_t worth_threads = 150000;
/// Factoring solves once per source.
constexpr std::size_t most_factored_sources = 64;

constexpr bool runs_on_gpu(Method method) {
  return method == Method::push || method == Method::patch_fim || method == Method::active_list ||
         method == Method::domain_decomposition;
}

constexpr double default_tolerance(bool single) { return single ? 1e-5 : 1e-6; }

/// The residual may be this many tolerances: gains below one are dropped, and a vertex can collect a few of them.
constexpr double residual_tolerances = 10;

/// Products of five squared lengths must stay within the exponents of single precision.
template <class Problem>
bool fits_single(const Problem& problem) {
  return problem.shortest > 3e-4 && problem.longest < 3e3;
}

}  // namespace

template <int Corners>
class Solver<Corners>::Engine {
 public:
  Engine(Domain<Corners> domain, SolveOptions options) : mesh_(domain.mesh), options_(std::move(options)) {
    const Timer timer;
    check_mesh(mesh_);
    check_metric(domain.metric, mesh_.element_count(), "the metric");
    threads_ = options_.threads > 0 ? options_.threads : hardware_threads();
    if (options_.backend == Backend::serial ||
        (options_.backend == Backend::automatic && mesh_.element_count() < worth_threads))
      threads_ = 1;
    threads_ = granted_threads(threads_);
    choose_method();
    if (options_.source_init == SourceInit::factored && method_ != Method::banded)
      throw UsageError(
          fmt::format("factored sources are solved by method banded, not {}; leave --method out", name_of(method_)));
    const bool wants_single = options_.precision == Precision::single_ ||
                              (options_.precision == Precision::automatic && options_.backend == Backend::cuda);
    const bool single = wants_single && options_.source_init != SourceInit::factored;
    const bool keep =
        options_.reorder == Reorder::never || (options_.reorder == Reorder::automatic && locally_ordered(mesh_));
    const KeepOrder keep_order = keep ? KeepOrder::yes : KeepOrder::no;
    if (single) problem_.template emplace<0>(prepare_topology<float>(mesh_, keep_order, threads_));
    else problem_.template emplace<1>(prepare_topology<double>(mesh_, keep_order, threads_));
    set_metric(domain.metric);
    setup_seconds_ = timer.seconds();
  }

  void set_metric(const Metric& metric) {
    check_metric(metric, mesh_.element_count(), "the metric");
    const Timer timer;
    metric_ = &metric;
    notes_.clear();
    if (options_.precision == Precision::single_ && options_.source_init == SourceInit::factored)
      notes_.emplace_back("precision raised to double: factored sources need it");
    std::visit([&](auto& problem) { prepare_metric(problem); }, problem_);
    if (const auto* single = std::get_if<0>(&problem_); single != nullptr && !fits_single(*single)) {
      notes_.push_back(
          fmt::format("precision raised to double: edge travel times span {:.1e} to {:.1e}, more than single "
                      "precision can hold",
                      single->shortest * single->unit, single->longest * single->unit));
      const KeepOrder keep_order = single->order.identity() ? KeepOrder::yes : KeepOrder::no;
      problem_.template emplace<1>(prepare_topology<double>(mesh_, keep_order, threads_));
      prepare_metric(std::get<1>(problem_));
    }
    if (options_.backend == Backend::cuda)
      std::visit([&](auto& problem) { device_ = make_device_schedule(problem); }, problem_);
    setup_seconds_ = timer.seconds();
  }

  Arrival solve(const Sources& sources) {
    const Timer timer;
    Arrival arrival;
    arrival.notes = notes_;
    const PlacedSources placed = place_sources(mesh_, user_adjacency(), sources);
    SourceInit init = options_.source_init;
    if (init == SourceInit::factored) {
      try {
        solve_factored(sources, placed, arrival);
      } catch (const FactoringFailed&) {
        init = SourceInit::ball;
        arrival = {};
        arrival.notes = notes_;
        arrival.notes.emplace_back("ball instead of factored sources: the metric changes too much for factoring");
      }
    }
    if (init != SourceInit::factored) {
      const auto seeds = make_seeds(mesh_, *metric_, user_adjacency(), sources, placed, init, options_.ball_rings);
      std::visit([&](const auto& problem) { solve_plain(problem, seeds, arrival); }, problem_);
    }
    summarise(arrival);
    arrival.setup_seconds = setup_seconds_;
    if (arrival.solve_seconds == 0) arrival.solve_seconds = timer.seconds();
    return arrival;
  }

  Residual residual(const Arrival& arrival, const Sources& sources) {
    if (arrival.times.size() != mesh_.vertex_count())
      throw UsageError(
          fmt::format("{} times for {} vertices; give one per vertex", arrival.times.size(), mesh_.vertex_count()));
    const PlacedSources placed = place_sources(mesh_, user_adjacency(), sources);
    const auto seeds =
        make_seeds(mesh_, *metric_, user_adjacency(), sources, placed, options_.source_init, options_.ball_rings);
    return std::visit(
        [&](const auto& problem) {
          auto start = make_start(problem, seeds);
          using T = typename std::decay_t<decltype(start.state.time)>::value_type;
          for (std::size_t v = 0; v < mesh_.vertex_count(); ++v)
            start.state.time[problem.internal(VertexId(v))] =
                static_cast<T>((arrival.times[v] - start.base) / problem.unit);
          return residual_pass(plain_relaxer(problem, start.state), start.pinned,
                               residual_tolerances * start.state.tolerance, threads_);
        },
        problem_);
  }

 private:
  template <class T>
  using Device = std::unique_ptr<cuda::DeviceSchedule<T, Corners>>;

  /// Each method runs on the CPU or on the GPU.
  void choose_method() {
    const bool gpu = options_.backend == Backend::cuda;
    method_ = options_.method;
    if (method_ == Method::automatic) method_ = gpu ? Method::push : Method::banded;
    if (gpu && !runs_on_gpu(method_))
      throw UsageError(
          fmt::format("method {} does not run on the GPU (push, patch-fim, active-list and domain-decomposition do); "
                      "leave --method or --backend out",
                      name_of(method_)));
    if (!gpu && runs_on_gpu(method_))
      throw UsageError(
          fmt::format("method {} runs on the GPU only; give --backend cuda, or leave --method out", name_of(method_)));
    if (gpu && options_.source_init == SourceInit::factored)
      throw UsageError("factored sources are solved on the CPU; leave --backend out");
    if (gpu) cuda::require_device();
  }

  template <class T>
  Device<T> make_device_schedule(const SimplexProblem<T, Corners>& problem) const {
    switch (method_) {
      case Method::patch_fim: return cuda::make_patch_fim(problem, mesh_, options_.scheme);
      case Method::active_list: return cuda::make_active_list(problem, mesh_, options_.scheme);
      case Method::domain_decomposition: return cuda::make_domain_decomposition(problem, mesh_, options_.scheme);
      default:
        if constexpr (Corners == 3) return cuda::make_surface(problem, mesh_);
        else return cuda::make_push(problem);
    }
  }

  /// The state before a schedule runs, and what is needed to read its result.
  template <class T>
  struct StartOf {
    SolveState<T> state;
    std::vector<std::uint8_t> pinned;
    std::vector<std::int32_t> label;
    std::vector<T> seed_time;  ///< in the order of state.seeds
    double base = 0;           ///< user's time that is 0 inside
  };

  template <class T>
  StartOf<T> make_start(const SimplexProblem<T, Corners>& problem, const std::vector<Seed>& seeds) const {
    StartOf<T> start;
    const double tolerance = options_.tolerance.value_or(default_tolerance(std::is_same_v<T, float>));
    if (!(tolerance > 0 && tolerance < 1))
      throw UsageError(
          fmt::format("tolerance {} is not between 0 and 1; it is a share of the local edge travel time", tolerance));
    start.state.time.assign(problem.vertex_count, std::numeric_limits<T>::infinity());
    start.state.tolerance = static_cast<T>(tolerance);
    start.state.progress = options_.progress;
    start.pinned.assign(problem.vertex_count, 0);
    start.label.assign(problem.vertex_count, -1);
    start.base = std::numeric_limits<double>::infinity();
    for (const Seed& seed : seeds) start.base = std::min(start.base, seed.time);
    for (const Seed& seed : seeds) {
      const std::uint32_t v = problem.internal(seed.vertex);
      const T time = static_cast<T>((seed.time - start.base) / problem.unit);
      if (!std::isfinite(time) && std::isfinite(seed.time) && std::isfinite(problem.unit))
        throw InputError(
            fmt::format("onset time {} is too far after the first one, {} (edges take about {:.1g}); give times in the "
                        "same unit, or use --precision double",
                        seed.time, start.base, problem.unit));
      if (start.pinned[v] != 0 && !(time < start.state.time[v])) continue;
      if (start.pinned[v] == 0) start.state.seeds.push_back(v);
      start.pinned[v] = 1;
      start.state.time[v] = time;
      start.label[v] = seed.source;
    }
    for (const std::uint32_t v : start.state.seeds) start.seed_time.push_back(start.state.time[v]);
    return start;
  }

  template <class T>
  static Relaxer<T, Corners, PlainTimes<T>> plain_relaxer(const SimplexProblem<T, Corners>& problem,
                                                          SolveState<T>& state) {
    return {problem, PlainTimes<T>{state.time.data()}};
  }

  template <class T>
  void prepare_metric(SimplexProblem<T, Corners>& problem) {
    apply_metric(problem, mesh_, *metric_, threads_);
    problem.virtual_elements = {};
    const bool split =
        options_.obtuse == ObtuseSplit::split || (options_.obtuse == ObtuseSplit::automatic && Corners == 3);
    if (split && problem.obtuse_corners > 0)
      problem.virtual_elements = split_obtuse(problem, mesh_, *metric_, SplitLimits{}, threads_);
  }

  /// Incidences in the user's numbering. The internal ones serve when the order was kept.
  const Adjacency& user_adjacency() {
    const Adjacency* result = std::visit(
        [](const auto& problem) { return problem.order.identity() ? &problem.adjacency : nullptr; }, problem_);
    if (result != nullptr) return *result;
    if (user_adjacency_.offsets.empty()) user_adjacency_ = build_adjacency(mesh_, threads_);
    return user_adjacency_;
  }

  int threads_for(Method method) const { return runs_on_threads(method) ? threads_ : 1; }

  /// Refuses fast marching where its ordering does not hold, unless told otherwise.
  template <class T>
  void check_ordering(const SimplexProblem<T, Corners>& problem, Arrival& arrival) const {
    if (problem.obtuse_corners == 0) return;
    const std::string why =
        fmt::format("{} of {} element corners are obtuse in the metric, where a vertex can depend on a later one",
                    problem.obtuse_corners, problem.elements.size() * Corners);
    if (options_.unordered == Unordered::refuse)
      throw InputError(
          fmt::format("fast marching cannot order this mesh ({}); use --method banded, or --hand-over to correct "
                      "its result, or --allow-unordered to run it regardless",
                      why));
    arrival.notes.push_back(options_.unordered == Unordered::run
                                ? fmt::format("unordered: fast marching ran although {}; times may be too late", why)
                                : fmt::format("handed over: {}, so banded corrected the result", why));
  }

  template <class T>
  void solve_plain(const SimplexProblem<T, Corners>& problem, const std::vector<Seed>& seeds, Arrival& arrival) {
    if (method_ == Method::fmm) check_ordering(problem, arrival);
    StartOf<T> start = make_start(problem, seeds);
    RunOptions run{method_, threads_for(method_), options_.band_width, mesh_.points};
    const Timer timer;
    if (options_.backend == Backend::cuda) std::get<Device<T>>(device_)->run(start.state);
    else run_schedule(problem, start.state, run);
    if (method_ == Method::fmm && options_.unordered == Unordered::hand_over && problem.obtuse_corners > 0)
      correct(problem, start.state, {Method::banded, threads_, options_.band_width, mesh_.points});
    arrival.transfer_seconds = start.state.transfer_seconds;
    arrival.solve_seconds = timer.seconds() - arrival.transfer_seconds;
    finish(plain_relaxer(problem, start.state), start, seeds, run.threads, arrival);
  }

  /// Everything of the result that is read off the times.
  template <class Relax>
  void finish(const Relax& relax, StartOf<typename Relax::Scalar>& start, const std::vector<Seed>& seeds, int threads,
              Arrival& arrival) {
    using T = typename Relax::Scalar;
    const auto& problem = relax.problem();
    arrival.counters = start.state.counters;
    arrival.converged = start.state.converged;
    arrival.method = method_;
    arrival.threads = threads;
    arrival.backend = threads > 1 ? Backend::threads : Backend::serial;
    if (options_.backend == Backend::cuda) arrival.backend = Backend::cuda;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.times.resize(problem.vertex_count);
    parallel_for(threads_, problem.vertex_count, [&](std::size_t v) {
      arrival.times[problem.user(static_cast<std::uint32_t>(v))] =
          static_cast<double>(start.state.time[v]) * problem.unit + start.base;
    });
    if (options_.verify == Keep::yes) {
      const Residual residual = residual_pass(
          relax, start.pinned, residual_tolerances * static_cast<double>(start.state.tolerance), threads_);
      arrival.residual = residual;
      if (!residual.passed()) arrival.converged = false;
    }
    if (options_.sources == Keep::yes) {
      for (std::size_t i = 0; i < start.state.seeds.size() && i < start.seed_time.size(); ++i)
        if (start.state.time[start.state.seeds[i]] < start.seed_time[i]) start.label[start.state.seeds[i]] = -1;
      label_vertices(relax, start.label, seeds, arrival);
    }
    if (options_.weights == Keep::yes) arrival.upwind = upwind_pass(relax, start.pinned, threads_);
  }

  template <class Relax>
  void label_vertices(const Relax& relax, std::vector<std::int32_t>& label, const std::vector<Seed>& seeds,
                      Arrival& arrival) {
    using T = typename Relax::Scalar;
    const auto& problem = relax.problem();
    const bool one_source =
        std::all_of(seeds.begin(), seeds.end(), [&](const Seed& seed) { return seed.source == seeds.front().source; });
    if (one_source) {
      for (std::uint32_t v = 0; v < problem.vertex_count; ++v)
        label[v] = relax.times().load(v) < std::numeric_limits<T>::infinity() ? seeds.front().source : -1;
    } else {
      spread_labels(relax, label, threads_);
    }
    arrival.source.resize(problem.vertex_count);
    for (std::uint32_t v = 0; v < problem.vertex_count; ++v) arrival.source[problem.user(v)] = label[v];
  }

  /// One solve per source with that source's singular part taken out; the first arrival is the least of them.
  void solve_factored(const Sources& sources, const PlacedSources& placed, Arrival& arrival) {
    if (placed.points.size() > most_factored_sources)
      throw UsageError(
          fmt::format("factored sources are solved one by one and {} are too many (at most {}); use --source-init ball",
                      placed.points.size(), most_factored_sources));
    const auto& problem = std::get<1>(problem_);
    const auto merge = [&](Arrival&& part) {
      if (arrival.times.empty()) {
        part.notes.insert(part.notes.begin(), arrival.notes.begin(), arrival.notes.end());
        arrival = std::move(part);
        return;
      }
      merge_earlier(std::move(part), arrival);
    };
    for (const PlacedSource& source : placed.points) {
      Arrival part;
      std::vector<Seed> seeds;
      add_seeds(mesh_, *metric_, user_adjacency(), source, SourceInit::plain, 0, seeds);
      StartOf<double> start = make_start(problem, seeds);
      const Timer timer;
      run_factored(problem, source, start, seeds, part, timer);
      merge(std::move(part));
    }
    if (placed.level_set) {
      Arrival part;
      PlacedSources only_level_set;
      only_level_set.level_set = true;
      auto seeds = make_seeds(mesh_, *metric_, user_adjacency(), sources, only_level_set, SourceInit::plain, 0);
      for (Seed& seed : seeds) seed.source = static_cast<std::int32_t>(placed.points.size());
      solve_plain(problem, seeds, part);
      merge(std::move(part));
    }
  }

  void run_factored(const SimplexProblem<double, Corners>& problem, const PlacedSource& source, StartOf<double>& start,
                    const std::vector<Seed>& seeds, Arrival& part, const Timer& timer) {
    SymTensor3d at_source{};
    for (const ElementId e : source.elements)
      at_source = at_source + (1.0 / static_cast<double>(source.elements.size())) * metric_->tensor(e);
    const std::vector<SourceView> views = view_from_source(problem, mesh_, source.position, at_source);
    const FactoredRelaxer<Corners, PlainTimes<double>> plain(problem, PlainTimes<double>{start.state.time.data()},
                                                             views);
    const BandTuning tuning = band_tuning(Corners, problem.vertex_count, threads_, options_.band_width);
    if (threads_ > 1) {
      const FactoredRelaxer<Corners, SharedTimes<double>> shared(problem, SharedTimes<double>{start.state.time.data()},
                                                                 views);
      BandedTeam(shared, start.state, tuning, threads_).run();
    } else {
      banded_serial(plain, start.state, tuning);
    }
    part.solve_seconds = timer.seconds();
    finish(plain, start, seeds, threads_, part);
  }

  /// Takes over what is earlier in `part`; counts and worst residuals add up.
  static void merge_earlier(Arrival&& part, Arrival& arrival) {
    for (std::size_t v = 0; v < part.times.size(); ++v) {
      if (!(part.times[v] < arrival.times[v])) continue;
      arrival.times[v] = part.times[v];
      if (!part.source.empty()) arrival.source[v] = part.source[v];
      if (!part.upwind.empty()) arrival.upwind[v] = part.upwind[v];
    }
    arrival.counters.local_solves += part.counters.local_solves;
    arrival.counters.vertex_updates += part.counters.vertex_updates;
    arrival.counters.rounds += part.counters.rounds;
    arrival.solve_seconds += part.solve_seconds;
    arrival.converged = arrival.converged && part.converged;
    if (part.residual && arrival.residual && part.residual->worst > arrival.residual->worst)
      arrival.residual = part.residual;
  }

  static void summarise(Arrival& arrival) {
    arrival.reached = 0;
    arrival.max_time = -std::numeric_limits<double>::infinity();
    for (const double time : arrival.times) {
      if (!std::isfinite(time)) continue;
      ++arrival.reached;
      arrival.max_time = std::max(arrival.max_time, time);
    }
    arrival.unreached = arrival.times.size() - arrival.reached;
  }

  const SimplexMesh<Corners>& mesh_;
  const Metric* metric_ = nullptr;
  SolveOptions options_;
  Method method_ = Method::banded;
  int threads_ = 1;
  std::variant<Device<float>, Device<double>> device_;
  std::variant<SimplexProblem<float, Corners>, SimplexProblem<double, Corners>> problem_;
  Adjacency user_adjacency_;
  double setup_seconds_ = 0;
  std::vector<std::string> notes_;
};

template <int Corners>
Solver<Corners>::Solver(Domain<Corners> domain, SolveOptions options)
    : engine_(std::make_unique<Engine>(domain, std::move(options))) {}
template <int Corners>
Solver<Corners>::~Solver() = default;
template <int Corners>
Solver<Corners>::Solver(Solver&&) noexcept = default;
template <int Corners>
Solver<Corners>& Solver<Corners>::operator=(Solver&&) noexcept = default;

template <int Corners>
Arrival Solver<Corners>::solve(const Sources& sources) {
  return engine_->solve(sources);
}
template <int Corners>
void Solver<Corners>::set_metric(const Metric& metric) {
  engine_->set_metric(metric);
}
template <int Corners>
Residual Solver<Corners>::residual(const Arrival& arrival, const Sources& sources) {
  return engine_->residual(arrival, sources);
}

template class Solver<3>;
template class Solver<4>;

}  // namespace isochron
