// One rank's side of a solve, from its seeds to its result, on a part of a mesh or of an image.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/ranks/bands.h"
#include "isochron/solve/ranks/part_solver.h"

namespace isochron::ranks {

/// What a rank does and sends in a solve.
struct RankWork {
  BandCounters bands;
  Counters counters;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t passes = 1;  ///< how often the copies of a border vertex need its time
  bool converged = true;     ///< alike on all ranks

  void operator+=(const RankWork& more) {
    bands.bands += more.bands.bands;
    bands.agreements += more.bands.agreements;
    bands.idle_seconds += more.bands.idle_seconds;
    counters.local_solves += more.counters.local_solves;
    counters.vertex_updates += more.counters.vertex_updates;
    messages += more.messages;
    bytes += more.bytes;
    passes += more.passes;
    converged = converged && more.converged;
  }
};

/// All ranks together: goes through the bands with this rank's local solver, until none has anything left to do.
template <class T>
RankWork run_bands(Communicator& communicator, const Halo& halo, LocalSolver<T>& local, Pace pace,
                   const Progress& progress, const ProblemSize& whole) {
  const int tag = communicator.next_tag();
  Outbox<T> out(communicator, halo, tag);
  Bands<T> bands(communicator, local, out, tag, pace, progress, whole);
  const bool converged = bands.run();
  return {bands.counters(), local.counters(), out.messages(), out.bytes(), 1, converged};
}

/// One rank's part of a mesh or of an image, prepared for solves in scalars T. Results list the part's own vertices.
/// The arrays of a solve have another order and also hold copies of other ranks' vertices: a number is a place in them.
template <class T>
class RankPart {
 public:
  struct Facts {
    std::size_t owned = 0;     ///< vertices that it computes
    std::size_t vertices = 0;  ///< with the copies that it needs
    std::size_t numbers = 0;   ///< places in the arrays of a solve
    double unit = 1;           ///< user's time that is 1 inside
    int threads = 1;
  };

  RankPart() = default;
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;
  virtual ~RankPart() = default;

  [[nodiscard]] virtual Facts facts() const = 0;
  [[nodiscard]] virtual const Halo& halo() const = 0;
  /// The number of the own-th vertex in a result.
  [[nodiscard]] virtual std::uint32_t number_of_own(std::size_t own) const = 0;
  /// The number of a vertex of the whole; none when it is not an own one.
  [[nodiscard]] virtual std::optional<std::uint32_t> number_of(GlobalVertexId vertex) const = 0;
  /// All ranks together: to the fixed point.
  virtual RankWork run(Start<T>& start, const Progress& progress) const = 0;
  /// Of the own vertices; the worst has its number in the whole.
  [[nodiscard]] virtual Residual residual(Start<T>& start, double limit) const = 0;
  /// All ranks together: from the labels of the seeds to those of all vertices.
  virtual void spread_labels(Start<T>& start) const = 0;
};

/// Solves one part, from the seeds to the result.
template <class T>
class RankEngine final : public PartSolver {
  static constexpr double infinity = std::numeric_limits<double>::infinity();

 public:
  /// Keeps a reference to the communicator. `since_start` was started before the part was prepared.
  RankEngine(Communicator& communicator, const SolveOptions& options, std::vector<std::string> notes,
             const Timer& since_start, std::unique_ptr<const RankPart<T>> part)
      : communicator_(communicator),
        part_(std::move(part)),
        facts_(part_->facts()),
        options_(options),
        notes_(std::move(notes)),
        setup_seconds_(since_start.seconds()) {}

  Arrival solve(std::span<const Seed> seeds) override {
    Start<T> start;
    all_or_none(communicator_, [&] { start = make_start(seeds); });
    const Timer timer;
    const RankWork work = part_->run(start, options_.progress);
    Totals own;
    own.seconds = timer.seconds();
    own.messages = work.messages;
    own.bytes = work.bytes;
    own.idle = work.bands.idle_seconds;
    own.local_solves = work.counters.local_solves;
    own.vertex_updates = work.counters.vertex_updates;
    Arrival arrival;
    arrival.times = read_times(start, own);
    own.halo_bytes *= work.passes;
    const double limit = residual_tolerances * static_cast<double>(start.state.tolerance);
    if (options_.verify == Keep::yes) own.residual = part_->residual(start, limit);
    if (options_.sources == Keep::yes) arrival.source = sources_of(start, only_source(seeds));
    add_up(own, work.bands, limit, arrival);
    arrival.converged = arrival.converged && work.converged;
    describe_sources(options_.source_init, seeds, arrival);
    return arrival;
  }

 private:
  /// What the ranks add up after a solve.
  struct Totals {
    std::uint64_t reached = 0, unreached = 0;
    std::uint64_t local_solves = 0, vertex_updates = 0;
    std::uint64_t messages = 0, bytes = 0, halo_bytes = 0;
    double max_time = -infinity, idle = 0, seconds = 0;
    Residual residual;
  };

  Start<T> make_start(std::span<const Seed> seeds) const {
    if (seeds.empty()) throw InputError("no rank has a seed; say where the front starts");
    StartSeeds own = make_start_seeds<T>(seeds, facts_.unit);
    std::erase_if(own.seeds, [&](const Seed& seed) { return !part_->number_of(seed.vertex); });
    return isochron::make_start<T>(facts_.numbers, own,
                                   options_.tolerance.value_or(default_tolerance(std::is_same_v<T, float>)),
                                   [&](GlobalVertexId v) { return *part_->number_of(v); });
  }

  std::vector<double> read_times(const Start<T>& start, Totals& totals) const {
    const Halo& halo = part_->halo();
    std::vector<double> times(facts_.owned);
    for (std::size_t v = 0; v < times.size(); ++v) {
      const std::uint32_t inside = part_->number_of_own(v);
      times[v] = static_cast<double>(start.state.time[inside]) * facts_.unit + start.base;
      if (!std::isfinite(times[v])) {
        ++totals.unreached;
        continue;
      }
      ++totals.reached;
      totals.max_time = std::max(totals.max_time, times[v]);
      if (const std::uint32_t border = halo.border_of[inside]; border != Halo::none)
        totals.halo_bytes += Outbox<T>::value_bytes * (halo.offsets[border + 1] - halo.offsets[border]);
    }
    return times;
  }

  /// `only` is the source of all seeds, where there is only one; −1 else.
  std::vector<std::int32_t> sources_of(Start<T>& start, std::int32_t only) {
    std::vector<std::int32_t> source(facts_.owned, -1);
    if (only >= 0) {
      for (std::size_t v = 0; v < source.size(); ++v)
        if (start.state.time[part_->number_of_own(v)] < std::numeric_limits<T>::infinity()) source[v] = only;
      return source;
    }
    for (const auto& [v, time] : start.seeds)
      if (start.state.time[v] < time) start.label[v] = -1;
    part_->spread_labels(start);
    for (std::size_t v = 0; v < source.size(); ++v) source[v] = start.label[part_->number_of_own(v)];
    return source;
  }

  void add_up(const Totals& own, const BandCounters& bands, double limit, Arrival& arrival) {
    Residual residual;
    residual.limit = limit;
    Traffic& traffic = arrival.traffic.emplace();
    arrival.max_time = -infinity;
    traffic.min_idle_seconds = infinity;
    for (const Totals& totals : all_values(communicator_, own)) {
      arrival.reached += totals.reached;
      arrival.unreached += totals.unreached;
      arrival.max_time = std::max(arrival.max_time, totals.max_time);
      arrival.solve_seconds = std::max(arrival.solve_seconds, totals.seconds);
      arrival.counters.local_solves += totals.local_solves;
      arrival.counters.vertex_updates += totals.vertex_updates;
      traffic.messages += totals.messages;
      traffic.bytes += totals.bytes;
      traffic.halo_bytes += totals.halo_bytes;
      traffic.idle_seconds += totals.idle / communicator_.size();
      traffic.min_idle_seconds = std::min(traffic.min_idle_seconds, totals.idle);
      take_worse(totals.residual, residual);
    }
    arrival.counters.rounds = traffic.bands = bands.bands;
    traffic.agreements = bands.agreements;
    traffic.parts = communicator_.size();
    traffic.part_vertices = facts_.vertices;
    if (options_.verify == Keep::yes) arrival.residual = residual;
    arrival.converged = residual.passed();
    arrival.backend = Backend::mpi;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.threads = facts_.threads;
    arrival.setup_seconds = setup_seconds_;
    arrival.notes = notes_;
  }

  Communicator& communicator_;
  std::unique_ptr<const RankPart<T>> part_;
  typename RankPart<T>::Facts facts_;
  SolveOptions options_;
  std::vector<std::string> notes_;
  double setup_seconds_;
};

}  // namespace isochron::ranks
