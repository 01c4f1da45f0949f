// Region-to-region connectivity: the cheapest way between two regions and all that is nearly as cheap (paper 004, 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isochron/connect/region.h"
#include "isochron/solve/solver.h"
#include "isochron/trace/path.h"

namespace isochron {

/// What is asked: from where to where, and which regions the path has to pass in between, in this order.
struct ConnectQuery {
  Region from;
  Region to;
  std::vector<Region> waypoints;
  double epsilon = 0.05;  ///< how much dearer than the best a voxel of the pathway may be, as a share
};

struct Connection {
  /// Per voxel u = u₁ + u₂: the least cost of all paths between the regions through it (and through the waypoints);
  /// +inf where there are none.
  std::vector<double> cost;
  double least_cost = 0;
  /// {u ≤ (1 + ε) · least_cost}, 1 inside. Where that set falls apart, only the parts that join both regions; where
  /// none does, that of the smallest ε that joins them.
  std::vector<std::uint8_t> pathway;
  double pathway_epsilon = 0;  ///< what was used
  std::size_t pathway_voxels = 0;
  double pathway_volume = 0;  ///< in the world's unit, cubed
  /// The best path, from a voxel of `from` to one of `to`. Its times are costs from the beginning.
  Path path;
  /// The same least cost by each solve alone: u₁ in `to` and u₂ in `from`. They differ by the discretisation.
  double forward_cost = 0;
  double backward_cost = 0;
  Arrival work;  ///< of all solves together: times of the work, counters, whether all converged; without arrays
  std::size_t solves = 0;
  std::vector<std::string> notes;  ///< what the user should know

  /// The cost between the regions: the mean of both solves, as `connectome` has it. The integral of local costs along
  /// the traced path feels how coarse the voxels are.
  [[nodiscard]] double mean_cost() const { return (forward_cost + backward_cost) / 2; }
};

/// Where paths between two regions may run: the voxels of `usable`, without those of `exclude`, and of `stop` only
/// those in `from` or `to`: a path may end in a stop voxel, not go on from it.
std::vector<std::uint8_t> path_mask(std::span<const std::uint8_t> usable, std::span<const Region> exclude,
                                    std::span<const Region> stop, const Region& from, const Region& to);

/// Answers many queries on one image; prepared once. Not for use by two threads at a time.
class Connector {
 public:
  /// Keeps references to the domain. Throws like `Solver`.
  Connector(GridDomain domain, const SolveOptions& options);

  /// Regions must have voxels, all inside the mask (see `inside_mask`). Throws UsageError for an epsilon out of range,
  /// InputError for regions that overlap, and NoAnswerError when the mask does not join them.
  Connection connect(const ConnectQuery& query);

 private:
  GridDomain domain_;
  Solver solver_;
};

}  // namespace isochron
