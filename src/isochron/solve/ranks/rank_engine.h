// One rank's totals of a solve from its seeds to its result, on a part of a mesh or of an image.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/core/error.h"
#include "isochron/core/timer.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/ranks/bands.h"
#include "isochron/solve/ranks/distributed_arrival.h"

namespace isochron::mpi {

/// What a rank does and sends in a solve.
struct RankWork {
  BandCounters bands;
  Counters counters;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t passes = 1;  ///< how often the copies of a border vertex need its time

  void operator+=(const RankWork& more) {
    bands.bands += more.bands.bands;
    bands.agreements += more.bands.agreements;
    bands.idle_seconds += more.bands.idle_seconds;
    counters.local_solves += more.counters.local_solves;
    counters.vertex_updates += more.counters.vertex_updates;
    messages += more.messages;
    bytes += more.bytes;
    passes += more.passes;
  }
};

/// All ranks together: goes through the bands with this rank's local solver, until none has anything left to do.
template <class T>
RankWork run_bands(Communicator& communicator, const Halo& halo, LocalSolver<T>& local, Pace pace,
                   const Progress& progress, double expected_updates) {
  const int tag = communicator.next_tag();
  Outbox<T> out(communicator, halo, tag);
  Bands<T> bands(communicator, local, out, tag, pace, progress, expected_updates);
  bands.run();
  return {bands.counters(), local.counters(), out.messages(), out.bytes()};
}

/// The worst of a rank's own vertices in the residual check.
struct OwnResidual {
  double worst = 0;
  std::uint64_t vertex = 0;  ///< of the whole
};

/// A solve of one `Part`, which is a part of a mesh or of an image, prepared:
///
/// - `Scalar`, and `Start`, the state before a schedule runs (`Start` has what is needed of it);
/// - `owned()` vertices that it computes, `numbers()` with ghosts; `number(own)` of the own-th of
///   them, and `own(global)`, none when it is not among them; `unit()` of its times;
/// - `halo()`; `threads()`; `run(start, progress)` to the fixed point; `residual(start, limit)`;
/// `spread_labels(start)`.
template <class Part>
class RankEngine {
  using T = typename Part::Scalar;
  using Start = typename Part::Start;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

 public:
  /// Keeps references to the first two.
  RankEngine(Communicator& communicator, const Part& part, SolveOptions options, std::vector<std::string> notes,
             double setup_seconds)
      : communicator_(communicator),
        part_(part),
        options_(std::move(options)),
        notes_(std::move(notes)),
        setup_seconds_(setup_seconds) {}

  DistributedArrival solve(std::span<const GlobalSeed> seeds) {
    Extent extent;
    Start start = make_start(seeds, extent);
    const Timer timer;
    const RankWork work = part_.run(start, options_.progress);
    Totals totals;
    totals.seconds = timer.seconds();
    totals.messages = work.messages;
    totals.bytes = work.bytes;
    totals.idle = work.bands.idle_seconds;
    totals.local_solves = work.counters.local_solves;
    totals.vertex_updates = work.counters.vertex_updates;
    DistributedArrival arrival = read_times(start, totals);
    totals.halo_bytes *= work.passes;
    arrival.traffic.bands = work.bands.bands;
    arrival.traffic.agreements = work.bands.agreements;
    if (options_.verify == Keep::yes) totals.residual = part_.residual(start, residual_limit(start));
    if (options_.sources == Keep::yes) arrival.source = sources_of(start, extent);
    add_up(totals, start, arrival);
    return arrival;
  }

 private:
  /// The earliest seed of all ranks, and the sources that seeds are from.
  struct Extent {
    double base = infinity;
    std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = -1;

    void add(const Extent& other) {
      base = std::min(base, other.base);
      lowest = std::min(lowest, other.lowest);
      highest = std::max(highest, other.highest);
    }
  };

  /// What the ranks add up after a solve.
  struct Totals {
    std::uint64_t reached = 0, unreached = 0;
    std::uint64_t local_solves = 0, vertex_updates = 0;
    std::uint64_t messages = 0, bytes = 0, halo_bytes = 0;
    double max_time = -infinity, idle = 0, seconds = 0;
    OwnResidual residual;
  };

  Start make_start(std::span<const GlobalSeed> seeds, Extent& extent) const {
    std::vector<Seed> own;
    for (const GlobalSeed& seed : seeds)
      if (const std::optional<std::size_t> v = part_.own(seed.vertex)) {
        own.push_back({VertexId(*v), seed.time, seed.source});
        extent.add({seed.time, seed.source, seed.source});
      }
    for (const Extent& other : all_values(communicator_, Extent(extent))) extent.add(other);
    if (extent.highest < 0) throw InputError("no rank has a seed; say where the front starts");

    Start start;
    start.state.tolerance = static_cast<T>(options_.tolerance.value_or(default_tolerance(std::is_same_v<T, float>)));
    start.state.time.assign(part_.numbers(), std::numeric_limits<T>::infinity());
    start.pinned.assign(part_.numbers(), 0);
    start.label.assign(part_.numbers(), -1);
    const StartSeeds start_seeds = make_start_seeds<T>(own, part_.unit(), extent.base);
    start.base = start_seeds.base;
    for (const Seed& seed : start_seeds.seeds) {
      const std::uint32_t v = part_.number(seed.vertex.index());
      start.state.seeds.push_back(v);
      start.pinned[v] = 1;
      start.state.time[v] = static_cast<T>(seed.time);
      start.label[v] = seed.source;
      start.seeds.push_back({v, start.state.time[v]});
    }
    return start;
  }

  DistributedArrival read_times(const Start& start, Totals& totals) const {
    const Halo& halo = part_.halo();
    DistributedArrival arrival;
    arrival.times.resize(part_.owned());
    for (std::size_t v = 0; v < part_.owned(); ++v) {
      const std::uint32_t inside = part_.number(v);
      const double time = static_cast<double>(start.state.time[inside]) * part_.unit() + start.base;
      arrival.times[v] = time;
      if (!std::isfinite(time)) {
        ++totals.unreached;
        continue;
      }
      ++totals.reached;
      totals.max_time = std::max(totals.max_time, time);
      if (const std::uint32_t border = halo.border_of[inside]; border != Halo::none)
        totals.halo_bytes += Outbox<T>::value_bytes * (halo.offsets[border + 1] - halo.offsets[border]);
    }
    return arrival;
  }

  [[nodiscard]] double residual_limit(const Start& start) const {
    return residual_tolerances * static_cast<double>(start.state.tolerance);
  }

  std::vector<std::int32_t> sources_of(Start& start, const Extent& extent) {
    std::vector<std::int32_t> source(part_.owned(), -1);
    if (extent.lowest == extent.highest) {
      for (std::size_t v = 0; v < source.size(); ++v)
        if (start.state.time[part_.number(v)] < std::numeric_limits<T>::infinity()) source[v] = extent.lowest;
      return source;
    }
    for (const auto& [v, time] : start.seeds)
      if (start.state.time[v] < time) start.label[v] = -1;
    part_.spread_labels(start);
    for (std::size_t v = 0; v < source.size(); ++v) source[v] = start.label[part_.number(v)];
    return source;
  }

  void add_up(const Totals& own, const Start& start, DistributedArrival& arrival) {
    GlobalResidual residual;
    residual.limit = residual_limit(start);
    arrival.max_time = -infinity;
    arrival.traffic.min_idle_seconds = infinity;
    for (const Totals& totals : all_values(communicator_, own)) {
      arrival.reached += totals.reached;
      arrival.unreached += totals.unreached;
      arrival.max_time = std::max(arrival.max_time, totals.max_time);
      arrival.solve_seconds = std::max(arrival.solve_seconds, totals.seconds);
      arrival.counters.local_solves += totals.local_solves;
      arrival.counters.vertex_updates += totals.vertex_updates;
      arrival.traffic.messages += totals.messages;
      arrival.traffic.bytes += totals.bytes;
      arrival.traffic.halo_bytes += totals.halo_bytes;
      arrival.traffic.idle_seconds += totals.idle / communicator_.size();
      arrival.traffic.min_idle_seconds = std::min(arrival.traffic.min_idle_seconds, totals.idle);
      if (totals.residual.worst > residual.worst)
        residual.worst = totals.residual.worst, residual.worst_vertex = totals.residual.vertex;
    }
    arrival.counters.rounds = arrival.traffic.bands;
    arrival.traffic.parts = communicator_.size();
    if (options_.verify == Keep::yes) arrival.residual = residual;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    arrival.threads = part_.threads();
    arrival.setup_seconds = setup_seconds_;
    arrival.notes = notes_;
  }

  Communicator& communicator_;
  const Part& part_;
  SolveOptions options_;
  std::vector<std::string> notes_;
  double setup_seconds_;
};

}  // namespace isochron::mpi
