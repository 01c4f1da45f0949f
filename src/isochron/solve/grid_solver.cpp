#include "isochron/solve/grid_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/core/parallel_in_order.h"
#include "isochron/core/timer.h"
#include "isochron/solve/batch_progress.h"
#include "isochron/solve/choose_backend.h"
#include "isochron/solve/grid/adaptive.h"
#include "isochron/solve/grid/grid_finish.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/simplex/limits.h"
#include "isochron/solve/simplex/start.h"

namespace isochron {
namespace {

constexpr std::array<std::pair<GridScheme, std::string_view>, 4> schemes{
    {{GridScheme::automatic, "auto"},
     {GridScheme::adaptive, "adaptive"},
     {GridScheme::godunov, "godunov"},
     {GridScheme::lax_friedrichs, "lax-friedrichs"}}};

/// Factoring solves once per source.
constexpr std::size_t most_factored_sources = 64;

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
  Engine(GridDomain domain, GridOptions wanted) : grid_(domain.grid), grid_options_(std::move(wanted)) {
    check_grid(grid_, "the image");
    check_options();
    cells_ = make_cells(grid_, domain.mask);
    const bool serial = options().backend == Backend::serial ||
                        (options().backend == Backend::automatic && cells_.list.size() < worth_threads);
    threads_ = granted_threads(serial ? 1 : wanted_threads());
    set_metric(domain.metric);
  }

  void set_metric(const Metric& metric) {
    const Timer timer;
    const VoxelMetric in_voxels{grid_, metric};
    check_grid_metric(in_voxels, cells_);
    const int threads = options().backend == Backend::serial ? 1 : wanted_threads();
    if (single()) single_ = make_stencils<float>(in_voxels, cells_, threads);
    else double_ = make_stencils<double>(in_voxels, cells_, threads);
    metric_ = &metric;
    setup_seconds_ = timer.seconds();
  }

  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take) {
    const int at_once = solves_at_once(source_sets.size());
    BatchProgress progress(options().progress, source_sets.size());
    const auto crew = [&](std::size_t i, const std::atomic<bool>& stop) {
      Crew result{at_once > 1 ? 1 : threads_, {{}, options().progress.cancel}};
      if (at_once == 1) {
        result.progress.report = [&progress, i](double fraction) { progress.show(static_cast<double>(i) + fraction); };
      } else {
        result.progress.report = [&stop](double) {
          if (stop) throw Cancelled();
        };
      }
      return result;
    };
    parallel_in_order<Arrival>(
        at_once, source_sets.size(),
        [&](std::size_t i, const std::atomic<bool>& stop) {
          if (i > 0 && options().progress.cancelled()) throw Cancelled();
          return solve_one(source_sets[i], crew(i, stop));
        },
        [&](std::size_t i, Arrival&& arrival) {
          take(i, std::move(arrival));
          progress.show(static_cast<double>(i + 1));
        });
  }

  Residual residual(const Arrival& arrival, const Sources& sources) {
    if (arrival.times.size() != grid_.voxel_count())
      throw UsageError(
          fmt::format("{} times for {} voxels; give one per voxel", arrival.times.size(), grid_.voxel_count()));
    const std::vector<Group> groups = groups_of(sources);
    if (groups.size() > 1)
      throw UsageError("factored sources are solved one by one; check the times of each on its own");
    return with_problem([&](const auto& problem) {
      using T = typename std::decay_t<decltype(problem)>::Scalar;
      GridStart<T> start = make_start(problem, groups[0].seeds);
      const AdaptiveRun run = run_of(groups[0], threads_);
      if (run.order == 2) {
        solve_adaptive(problem, start, run);
      }
      for (const std::uint32_t cell : cells_.list)
        start.state.time[cell] = static_cast<T>((arrival.times[voxel_of(cell).index()] - start.base) / problem.unit);
      return check_adaptive(problem, start, run, residual_limit());
    });
  }

 private:
  static constexpr std::size_t worth_threads = 150000;  ///< cells

  /// Who does one solve, and whom it reports to.
  struct Crew {
    int threads = 1;
    Progress progress;
  };

  [[nodiscard]] const SolveOptions& options() const { return grid_options_.common; }
  [[nodiscard]] int wanted_threads() const { return options().threads > 0 ? options().threads : hardware_threads(); }
  /// Factoring subtracts times that are nearly equal.
  [[nodiscard]] bool single() const {
    return options().precision == Precision::single_ && options().source_init != SourceInit::factored;
  }
  [[nodiscard]] VertexId voxel_of(std::uint32_t cell) const { return cells_.box.voxel(cells_.box.index(cell)); }

  void check_options() {
    const GridScheme scheme = grid_options_.scheme;
    if (scheme == GridScheme::automatic) grid_options_.scheme = GridScheme::adaptive;
    if (grid_options_.order != 1 && grid_options_.order != 2)
      throw UsageError(fmt::format("order {} is not there; choose 1 or 2", grid_options_.order));
    if (options().backend == Backend::cuda || runs_on_gpu(options().method))
      throw UsageError("images are solved on the CPU; leave --backend and --method out");
    if (options().weights == Keep::yes) throw UsageError("upwind weights are given on meshes only; leave them out");
    if (options().precision == Precision::single_ && !single())
      notes_.emplace_back("precision raised to double: factored sources need it");
    grid_options_.common.tolerance = checked_tolerance(options().tolerance.value_or(default_tolerance(single())));
  }

  /// Sources that are solved together.
  struct Group {
    std::vector<Seed> seeds;
    std::optional<FactoredSource> factored;
  };

  /// One group; of factored sources one for each point and one for all that are parts of regions.
  [[nodiscard]] std::vector<Group> groups_of(const Sources& sources) const {
    const VoxelMetric metric{grid_, *metric_};
    const auto placed = place_grid_sources(grid_, cells_, sources);
    const int radius = limited_radius(options().ball_rings, placed.size(), grid_);
    const auto group = [&](const std::vector<PlacedVoxelSource>& members) {
      return Group{make_grid_seeds(metric, cells_, members, options().source_init, radius), std::nullopt};
    };
    if (options().source_init != SourceInit::factored) return {group(placed)};
    auto [alone, regions] = split_regions(grid_, cells_, placed);
    if (alone.size() > most_factored_sources)
      throw UsageError(
          fmt::format("factored sources are solved one by one and {} are too many (at most {}); use --source-init ball",
                      alone.size(), most_factored_sources));
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

  /// Solves to run side by side, each on one thread; 1: one after the other, each on all threads.
  [[nodiscard]] int solves_at_once(std::size_t sets) const {
    if (options().backend == Backend::serial) return 1;
    const auto threads = static_cast<std::size_t>(wanted_threads());
    if (threads_ > 1 && sets < threads) return 1;
    return static_cast<int>(std::max<std::size_t>(1, std::min(sets, threads)));
  }

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
    solve_adaptive(problem, start, run_of(group, crew.threads));
    arrival.solve_seconds = timer.seconds();
    arrival.threads = crew.threads;
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
    arrival.method = Method::banded;
    arrival.backend = arrival.threads > 1 ? Backend::threads : Backend::serial;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.times.assign(grid_.voxel_count(), std::numeric_limits<double>::infinity());
    parallel_for(crew.threads, cells_.list.size(), [&](std::size_t k) {
      const std::uint32_t cell = cells_.list[k];
      arrival.times[voxel_of(cell).index()] = static_cast<double>(start.state.time[cell]) * problem.unit + start.base;
    });
    if (options().verify == Keep::yes) {
      arrival.residual = check_adaptive(problem, start, run_of(group, crew.threads), residual_limit());
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
      spread_grid_labels(problem, time, start.label, threads);
    }
    arrival.source.assign(grid_.voxel_count(), -1);
    parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
      const std::uint32_t cell = cells_.list[k];
      if (!(time[cell] < std::numeric_limits<T>::infinity())) return;
      arrival.source[voxel_of(cell).index()] = one_source ? seeds.front().source : start.label[cell];
    });
  }

  /// Takes over what is earlier in `part`; counts and worst residuals add up.
  static void take_earlier(Arrival&& part, Arrival& arrival) {
    for (std::size_t v = 0; v < part.times.size(); ++v) {
      if (!(part.times[v] < arrival.times[v])) continue;
      arrival.times[v] = part.times[v];
      if (!part.source.empty()) arrival.source[v] = part.source[v];
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

  const ImageGrid& grid_;
  GridOptions grid_options_;
  const Metric* metric_ = nullptr;
  GridCells cells_;
  int threads_ = 1;
  AnyGridProblem<float> single_;  ///< the one of the two that the precision asks for
  AnyGridProblem<double> double_;
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
