// One rank's part of a mesh or an image, ready to be solved together with those of the others.
#pragma once

#include <memory>
#include <span>

#include "isochron/arrival.h"
#include "isochron/capabilities.h"
#include "isochron/communicator.h"
#include "isochron/metric.h"
#include "isochron/parts.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::ranks {

struct GridPart;

/// Every rank makes one and calls the same functions in the same order. A part may own no vertex at all.
class PartSolver {
 public:
  PartSolver() = default;
  PartSolver(const PartSolver&) = delete;
  PartSolver& operator=(const PartSolver&) = delete;
  virtual ~PartSolver() = default;

  /// First arrivals at the part's own vertices. Each rank gives all seeds.
  virtual Arrival solve(std::span<const Seed> seeds) = 0;
};

/// All ranks together. Keeps references to the communicator and the part; `metric` has one value for each element of
/// the part, and both have passed their checks. With back end `cuda` each rank solves on its GPU (`rank_device`), with
/// any other on the CPU. `virtual_elements` are those of `SolvePart`: they are given, because a part does not reach far
/// enough to find them.
template <int Corners>
std::unique_ptr<PartSolver> make_part_solver(Communicator& communicator, const MeshPart<Corners>& part,
                                             const Metric& metric, const SolveOptions& options,
                                             std::span<const VirtualRecord<double, Corners>> virtual_elements);
/// The same of an image, whose own vertices are `GridPart::own_voxels`; does not keep the part. Second-order times are
/// computed on the CPU in any case. Throws InputError on all ranks for a metric that has no stencils.
std::unique_ptr<PartSolver> make_part_solver(Communicator& communicator, const GridPart& part,
                                             const SolveOptions& options);

/// Throws UsageError for what is not solved over ranks.
void check_rank_options(DomainKind domain, const SolveOptions& options);

}  // namespace isochron::ranks
