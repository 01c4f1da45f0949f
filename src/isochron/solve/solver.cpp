#include "isochron/solve/solver.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/cuda/device.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/core/timer.h"
#include "isochron/solve/choose_backend.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/banded_threads.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/solve_shell.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/simplex/cuda/schedule.h"
#include "isochron/solve/simplex/device_engine.h"
#include "isochron/solve/simplex/factored.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/obtuse_split.h"
#include "isochron/solve/simplex/run.h"
#include "isochron/solve/simplex/seeds.h"

namespace isochron {

template <int Corners>
class Solver<Corners>::Engine {
 public:
  Engine(Domain<Corners> domain, SolveOptions options)
      : mesh_(domain.mesh),
        ids_(domain.ids),
        options_(std::move(options)),
        automatic_(options_.backend == Backend::automatic) {
    use(pick_backend(domain.metric));
    set_metric(domain.metric);
  }

  /// When the metric is refused, the one before stays, and is prepared again for the next solve.
  void set_metric(const Metric& metric) {
    const Metric* before = std::exchange(metric_, &metric);
    host_ready_ = false;
    try {
      or_on_cpu([&] { prepare(); });
    } catch (...) {
      forget();
      metric_ = before;
      throw;
    }
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
    HandOver hand_over(take);
    or_on_cpu([&] {
      if (alone_ == nullptr) prepare();  // does nothing when all is there
      const std::size_t first = hand_over.done();
      if (alone_ == nullptr) {
        solve_on_host(source_sets, first, hand_over);
        return;
      }
      alone_->solve(source_sets.subspan(first), [&](std::size_t i, Arrival&& arrival) {
        if (options_.weights == Keep::yes) add_upwind(source_sets[first + i], arrival);
        summarise(arrival);
        hand_over(gpu_, first + i, std::move(arrival));
      });
    });
  }

  Residual residual(const Arrival& arrival, const Sources& sources) {
    if (arrival.times.size() != mesh_.vertex_count())
      throw UsageError(
          fmt::format("{} times for {} vertices; give one per vertex", arrival.times.size(), mesh_.vertex_count()));
    Residual result;
    or_on_cpu([&] {
      if (alone_ == nullptr) prepare();
      if (alone_ != nullptr) {
        result = alone_->residual(arrival, sources);
        return;
      }
      with_times(arrival, sources, [&](const auto& relax, const auto& start) {
        result = residual_pass(relax, start.pinned, start.seeds, residual_tolerances * start.state.tolerance, threads_);
      });
    });
    return result;
  }

 private:
  template <class T>
  using Device = std::unique_ptr<cuda::DeviceSchedule<T, Corners>>;

  /// What the options' back end stands for on this mesh.
  [[nodiscard]] BackendChoice pick_backend(const Metric& metric) const {
    std::optional<DeviceMemory> device;
    cuda::NoDevice why;
    if (asks_for_device(options_, mesh_.element_count()) && cuda::find_device(why))
      device = DeviceMemory{cuda::free_bytes(), device_engine_bytes(mesh_, metric, options_.precision)};
    return choose_backend(options_, mesh_.element_count(), device);
  }

  void use(const BackendChoice& choice) {
    options_.backend = choice.backend;
    gpu_ = choice.backend == Backend::cuda ? cuda::current_device() : -1;
    backend_note_ = choice.note;
    threads_ = granted_threads(choice.backend == Backend::serial ? 1 : wanted_threads(options_));
    choose_method();
    if (options_.source_init == SourceInit::factored && method_ != Method::banded)
      throw UsageError(
          Message(fmt::format("factored sources are solved by method banded, not {}; leave ", name_of(method_))) +
          Setting{Option::method} + " out");
  }

  /// Does it; when the device fails that nobody asked for, does it again on the CPU.
  template <class Work>
  void or_on_cpu(Work&& work) {
    const StopScope stop(options_.progress.cancel);
    on_device_or_cpu(gpu_, work, [&](const DeviceError& error) {
      if (!automatic_ || runs_on_gpu(options_.method) || options_.backend != Backend::cuda) throw;
      forget();
      use(without_device(mesh_.element_count(), error.what()));
      prepare();
    });
  }

  /// Drops all that was prepared.
  void forget() {
    alone_.reset();
    device_ = {};
    problem_ = {};
    host_ready_ = false;
  }

  void prepare() {
    if (method_ != Method::push) {
      prepare_host();
    } else if (alone_ == nullptr || !alone_->set_metric(*metric_)) {
      alone_.reset();  // its memory may be needed
      alone_ = make_device_engine<Corners>(mesh_, *metric_, options_, threads_);
    }
  }

  /// What schedules need that work on a problem prepared by the host.
  void prepare_host() {
    if (host_ready_) return;
    const Timer timer;
    const bool first = std::visit([](const auto& problem) { return problem.vertex_count == 0; }, problem_);
    if (first) check_mesh(mesh_, ids_);
    check_metric(*metric_, mesh_.element_count(), Subject::metric);
    stop_if_cancelled();
    if (first) prepare_order();
    stop_if_cancelled();
    notes_.clear();
    if (!backend_note_.empty()) notes_.push_back(backend_note_);
    if (options_.precision == Precision::single_ && options_.source_init == SourceInit::factored)
      notes_.emplace_back("precision raised to double: factored sources need it");
    std::visit([&](auto& problem) { prepare_metric(problem); }, problem_);
    if (const auto* single = std::get_if<0>(&problem_);
        single != nullptr && !fits_single(single->shortest, single->longest)) {
      notes_.push_back(precision_note(single->shortest * single->unit, single->longest * single->unit));
      const KeepOrder keep_order = single->order.identity() ? KeepOrder::yes : KeepOrder::no;
      problem_.template emplace<1>(prepare_topology<double>(mesh_, keep_order, threads_, for_pushes()));
      prepare_metric(std::get<1>(problem_));
    }
    if (options_.backend == Backend::cuda && alone_ == nullptr)
      std::visit([&](auto& problem) { device_ = make_device_schedule(problem); }, problem_);
    setup_seconds_ = timer.seconds();
    host_ready_ = true;
  }

  /// Between the steps of preparing, of which each takes a share of a second on a mesh of millions.
  void stop_if_cancelled() const {
    if (options_.progress.cancelled()) throw Cancelled();
  }

  void prepare_order() {
    const bool wants_single = options_.precision == Precision::single_ ||
                              (options_.precision == Precision::automatic && options_.backend == Backend::cuda);
    const bool single = wants_single && options_.source_init != SourceInit::factored;
    const bool keep =
        options_.reorder == Reorder::never || (options_.reorder == Reorder::automatic && locally_ordered(mesh_));
    const KeepOrder keep_order = keep ? KeepOrder::yes : KeepOrder::no;
    if (single) problem_.template emplace<0>(prepare_topology<float>(mesh_, keep_order, threads_, for_pushes()));
    else problem_.template emplace<1>(prepare_topology<double>(mesh_, keep_order, threads_, for_pushes()));
  }

  /// `banded` pushes; `fmm` may hand over to it.
  [[nodiscard]] ForPushes for_pushes() const {
    return method_ == Method::banded || method_ == Method::fmm ? ForPushes::yes : ForPushes::no;
  }

  /// Calls `use(relaxer, start)` with the arrival's times on the host's problem.
  template <class Use>
  void with_times(const Arrival& arrival, const Sources& sources, Use&& use) {
    prepare_host();
    const PlacedSources placed = place_sources(mesh_, user_adjacency(), sources);
    const auto seeds =
        make_seeds(mesh_, *metric_, user_adjacency(), sources, placed, options_.source_init, rings_for(placed));
    std::visit(
        [&](const auto& problem) {
          auto start = make_start(problem, seeds);
          using T = typename std::decay_t<decltype(start.state.time)>::value_type;
          for (std::size_t v = 0; v < mesh_.vertex_count(); ++v)
            start.state.time[problem.internal(VertexId(v))] =
                static_cast<T>((arrival.times[v] - start.base) / problem.unit);
          use(plain_relaxer(problem, start.state), start);
        },
        problem_);
  }

  void add_upwind(const Sources& sources, Arrival& arrival) {
    with_times(arrival, sources, [&](const auto& relax, const auto& start) {
      arrival.upwind = upwind_pass(relax, start.pinned, threads_);
    });
  }

  /// Solves from set `first` on.
  void solve_on_host(std::span<const Sources> source_sets, std::size_t first, HandOver& hand_over) {
    (void)user_adjacency();  // made on first use, and all solves read it
    const auto has_points = [](const Sources& sources) { return !sources.points.empty(); };
    if (locator_ == nullptr && std::any_of(source_sets.begin(), source_sets.end(), has_points))
      locator_ = std::make_unique<PointLocator<Corners>>(mesh_, threads_);
    const bool alone = options_.backend == Backend::cuda || (options_.backend == Backend::serial && !automatic_);
    const int at_once =
        alone ? 1
              : solves_at_once(source_sets.size() - first, threads_for(method_, threads_), wanted_threads(options_));
    solve_batch(
        source_sets, first, {at_once, threads_}, options_.progress,
        [&](const Sources& sources, const Crew& crew) { return solve_one(sources, crew); },
        [&](std::size_t set, Arrival&& arrival) { hand_over(gpu_, set, std::move(arrival)); });
  }

  Arrival solve_one(const Sources& sources, const Crew& crew) {
    const Timer timer;
    Arrival arrival;
    arrival.notes = notes_;
    const PlacedSources placed = place_sources(mesh_, user_adjacency(), sources, locator_.get());
    SourceInit init = options_.source_init;
    if (init == SourceInit::factored) {
      try {
        solve_factored(sources, placed, crew, arrival);
      } catch (const FactoringFailed&) {
        init = SourceInit::ball;
        arrival = {};
        arrival.notes = notes_;
        arrival.notes.emplace_back("ball instead of factored sources: the metric changes too much for factoring");
      }
    }
    if (init != SourceInit::factored) {
      const auto seeds = make_seeds(mesh_, *metric_, user_adjacency(), sources, placed, init, rings_for(placed));
      std::visit([&](const auto& problem) { solve_plain(problem, seeds, crew, arrival); }, problem_);
    }
    summarise(arrival);
    arrival.setup_seconds = setup_seconds_;
    if (arrival.solve_seconds == 0) arrival.solve_seconds = timer.seconds();
    return arrival;
  }

  /// The advice of the message must lead on: on the CPU there is no such method.
  void require_device() const {
    try {
      cuda::require_device();
    } catch (const DeviceError& error) {
      if (options_.method == Method::automatic) throw;
      throw DeviceError(fmt::format("{} and without --method {}", error.what(), name_of(options_.method)));
    }
  }

  /// Each method runs on the CPU or on the GPU.
  void choose_method() {
    const bool gpu = options_.backend == Backend::cuda;
    method_ = options_.method;
    // `push` prepares on the GPU, where virtual triangles are made but no virtual tetrahedra.
    const bool virtual_tets = Corners == 4 && options_.obtuse == ObtuseSplit::split;
    if (method_ == Method::automatic)
      method_ = !gpu ? Method::banded : virtual_tets ? Method::active_list : Method::push;
    if (gpu && !runs_on_gpu(method_))
      throw UsageError(
          fmt::format("method {} does not run on the GPU (push, patch-fim, active-list and domain-decomposition do); "
                      "leave --method or --backend out",
                      name_of(method_)));
    if (!gpu && runs_on_gpu(method_))
      throw UsageError(
          fmt::format("method {} runs on the GPU only; give --backend cuda, or leave --method out", name_of(method_)));
    if (method_ == Method::push && virtual_tets)
      throw UsageError(
          "method push makes no virtual tetrahedra on the GPU; use --method active-list, or leave --split-obtuse out");
    if (gpu && options_.source_init == SourceInit::factored)
      throw UsageError("factored sources are solved on the CPU; leave --backend out");
    if (gpu) require_device();
  }

  template <class T>
  Device<T> make_device_schedule(const SimplexProblem<T, Corners>& problem) const {
    switch (method_) {
      case Method::patch_fim: return cuda::make_patch_fim(problem, mesh_, options_.scheme);
      case Method::domain_decomposition: return cuda::make_domain_decomposition(problem, mesh_, options_.scheme);
      default: return cuda::make_active_list(problem, mesh_, options_.scheme);
    }
  }

  /// The state before a schedule runs, and what is needed to read its result.
  template <class T>
  struct StartOf {
    SolveState<T> state;
    std::vector<std::uint8_t> pinned;
    std::vector<std::int32_t> label;
    std::vector<SeedTime<T>> seeds;  ///< as they were before the schedule ran
    double base = 0;                 ///< user's time that is 0 inside
  };

  template <class T>
  StartOf<T> make_start(const SimplexProblem<T, Corners>& problem, const std::vector<Seed>& seeds) const {
    StartOf<T> start;
    const double tolerance =
        checked_tolerance(options_.tolerance.value_or(default_tolerance(std::is_same_v<T, float>)));
    start.state.time.assign(problem.vertex_count, std::numeric_limits<T>::infinity());
    start.state.tolerance = static_cast<T>(tolerance);
    start.pinned.assign(problem.vertex_count, 0);
    start.label.assign(problem.vertex_count, -1);
    const StartSeeds start_seeds = make_start_seeds<T>(seeds, problem.unit);
    start.base = start_seeds.base;
    for (const StartSeed& seed : start_seeds.seeds) {
      const std::uint32_t v = problem.internal(seed.vertex);
      start.state.seeds.push_back(v);
      start.pinned[v] = 1;
      start.state.time[v] = static_cast<T>(seed.time);
      start.label[v] = seed.source;
    }
    for (const std::uint32_t v : start.state.seeds) start.seeds.push_back({v, start.state.time[v]});
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

  int rings_for(const PlacedSources& placed) const {
    return limited_rings(options_.ball_rings, placed.points.size(), mesh_.vertex_count(), Corners - 1);
  }

  static int threads_for(Method method, int threads) { return runs_on_threads(method) ? threads : 1; }

  /// Refuses fast marching where its ordering does not hold, unless told otherwise.
  template <class T>
  void check_ordering(const SimplexProblem<T, Corners>& problem, Arrival& arrival) const {
    if (problem.obtuse_corners == 0) return;
    const std::string why =
        fmt::format("{} of {} element corners are obtuse in the metric, where a vertex can depend on a later one",
                    problem.obtuse_corners, problem.elements.size() * Corners);
    if (options_.unordered == Unordered::refuse)
      throw InputError(Message("fast marching cannot order this mesh (" + why + "); use ") +
                       Setting{Option::method, "banded"} + ", or " + Setting{Option::unordered, "hand-over"} +
                       " to correct its result, or " + Setting{Option::unordered, "run"} + " to run it regardless");
    arrival.notes.push_back(options_.unordered == Unordered::run
                                ? fmt::format("unordered: fast marching ran although {}; times may be too late", why)
                                : fmt::format("handed over: {}, so banded corrected the result", why));
  }

  template <class T>
  void solve_plain(const SimplexProblem<T, Corners>& problem, const std::vector<Seed>& seeds, const Crew& crew,
                   Arrival& arrival) {
    if (method_ == Method::fmm) check_ordering(problem, arrival);
    StartOf<T> start = make_start(problem, seeds);
    start.state.progress = crew.progress;
    RunOptions run{method_, threads_for(method_, crew.threads), options_.band_width, mesh_.points};
    const Timer timer;
    if (start.state.progress.cancelled()) throw Cancelled();  // a kernel once started runs to its end
    if (options_.backend == Backend::cuda) std::get<Device<T>>(device_)->run(start.state);
    else run_schedule(problem, start.state, run);
    if (method_ == Method::fmm && options_.unordered == Unordered::hand_over && problem.obtuse_corners > 0)
      correct(problem, start.state, {Method::banded, crew.threads, options_.band_width, mesh_.points});
    arrival.transfer_seconds = start.state.transfer_seconds;
    arrival.solve_seconds = timer.seconds() - arrival.transfer_seconds;
    arrival.threads = run.threads;
    finish(plain_relaxer(problem, start.state), start, seeds, crew, arrival);
  }

  /// Everything of the result that is read off the times.
  template <class Relax>
  void finish(const Relax& relax, StartOf<typename Relax::Scalar>& start, const std::vector<Seed>& seeds,
              const Crew& crew, Arrival& arrival) {
    using T = typename Relax::Scalar;
    const auto& problem = relax.problem();
    arrival.counters = start.state.counters;
    arrival.converged = start.state.converged;
    arrival.method = method_;
    arrival.backend = arrival.threads > 1 ? Backend::threads : Backend::serial;
    if (options_.backend == Backend::cuda) arrival.backend = Backend::cuda;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.times.resize(problem.vertex_count);
    stoppable_for(crew.threads, problem.vertex_count, [&](std::size_t v) {
      arrival.times[problem.user(static_cast<std::uint32_t>(v))] =
          static_cast<double>(start.state.time[v]) * problem.unit + start.base;
    });
    if (options_.verify == Keep::yes) {
      const Residual residual =
          residual_pass(relax, start.pinned, start.seeds,
                        residual_tolerances * static_cast<double>(start.state.tolerance), crew.threads);
      arrival.residual = residual;
      if (!residual.passed()) arrival.converged = false;
    }
    if (options_.sources == Keep::yes) {
      for (const auto& [v, time] : start.seeds)
        if (start.state.time[v] < time) start.label[v] = -1;
      label_vertices(relax, start.label, seeds, crew.threads, arrival);
    }
    if (options_.weights == Keep::yes) arrival.upwind = upwind_pass(relax, start.pinned, crew.threads);
  }

  template <class Relax>
  void label_vertices(const Relax& relax, std::vector<std::int32_t>& label, const std::vector<Seed>& seeds, int threads,
                      Arrival& arrival) {
    using T = typename Relax::Scalar;
    const auto& problem = relax.problem();
    const bool one_source =
        std::all_of(seeds.begin(), seeds.end(), [&](const Seed& seed) { return seed.source == seeds.front().source; });
    if (one_source) {
      for (std::uint32_t v = 0; v < problem.vertex_count; ++v)
        label[v] = relax.times().load(v) < std::numeric_limits<T>::infinity() ? seeds.front().source : -1;
    } else {
      LabelSpreader(relax, label, threads).spread();
    }
    arrival.source.resize(problem.vertex_count);
    for (std::uint32_t v = 0; v < problem.vertex_count; ++v) arrival.source[problem.user(v)] = label[v];
  }

  /// One solve per source with that source's singular part taken out; the first arrival is the least of them.
  void solve_factored(const Sources& sources, const PlacedSources& placed, const Crew& crew, Arrival& arrival) {
    check_factored_count(placed.points.size());
    const auto& problem = std::get<1>(problem_);
    const auto merge = [&](Arrival&& part) {
      if (arrival.times.empty()) {
        part.notes.insert(part.notes.begin(), arrival.notes.begin(), arrival.notes.end());
        arrival = std::move(part);
        return;
      }
      take_earlier(std::move(part), arrival);
    };
    for (const PlacedSource& source : placed.points) {
      Arrival part;
      std::vector<Seed> seeds;
      add_seeds(mesh_, *metric_, user_adjacency(), source, SourceInit::plain, 0, seeds);
      StartOf<double> start = make_start(problem, seeds);
      start.state.progress = crew.progress;
      const Timer timer;
      run_factored(problem, source, start, seeds, crew, part, timer);
      merge(std::move(part));
    }
    if (placed.level_set) {
      Arrival part;
      PlacedSources only_level_set;
      only_level_set.level_set = true;
      auto seeds = make_seeds(mesh_, *metric_, user_adjacency(), sources, only_level_set, SourceInit::plain, 0);
      for (Seed& seed : seeds) seed.source = static_cast<std::int32_t>(placed.points.size());
      solve_plain(problem, seeds, crew, part);
      merge(std::move(part));
    }
  }

  void run_factored(const SimplexProblem<double, Corners>& problem, const PlacedSource& source, StartOf<double>& start,
                    const std::vector<Seed>& seeds, const Crew& crew, Arrival& part, const Timer& timer) {
    SymTensor3d at_source{};
    for (const ElementId e : source.elements)
      at_source = at_source + (1.0 / static_cast<double>(source.elements.size())) * metric_->tensor(e);
    const std::vector<SourceView> views = view_from_source(problem, mesh_, source.position, at_source);
    const FactoredRelaxer<Corners, PlainTimes<double>> plain(problem, PlainTimes<double>{start.state.time.data()},
                                                             views);
    const BandTuning tuning = band_tuning(Corners, problem.vertex_count, crew.threads, options_.band_width);
    if (crew.threads > 1) {
      const FactoredRelaxer<Corners, SharedTimes<double>> shared(problem, SharedTimes<double>{start.state.time.data()},
                                                                 views);
      BandedTeam(shared, start.state, tuning, crew.threads).run();
    } else {
      banded_serial(plain, start.state, tuning);
    }
    part.solve_seconds = timer.seconds();
    part.threads = crew.threads;
    finish(plain, start, seeds, crew, part);
  }

  const SimplexMesh<Corners>& mesh_;
  MeshIds ids_;
  const Metric* metric_ = nullptr;
  SolveOptions options_;  ///< with a back end that is not `automatic`
  bool automatic_;        ///< the back end was left to us
  std::string backend_note_;
  Method method_ = Method::banded;
  int threads_ = 1;
  std::unique_ptr<DeviceEngine> alone_;  ///< when the GPU does everything: `push` also prepares there
  int gpu_ = -1;                         ///< the device that everything on the GPU is done on
  bool host_ready_ = false;
  std::variant<Device<float>, Device<double>> device_;
  std::variant<SimplexProblem<float, Corners>, SimplexProblem<double, Corners>> problem_;
  Adjacency user_adjacency_;
  std::unique_ptr<PointLocator<Corners>> locator_;  ///< from the first point source on
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
  Arrival result;
  engine_->solve_many({&sources, 1}, [&](std::size_t, Arrival&& arrival) { result = std::move(arrival); });
  return result;
}
template <int Corners>
void Solver<Corners>::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  engine_->solve_many(source_sets, take);
}
template <int Corners>
std::vector<Arrival> Solver<Corners>::solve_many(std::span<const Sources> source_sets) {
  std::vector<Arrival> result(source_sets.size());
  engine_->solve_many(source_sets, [&](std::size_t i, Arrival&& arrival) { result[i] = std::move(arrival); });
  return result;
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
