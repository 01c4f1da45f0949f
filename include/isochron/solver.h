// Arrival times: prepare once, solve many times.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/domain.h"
#include "isochron/linearization.h"
#include "isochron/options.h"
#include "isochron/sources.h"

namespace isochron {

class Communicator;
class Engine;

/// What is different from the problem that some times solve. What is left out is as before.
struct ProblemChange {
  std::optional<Sources> sources;   ///< all of them
  std::optional<AnyMetric> metric;  ///< of all elements (voxels); the one before must not have been changed in place
  /// Those whose M differs, all of them, in any order; none: they are found by comparing the metrics.
  std::vector<ElementId> elements;
};

/// Owns what can be prepared once for a domain: adjacency, ordering, metric lengths, stencils, buffers on a device. Not
/// for use by two threads at a time.
///
/// Where a domain's arrays are decides where it is solved. Arrays in device memory are solved there (method push), and
/// the times stay there unless `SolveOptions::results` says otherwise; everything happens on the device that holds
/// them. Sources that are not vertices (points, a level set) are placed on the host, to which a mesh in device memory
/// is then copied once and its metric once each time it changes. Of an image in device memory, metrics other than
/// speeds on orthogonal axes are prepared on the host (`Arrival::notes` says so).
class Solver {
 public:
  /// Throws InputError when an id is out of range, a coordinate is not finite, an image has no voxels or usable axes, a
  /// mask has another size or lets nothing through, arrays lie on several devices, or the metric does not fit (see
  /// `check_metric`); UsageError for options that do not go together; DeviceError when a GPU is asked for and is not
  /// there.
  explicit Solver(const Domain& domain, SolveOptions options = {});
  /// Over ranks: every rank makes one with the same options (progress and the domain are its own) and calls the same
  /// functions in the same order; what is thrown is thrown on all ranks (`ThrownTogether`), unless something outside
  /// fails on one. Keeps a reference to the communicator. Each rank solves on `RankOptions::rank_backend`. What is not
  /// solved over ranks is refused with UsageError.
  ///
  /// Where rank 0 has the whole, its sources, metrics and times count, those of the others do not; it alone gets
  /// results, and the others' `take` is not called. The domain is partitioned for the first sources, unless the options
  /// say how; where all ranks share a memory, they solve it as one. With at least as many sets as ranks each rank
  /// solves some sets, and has the whole, unless `RankOptions::blocks_per_rank` are asked for.
  ///
  /// Where each has a part, all give the same sources, by their numbers in the whole. A rank may own no vertex at all.
  Solver(const Domain& domain, SolveOptions options, Communicator& communicator);
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// First arrivals from `sources`. Of images vertices are voxels (`ImageGrid::voxel`), points are world positions, and
  /// many voxels side by side are a region, each with its own time. Throws InputError for a source that is not there
  /// (id out of range, not a vertex of any element, point outside the mesh, image or mask) and Cancelled.
  Arrival solve(const Sources& sources);

  /// The same for several sets of sources, each on its own. On the GPU many are solved at once on one reading of the
  /// mesh; on the CPU, when there are as many sets as threads, each thread solves one at a time (and the automatic back
  /// end uses all threads for that, whatever the mesh). `take` gets each result with its index, in order, on the
  /// caller's thread, and may throw to end it; use it when all results together would not fit the memory. A set that
  /// fails ends it with the exception that `solve` would throw, after the results before it (on the GPU maybe none).
  std::vector<Arrival> solve_many(std::span<const Sources> source_sets);
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  /// Takes another metric on the same mesh or image; adjacency and ordering stay. When it is refused, the one before
  /// stays.
  void set_metric(const AnyMetric& metric);

  /// First arrivals after a change, from `before`, which this solver gave for `sources` with the metric it has. What
  /// the change cannot reach keeps its time; the rest is solved again, later times as well as earlier ones. Agrees with
  /// `solve` after the change up to the tolerance; sources of vertices where several arrive at once may differ. The
  /// solver keeps the metric of the change.
  ///
  /// This is for first order, plain and ball sources and method banded on the CPU. A GPU solves all of it again, and so
  /// does anything else, with a note, and a change that withdraws most times, as moving the only source does. Throws as
  /// `set_metric` and `solve` do, InputError for an element out of range, and UsageError unless `before` has a time for
  /// each vertex, or over ranks; the metric before stays then.
  Arrival update(const Arrival& before, const Sources& sources, const ProblemChange& change);

  /// |u − update(u)| everywhere for given times (user's numbering), in local edge travel times or shortest steps;
  /// vertices that `sources` sets are exempt. Of second order the choice of differences is that of the first-order
  /// times, which are computed again. Throws UsageError for several factored sources, which are solved one by one.
  Residual residual(const Arrival& arrival, const Sources& sources);

  /// How the times of a solution change with the metric, the onsets and the places of the sources. `arrival` must be
  /// what `solve` gives for `sources`, of first order, from plain or ball sources or a level set; its tolerance is that
  /// of the derivatives. Computed on the host. Throws UsageError for what has no derivatives yet: factored sources,
  /// second order, the other schemes of images, ranks, a mesh in device memory.
  Linearization linearize(const Arrival& arrival, const Sources& sources);
  /// The same for several solutions, side by side on the CPU. Throws UsageError unless there is one for each set.
  std::vector<Linearization> linearize_many(std::span<const Arrival> arrivals, std::span<const Sources> source_sets);

 private:
  std::unique_ptr<Engine> engine_;
};

/// The common case in one line, for a mesh or an image.
template <class Shape>
Arrival solve(const Shape& shape, const Metric& metric, const Sources& sources, const SolveOptions& options = {}) {
  return Solver(Domain(shape, metric), options).solve(sources);
}
inline Arrival solve(const ImageGrid& grid, const Metric& metric, const Sources& sources, const SolveOptions& options,
                     std::span<const std::uint8_t> mask) {
  return Solver(Domain(grid, metric, mask), options).solve(sources);
}

}  // namespace isochron
