// Arrival times on simplex meshes: prepare once, solve many times.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/mesh/validate.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/arrival.h"
#include "isochron/solve/options.h"
#include "isochron/solve/sources.h"

namespace isochron {

/// A mesh and the travel-time metric on it. Both are immutable while a solver uses them.
template <int Corners>
struct Domain {
  const SimplexMesh<Corners>& mesh;
  const Metric& metric;
  MeshIds ids = MeshIds::unknown;  ///< `in_range` where the caller has checked them already
};

/// Owns what can be prepared once for a mesh: adjacency, ordering, metric lengths. Not for use by two threads at a
/// time.
template <int Corners>
class Solver {
 public:
  /// Keeps references to mesh and metric. Throws InputError when an id is out of range, a coordinate is not finite, or
  /// the metric does not fit (see `check_metric`).
  Solver(Domain<Corners> domain, SolveOptions options);
  ~Solver();
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;

  /// First arrivals from `sources`. Throws InputError for a source that is not there (id out of range, not a vertex of
  /// any element, point outside the mesh) and Cancelled.
  Arrival solve(const Sources& sources);

  /// The same for several sets of sources, each on its own. On the GPU many are solved at once on one reading of the
  /// mesh; on the CPU, when there are as many sets as threads, each thread solves one at a time (and the automatic back
  /// end uses all threads for that, whatever the mesh). `take` gets each result with its index, in order, on the
  /// caller's thread, and may throw to end it; use it when all results together would not fit the memory. A set that
  /// fails ends it with the exception that `solve` would throw, after the results before it (on the GPU maybe none).
  std::vector<Arrival> solve_many(std::span<const Sources> source_sets);
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  /// Takes another metric on the same mesh; adjacency and ordering stay.
  void set_metric(const Metric& metric);

  /// |u(v) − update(v)| everywhere for given times (user's numbering); vertices that `sources` sets are exempt.
  Residual residual(const Arrival& arrival, const Sources& sources);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// The common case in one line.
template <int Corners>
Arrival solve(const SimplexMesh<Corners>& mesh, const Metric& metric, const Sources& sources,
              const SolveOptions& options = {}) {
  return Solver<Corners>(Domain<Corners>{mesh, metric}, options).solve(sources);
}

}  // namespace isochron
