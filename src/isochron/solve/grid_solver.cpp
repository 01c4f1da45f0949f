#include "isochron/solve/grid_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/core/timer.h"
#include "isochron/solve/choose_backend.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/solve_shell.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/device_engine.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/grid/paper_schemes.h"

namespace isochron {
namespace {

constexpr std::array<std::pair<GridScheme, std::string_view>, 4> schemes{
    {{GridScheme::automatic, "auto"},
     {GridScheme::adaptive, "adaptive"},
     {GridScheme::godunov, "godunov"},
     {GridScheme::lax_friedrichs, "lax-friedrichs"}}};

}  // namespace

std::string_view name_of(GridScheme scheme) {
  for (const auto& [candidate, name] : schemes)
    if (candidate == scheme) return name;
  return "?";
}

GridScheme grid_scheme_named(std::string_view name) {
  for (const auto& [scheme, known] : schemes)
    if (known == name) return scheme;
  throw UsageError(fmt::format("unknown scheme '{}'; choose one of: auto, adaptive, godunov, lax-friedrichs", name));
}

class GridSolver::Engine {
  /// Calls `use` with the stencils, of whatever kind they are.
  template <class Use>
  auto with_problem(Use&& use) const {
    return single() ? std::visit(use, single_) : std::visit(use, double_);
  }

 public:
  Engine(GridDomain domain, GridOptions wanted)
      : grid_(domain.grid), grid_options_(std::move(wanted)), asked_(grid_options_.common) {
    check_grid(grid_, "the image");
    check_options();
    cells_ = make_cells(grid_, domain.mask);
    use(pick_backend());
    const bool serial = options().backend == Backend::serial ||
                        (options().backend == Backend::automatic && cells_.list.size() < worth_threads);
    threads_ = granted_threads(serial ? 1 : wanted_threads(options()));
    set_metric(domain.metric);
  }

  void set_metric(const Metric& metric) {
    or_on_cpu([&] { prepare(metric); });
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
    HandOver hand_over(take);
    or_on_cpu([&] {
      if (!ready_) prepare(*metric_);
      const std::size_t first = hand_over.done();
      if (device_ != nullptr) solve_on_device(source_sets, first, hand_over);
      else solve_on_host(source_sets, first, hand_over);
    });
  }

  Residual residual(const Arrival& arrival, const Sources& sources) {
    if (arrival.times.size() != grid_.voxel_count())
      throw UsageError(
          fmt::format("{} times for {} voxels; give one per voxel", arrival.times.size(), grid_.voxel_count()));
    const std::vector<Group> groups = groups_of(sources);
    if (groups.size() > 1)
      throw UsageError("factored sources are solved one by one; check the times of each on its own");
    Residual result;
    or_on_cpu([&] {
      if (!ready_) prepare(*metric_);
      result =
          device_ != nullptr ? device_->residual(arrival.times, groups[0].seeds) : residual_on_host(arrival, groups[0]);
    });
    return result;
  }

 private:
  static constexpr std::size_t worth_threads = 150000;  ///< cells

  /// Sources that are solved together.
  struct Group {
    std::vector<Seed> seeds;
    std::optional<FactoredSource> factored;
  };

  void prepare(const Metric& metric) {
    const Timer timer;
    const VoxelMetric in_voxels{grid_, metric};
    check_grid_metric(in_voxels, cells_);
    ready_ = false;
    device_.reset();  // its memory may be needed, and it reads the stencils
    const int threads = options().backend == Backend::serial ? 1 : wanted_threads(options());
    const bool adaptive = grid_options_.scheme == GridScheme::adaptive;
    if (single())
      single_ =
          adaptive ? make_stencils<float>(in_voxels, cells_, threads) : make_tensors<float>(in_voxels, cells_, threads);
    else
      double_ = adaptive ? make_stencils<double>(in_voxels, cells_, threads)
                         : make_tensors<double>(in_voxels, cells_, threads);
    if (on_device_)
      device_ = with_problem([&](const auto& problem) -> std::unique_ptr<GridDeviceEngine> {
        return make_grid_device_engine(grid_, problem, grid_options_, threads);
      });
    setup_seconds_ = timer.seconds();
    metric_ = &metric;
    ready_ = true;
  }

  /// These solve from set `first` on.
  void solve_on_device(std::span<const Sources> source_sets, std::size_t first, HandOver& hand_over) {
    std::vector<std::vector<Seed>> seeds;
    const std::size_t count = source_sets.size() - first;
    parallel_in_order<std::vector<Seed>>(
        solves_at_once(count, 1, wanted_threads(options())), count,
        [&](std::size_t i, const std::atomic<bool>&) {
          return for_source_set(first + i, source_sets.size(),
                                [&] { return std::move(groups_of(source_sets[first + i])[0].seeds); });
        },
        [&](std::size_t, std::vector<Seed>&& set) { seeds.push_back(std::move(set)); });
    device_->solve(seeds, [&](std::size_t i, Arrival&& arrival) {
      arrival.setup_seconds = setup_seconds_;
      arrival.notes = notes_;
      hand_over(gpu_, first + i, std::move(arrival));
    });
  }

  void solve_on_host(std::span<const Sources> source_sets, std::size_t first, HandOver& hand_over) {
    const int at_once =
        options().backend == Backend::serial
            ? 1
            : solves_at_once(source_sets.size() - first, threads_of(threads_), wanted_threads(options()));
    solve_batch(
        source_sets, first, {at_once, threads_}, options().progress,
        [&](const Sources& sources, const Crew& crew) { return solve_one(sources, crew); },
        [&](std::size_t set, Arrival&& arrival) { hand_over(gpu_, set, std::move(arrival)); });
  }

  Residual residual_on_host(const Arrival& arrival, const Group& group) {
    return with_problem([&](const auto& problem) {
      using T = typename std::decay_t<decltype(problem)>::Scalar;
      GridStart<T> start = make_start(problem, group.seeds);
      if (grid_options_.order == 2) run(problem, group, threads_, start);
      for (const std::uint32_t cell : cells_.list)
        start.state.time[cell] = static_cast<T>((arrival.times[voxel_of(cell).index()] - start.base) / problem.unit);
      return check(problem, group, threads_, start);
    });
  }

  [[nodiscard]] const SolveOptions& options() const { return grid_options_.common; }
  /// Factoring subtracts times that are nearly equal.
  [[nodiscard]] bool single() const {
    return options().precision == Precision::single_ && options().source_init != SourceInit::factored;
  }
  [[nodiscard]] VertexId voxel_of(std::uint32_t cell) const { return cells_.box.voxel(cells_.box.index(cell)); }

  void check_options() {
    if (grid_options_.scheme == GridScheme::automatic) grid_options_.scheme = GridScheme::adaptive;
    if (grid_options_.order != 1 && grid_options_.order != 2)
      throw UsageError(fmt::format("order {} is not there; choose 1 or 2", grid_options_.order));
    check_device_options();
    choose_method();
    if (options().weights == Keep::yes) throw UsageError("upwind weights are given on meshes only; leave them out");
    if (options().precision == Precision::single_ && !single())
      notes_.emplace_back("precision raised to double: factored sources need it");
  }

  /// Each scheme has its schedules.
  void choose_method() {
    const GridScheme scheme = grid_options_.scheme;
    const bool adaptive = scheme == GridScheme::adaptive;
    method_ = options().method;
    if (runs_on_gpu(method_)) return;
    if (method_ == Method::automatic)
      method_ = adaptive ? Method::banded : scheme == GridScheme::godunov ? Method::fim : Method::fsm;
    const bool fits = adaptive                        ? method_ == Method::banded
                      : scheme == GridScheme::godunov ? method_ == Method::fim || method_ == Method::fsm
                                                      : method_ == Method::fsm;
    if (!fits)
      throw UsageError(
          fmt::format("method {} does not solve scheme {} (banded solves adaptive, fim and fsm godunov, fsm "
                      "lax-friedrichs); leave --method out",
                      name_of(method_), name_of(scheme)));
    if (adaptive) return;
    if (grid_options_.order != 1)
      throw UsageError(fmt::format("scheme {} is of first order; use --scheme adaptive for order 2", name_of(scheme)));
    if (options().source_init == SourceInit::factored)
      throw UsageError(fmt::format("scheme {} does not factor sources; use --source-init ball or --scheme adaptive",
                                   name_of(scheme)));
  }
  [[nodiscard]] PaperScheme paper_scheme() const {
    if (grid_options_.scheme == GridScheme::lax_friedrichs) return PaperScheme::lax_friedrichs_fsm;
    return method_ == Method::fim ? PaperScheme::godunov_fim : PaperScheme::godunov_fsm;
  }
  /// The references of paper 004 run on one thread.
  [[nodiscard]] int threads_of(int threads) const { return grid_options_.scheme == GridScheme::adaptive ? threads : 1; }

  /// Runs the scheme of the options.
  template <class Problem, class T = typename Problem::Scalar>
  void run(const Problem& problem, const Group& group, int threads, GridStart<T>& start) const {
    if constexpr (is_tensor_problem<Problem>) solve_paper_scheme(problem, paper_scheme(), start);
    else solve_adaptive(problem, start, run_of(group, threads));
  }
  template <class Problem, class T = typename Problem::Scalar>
  [[nodiscard]] Residual check(const Problem& problem, const Group& group, int threads,
                               const GridStart<T>& start) const {
    if constexpr (is_tensor_problem<Problem>)
      return check_paper_scheme(problem, paper_scheme(), start, threads, residual_limit());
    else return check_adaptive(problem, start, run_of(group, threads), residual_limit());
  }

  /// The method of the scheme on the GPU.
  [[nodiscard]] std::optional<Method> device_method() const {
    if (options().source_init == SourceInit::factored) return std::nullopt;
    if (grid_options_.scheme == GridScheme::adaptive) return Method::push;
    if (grid_options_.scheme == GridScheme::godunov && grid_options_.order == 1) return Method::patch_fim;
    return std::nullopt;
  }

  void check_device_options() const {
    const Method method = options().method;
    if (options().backend != Backend::cuda && !runs_on_gpu(method)) return;
    const auto here = device_method();
    if (!here)
      throw UsageError(
          "images are solved on the GPU with scheme adaptive, or godunov at first order, without factored sources; "
          "leave --backend and --method out");
    if (method != Method::automatic && method != *here)
      throw UsageError(fmt::format("method {} does not solve scheme {} on the GPU ({} does); leave --method out",
                                   name_of(method), name_of(grid_options_.scheme), name_of(*here)));
    if (options().backend != Backend::cuda && options().backend != Backend::automatic)
      throw UsageError(
          fmt::format("method {} runs on the GPU only; give --backend cuda, or leave --method out", name_of(method)));
  }

  [[nodiscard]] BackendChoice pick_backend() const {
    std::optional<DeviceMemory> device;
    cuda::NoDevice why;
    if (device_method() == Method::push && asks_for_device(asked_, cells_.list.size()) && cuda::find_device(why))
      device =
          DeviceMemory{cuda::free_bytes(),
                       cuda::device_grid_bytes(cells_.list.size(), cells_.box.cell_count,
                                               asked_.precision == Precision::double_ ? sizeof(double) : sizeof(float),
                                               grid_options_.order)};
    return choose_backend(asked_, cells_.list.size(), device);
  }

  /// Precision and tolerance follow the back end: single is the default on the GPU alone.
  void use(const BackendChoice& choice) {
    on_device_ = choice.backend == Backend::cuda;
    if (on_device_) cuda::require_device();
    gpu_ = on_device_ ? cuda::current_device() : -1;
    if (!choice.note.empty()) notes_.push_back(choice.note);
    SolveOptions& common = grid_options_.common;
    common.precision = asked_.precision == Precision::automatic && on_device_ ? Precision::single_ : asked_.precision;
    common.tolerance = checked_tolerance(asked_.tolerance.value_or(default_tolerance(single())));
  }

  /// Does it; when the device fails that nobody asked for, does it again on the CPU.
  template <class Work>
  void or_on_cpu(Work&& work) {
    const StopScope stop(options().progress.cancel);
    on_device_or_cpu(gpu_, work, [&](const DeviceError& error) {
      if (!on_device_ || asked_.backend != Backend::automatic || asked_.method != Method::automatic) throw;
      device_.reset();
      ready_ = false;
      use(without_device(cells_.list.size(), error.detail()));
    });
  }

  /// One group; of factored sources one for each point and one for all that are parts of regions.
  [[nodiscard]] std::vector<Group> groups_of(const Sources& sources) const {
    const VoxelMetric metric{grid_, *metric_};
    const auto placed = place_grid_sources(grid_, cells_, sources);
    const int radius = limited_radius(options().ball_rings, placed.size(), grid_);
    const auto group = [&](const std::vector<PlacedVoxelSource>& members) {
      return Group{make_grid_seeds(metric, cells_, members, options().source_init, radius), std::nullopt};
    };
    if (options().source_init != SourceInit::factored) return {group(placed)};
    auto [alone, regions] = split_regions(grid_, placed);
    check_factored_count(alone.size());
    std::vector<Group> groups;
    if (!regions.empty()) groups.push_back(group(regions));
    for (const PlacedVoxelSource& source : alone) {
      groups.push_back(group({source}));
      groups.back().factored = FactoredSource{source.index, metric_at(metric, cells_, source)};
    }
    return groups;
  }

  [[nodiscard]] AdaptiveRun run_of(const Group& group, int threads) const {
    return {grid_options_.order, threads, options().band_width, group.factored ? &*group.factored : nullptr};
  }
  [[nodiscard]] double residual_limit() const { return residual_tolerances * *options().tolerance; }

  Arrival solve_one(const Sources& sources, const Crew& crew) const {
    Arrival arrival;
    for (const Group& group : groups_of(sources)) {
      Arrival part;
      with_problem([&](const auto& problem) { solve_on(problem, group, crew, part); });
      if (arrival.times.empty()) arrival = std::move(part);
      else take_earlier(std::move(part), arrival);
    }
    summarise(arrival);
    arrival.setup_seconds = setup_seconds_;
    arrival.notes.insert(arrival.notes.begin(), notes_.begin(), notes_.end());
    return arrival;
  }

  template <class Problem>
  void solve_on(const Problem& problem, const Group& group, const Crew& crew, Arrival& arrival) const {
    const Timer timer;
    GridStart<typename Problem::Scalar> start = make_start(problem, group.seeds);
    start.state.progress = crew.progress;
    if (crew.progress.cancelled()) throw Cancelled();
    run(problem, group, crew.threads, start);
    arrival.solve_seconds = timer.seconds();
    arrival.threads = threads_of(crew.threads);
    finish(problem, start, group, crew, arrival);
  }

  template <class Problem, class T = typename Problem::Scalar>
  GridStart<T> make_start(const Problem& problem, const std::vector<Seed>& seeds) const {
    GridStart<T> start;
    start.state.time.assign(problem.vertex_count, std::numeric_limits<T>::infinity());
    start.state.tolerance = static_cast<T>(*options().tolerance);
    start.pinned.assign(problem.vertex_count, 0);
    const StartSeeds start_seeds = make_start_seeds<T>(seeds, problem.unit);
    start.base = start_seeds.base;
    start.label.assign(problem.vertex_count, -1);
    for (const StartSeed& seed : start_seeds.seeds) {
      const auto [i, j, k] = grid_.index(seed.vertex);
      const std::uint32_t cell = cells_.box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
      start.state.seeds.push_back(cell);
      start.pinned[cell] = 1;
      start.state.time[cell] = static_cast<T>(seed.time);
      start.label[cell] = seed.source;
    }
    for (const std::uint32_t cell : start.state.seeds) start.seeds.push_back({cell, start.state.time[cell]});
    return start;
  }

  /// Everything of the result that is read off the times.
  template <class Problem, class T = typename Problem::Scalar>
  void finish(const Problem& problem, GridStart<T>& start, const Group& group, const Crew& crew,
              Arrival& arrival) const {
    arrival.counters = start.state.counters;
    arrival.converged = start.state.converged;
    arrival.method = method_;
    arrival.backend = arrival.threads > 1 ? Backend::threads : Backend::serial;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.times.assign(grid_.voxel_count(), std::numeric_limits<double>::infinity());
    stoppable_for(crew.threads, cells_.list.size(), [&](std::size_t k) {
      const std::uint32_t cell = cells_.list[k];
      arrival.times[voxel_of(cell).index()] = static_cast<double>(start.state.time[cell]) * problem.unit + start.base;
    });
    if (options().verify == Keep::yes) {
      arrival.residual = check(problem, group, crew.threads, start);
      if (!arrival.residual->passed()) arrival.converged = false;
    }
    if (options().sources == Keep::yes) label_voxels(problem, start, group.seeds, crew.threads, arrival);
  }

  template <class Problem, class T = typename Problem::Scalar>
  void label_voxels(const Problem& problem, GridStart<T>& start, const std::vector<Seed>& seeds, int threads,
                    Arrival& arrival) const {
    const bool one_source =
        std::all_of(seeds.begin(), seeds.end(), [&](const Seed& seed) { return seed.source == seeds.front().source; });
    const T* time = start.state.time.data();
    if (!one_source) {
      for (const auto& [cell, wanted] : start.seeds)
        if (time[cell] < wanted) start.label[cell] = -1;
      GridLabelSpreader(problem, time, start.label, threads).spread();
    }
    arrival.source.assign(grid_.voxel_count(), -1);
    stoppable_for(threads, cells_.list.size(), [&](std::size_t k) {
      const std::uint32_t cell = cells_.list[k];
      if (!(time[cell] < std::numeric_limits<T>::infinity())) return;
      arrival.source[voxel_of(cell).index()] = one_source ? seeds.front().source : start.label[cell];
    });
  }

  const ImageGrid& grid_;
  GridOptions grid_options_;
  SolveOptions asked_;  ///< as they were given
  const Metric* metric_ = nullptr;
  GridCells cells_;
  Method method_ = Method::banded;
  int threads_ = 1;
  AnyGridProblem<float> single_;  ///< the one of the two that the precision asks for
  AnyGridProblem<double> double_;
  bool on_device_ = false;
  int gpu_ = -1;        ///< the device that everything on the GPU is done on
  bool ready_ = false;  ///< stencils and device are those of `metric_`
  std::unique_ptr<GridDeviceEngine> device_;
  double setup_seconds_ = 0;
  std::vector<std::string> notes_;
};

GridSolver::GridSolver(GridDomain domain, GridOptions options)
    : engine_(std::make_unique<Engine>(domain, std::move(options))) {}
GridSolver::~GridSolver() = default;
GridSolver::GridSolver(GridSolver&&) noexcept = default;
GridSolver& GridSolver::operator=(GridSolver&&) noexcept = default;

Arrival GridSolver::solve(const Sources& sources) {
  Arrival result;
  engine_->solve_many({&sources, 1}, [&](std::size_t, Arrival&& arrival) { result = std::move(arrival); });
  return result;
}
void GridSolver::solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
  engine_->solve_many(source_sets, take);
}
std::vector<Arrival> GridSolver::solve_many(std::span<const Sources> source_sets) {
  std::vector<Arrival> result(source_sets.size());
  engine_->solve_many(source_sets, [&](std::size_t i, Arrival&& arrival) { result[i] = std::move(arrival); });
  return result;
}
void GridSolver::set_metric(const Metric& metric) { engine_->set_metric(metric); }
Residual GridSolver::residual(const Arrival& arrival, const Sources& sources) {
  return engine_->residual(arrival, sources);
}

}  // namespace isochron
