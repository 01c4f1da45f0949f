#include "isochron/solve/mpi/distributed_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "isochron/core/timer.h"
#include "isochron/mesh/validate.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/mpi/banded_local.h"
#include "isochron/solve/mpi/bands.h"
#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/global_labels.h"
#include "isochron/solve/mpi/part_problem.h"
#include "isochron/solve/mpi/sweep_local.h"
#include "isochron/solve/simplex/finish.h"
#include "isochron/solve/simplex/run.h"

namespace isochron::mpi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// What the ranks add up after a solve.
struct RankCounts {
  std::uint64_t reached = 0, unreached = 0;
  std::uint64_t local_solves = 0, vertex_updates = 0;
  std::uint64_t messages = 0, bytes = 0, halo_bytes = 0;
  std::uint64_t worst_vertex = 0;
  double max_time = -infinity, worst = 0, idle = 0, seconds = 0;
};

/// Of each rank.
int threads_of(const SolveOptions& options) { return std::max(1, options.threads); }

}  // namespace

void check_distributed_options(const SolveOptions& options) {
  if (options.method != Method::automatic && options.method != Method::banded)
    throw UsageError("ranks solve by method banded (--backend mpi); leave --method out");
  if (options.source_init == SourceInit::factored)
    throw UsageError("factored sources are not solved over ranks; use --source-init ball, or leave --backend mpi out");
  if (options.weights == Keep::yes) throw UsageError("upwind weights are not kept over ranks; leave --backend mpi out");
}

template <int Corners>
class DistributedSolver<Corners>::Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;
  virtual DistributedArrival solve(std::span<const GlobalSeed> seeds) = 0;
};

template <int Corners>
template <class T>
class DistributedSolver<Corners>::EngineOf final : public Engine {
  using Relax = Relaxer<T, Corners, PlainTimes<T>, FirstTargets>;
  using SharedRelax = Relaxer<T, Corners, SharedTimes<T>, FirstTargets>;

 public:
  EngineOf(Transport& transport, const MeshPart<Corners>& part, SimplexProblem<T, Corners> problem,
           const SolveOptions& options, Pace pace, std::vector<std::string> notes, const Timer& since_start)
      : transport_(transport),
        part_(part),
        problem_(std::move(problem)),
        options_(options),
        pace_(pace),
        notes_(std::move(notes)),
        halo_(make_halo<Corners>(transport, part, [&](VertexId v) { return problem_.internal(v); })),
        setup_seconds_(since_start.seconds()) {}

  DistributedArrival solve(std::span<const GlobalSeed> seeds) override {
    Start start = make_start(seeds);
    const Relax relax(problem_, PlainTimes<T>{start.state.time.data()},
                      FirstTargets{static_cast<std::uint32_t>(part_.owned)});
    const SharedRelax shared(problem_, SharedTimes<T>{start.state.time.data()},
                             FirstTargets{static_cast<std::uint32_t>(part_.owned)});
    const int tag = transport_.next_tag();
    Outbox<T> out(transport_, halo_, tag);
    const Timer timer;
    const std::unique_ptr<LocalSolver<T>> local = make_local(relax, shared, start.state);
    Bands<T> bands(transport_, *local, out, tag, pace_, options_.progress, static_cast<double>(part_.whole_vertices));
    bands.run();
    RankCounts share;
    share.seconds = timer.seconds();
    share.messages = out.messages();
    share.bytes = out.bytes();
    share.idle = bands.counters().idle_seconds;
    share.local_solves = local->counters().local_solves;
    share.vertex_updates = local->counters().vertex_updates;
    DistributedArrival arrival = read_times(start, share);
    arrival.traffic.bands = bands.counters().bands;
    arrival.traffic.agreements = bands.counters().agreements;
    if (options_.verify == Keep::yes) verify(relax, start, share);
    if (options_.sources == Keep::yes) arrival.source = sources_of(relax, start);
    add_up(share, start, arrival);
    return arrival;
  }

 private:
  struct Start {
    SolveState<T> state;
    std::vector<std::uint8_t> pinned;
    std::vector<std::int32_t> label;
    std::vector<SeedTime<T>> seeds;
    double base = 0;
    std::int32_t lowest_source = 0, highest_source = 0;  ///< of all ranks' seeds
  };

  std::unique_ptr<LocalSolver<T>> make_local(const Relax& relax, const SharedRelax& shared,
                                             SolveState<T>& state) const {
    if (pace_ == Pace::sweeps) return std::make_unique<SweepLocal<Relax>>(relax, state, halo_);
    BandTuning tuning = band_tuning(Corners, static_cast<std::size_t>(part_.whole_vertices), 1, options_.band_width);
    if (pace_ == Pace::local_solves) tuning.horizon = Horizon::none;
    if (const int threads = threads_of(options_); threads > 1)
      return std::make_unique<BandedLocal<SharedRelax>>(shared, state, halo_, tuning, threads);
    return std::make_unique<BandedLocal<Relax>>(relax, state, halo_, tuning);
  }

  /// The seeds among this rank's own vertices, in the part's numbers.
  [[nodiscard]] std::vector<Seed> own_seeds(std::span<const GlobalSeed> seeds) const {
    std::vector<Seed> own;
    const auto end = part_.global_vertex.begin() + static_cast<std::ptrdiff_t>(part_.owned);
    for (const GlobalSeed& seed : seeds) {
      const auto found = std::lower_bound(part_.global_vertex.begin(), end, seed.vertex);
      if (found != end && *found == seed.vertex)
        own.push_back(
            {VertexId(static_cast<std::size_t>(found - part_.global_vertex.begin())), seed.time, seed.source});
    }
    return own;
  }

  Start make_start(std::span<const GlobalSeed> seeds) {
    struct Extent {
      double base = infinity;
      std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = -1;
    };
    const std::vector<Seed> own = own_seeds(seeds);
    Extent extent;
    for (const Seed& seed : own)
      extent = {std::min(extent.base, seed.time), std::min(extent.lowest, seed.source),
                std::max(extent.highest, seed.source)};
    for (const Extent& other : all_values(transport_, extent))
      extent = {std::min(extent.base, other.base), std::min(extent.lowest, other.lowest),
                std::max(extent.highest, other.highest)};
    if (extent.highest < 0) throw InputError("no rank has a seed; say where the front starts");

    Start start;
    start.lowest_source = extent.lowest;
    start.highest_source = extent.highest;
    start.state.tolerance =
        static_cast<T>(checked_tolerance(options_.tolerance.value_or(default_tolerance(std::is_same_v<T, float>))));
    start.state.time.assign(problem_.vertex_count, std::numeric_limits<T>::infinity());
    start.pinned.assign(problem_.vertex_count, 0);
    start.label.assign(problem_.vertex_count, -1);
    const StartSeeds start_seeds = make_start_seeds<T>(own, problem_.unit, extent.base);
    start.base = start_seeds.base;
    for (const StartSeed& seed : start_seeds.seeds) {
      const std::uint32_t v = problem_.internal(seed.vertex);
      start.state.seeds.push_back(v);
      start.pinned[v] = 1;
      start.state.time[v] = static_cast<T>(seed.time);
      start.label[v] = seed.source;
      start.seeds.push_back({v, start.state.time[v]});
    }
    return start;
  }

  DistributedArrival read_times(const Start& start, RankCounts& share) const {
    DistributedArrival arrival;
    arrival.times.resize(part_.owned);
    for (std::size_t v = 0; v < part_.owned; ++v) {
      const std::uint32_t inside = problem_.internal(VertexId(v));
      const double time = static_cast<double>(start.state.time[inside]) * problem_.unit + start.base;
      arrival.times[v] = time;
      if (!std::isfinite(time)) {
        ++share.unreached;
        continue;
      }
      ++share.reached;
      share.max_time = std::max(share.max_time, time);
      if (const std::uint32_t border = halo_.border_of[inside]; border != Halo::none)
        share.halo_bytes += Outbox<T>::value_bytes * (halo_.offsets[border + 1] - halo_.offsets[border]);
    }
    return arrival;
  }

  [[nodiscard]] double residual_limit(const Start& start) const {
    return residual_tolerances * static_cast<double>(start.state.tolerance);
  }

  void verify(const Relax& relax, const Start& start, RankCounts& share) const {
    const Residual own =
        residual_pass(relax, start.pinned, start.seeds, residual_limit(start), threads_of(options_), part_.owned);
    share.worst = own.worst;
    if (own.worst_vertex.valid()) share.worst_vertex = part_.global_vertex[own.worst_vertex.index()];
  }

  std::vector<std::int32_t> sources_of(const Relax& relax, Start& start) {
    for (const auto& [v, time] : start.seeds)
      if (start.state.time[v] < time) start.label[v] = -1;
    if (start.lowest_source == start.highest_source) {
      for (std::size_t v = 0; v < part_.owned; ++v)
        start.label[v] = start.state.time[v] < std::numeric_limits<T>::infinity() ? start.lowest_source : -1;
    } else {
      spread_labels_over_ranks(transport_, halo_, relax, start.label);
    }
    std::vector<std::int32_t> source(part_.owned);
    for (std::size_t v = 0; v < part_.owned; ++v) source[v] = start.label[problem_.internal(VertexId(v))];
    return source;
  }

  void add_up(const RankCounts& own, const Start& start, DistributedArrival& arrival) {
    GlobalResidual residual;
    residual.limit = residual_limit(start);
    arrival.max_time = -infinity;
    arrival.traffic.least_idle_seconds = infinity;
    for (const RankCounts& share : all_values(transport_, own)) {
      arrival.reached += share.reached;
      arrival.unreached += share.unreached;
      arrival.max_time = std::max(arrival.max_time, share.max_time);
      arrival.solve_seconds = std::max(arrival.solve_seconds, share.seconds);
      arrival.counters.local_solves += share.local_solves;
      arrival.counters.vertex_updates += share.vertex_updates;
      arrival.traffic.messages += share.messages;
      arrival.traffic.bytes += share.bytes;
      arrival.traffic.halo_bytes += share.halo_bytes;
      arrival.traffic.idle_seconds += share.idle / transport_.size();
      arrival.traffic.least_idle_seconds = std::min(arrival.traffic.least_idle_seconds, share.idle);
      if (share.worst > residual.worst) residual.worst = share.worst, residual.worst_vertex = share.worst_vertex;
    }
    arrival.counters.rounds = arrival.traffic.bands;
    if (options_.verify == Keep::yes) arrival.residual = residual;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.threads = pace_ == Pace::sweeps ? 1 : threads_of(options_);
    arrival.setup_seconds = setup_seconds_;
    arrival.notes = notes_;
  }

  Transport& transport_;
  const MeshPart<Corners>& part_;
  SimplexProblem<T, Corners> problem_;
  SolveOptions options_;
  Pace pace_;
  std::vector<std::string> notes_;
  Halo halo_;
  double setup_seconds_;
};

template <int Corners>
DistributedSolver<Corners>::DistributedSolver(Transport& transport, const MeshPart<Corners>& part, const Metric& metric,
                                              SolveOptions options, Pace pace,
                                              std::span<const VirtualRecord<double, Corners>> virtual_elements) {
  const Timer timer;
  check_distributed_options(options);
  if (part.mesh.element_count() > 0) {
    check_mesh(part.mesh);
    check_metric(metric, part.mesh.element_count(), "the metric");
  }
  std::vector<std::string> notes;
  if (options.precision == Precision::single_) {
    auto problem = prepare_part<float>(transport, part, metric, virtual_elements, options.reorder, threads_of(options));
    if (fits_single(problem.shortest, problem.longest)) {
      engine_ = std::make_unique<EngineOf<float>>(transport, part, std::move(problem), options, pace, notes, timer);
      return;
    }
    notes.push_back(precision_note(problem.shortest * problem.unit, problem.longest * problem.unit));
  }
  engine_ = std::make_unique<EngineOf<double>>(
      transport, part,
      prepare_part<double>(transport, part, metric, virtual_elements, options.reorder, threads_of(options)), options,
      pace, notes, timer);
}

template <int Corners>
DistributedSolver<Corners>::~DistributedSolver() = default;

template <int Corners>
DistributedArrival DistributedSolver<Corners>::solve(std::span<const GlobalSeed> seeds) {
  return engine_->solve(seeds);
}

template class DistributedSolver<3>;
template class DistributedSolver<4>;

}  // namespace isochron::mpi
