// Arrival times on images: prepare once, solve many times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/arrival.h"
#include "isochron/solve/options.h"
#include "isochron/solve/sources.h"

namespace isochron {

/// An image's voxels, the travel-time metric on them (one element a voxel, M in the world frame) and where the front
/// may pass: `mask` is empty (everywhere) or has one value per voxel, 0 where it may not. All are immutable while a
/// solver uses them. The metric of masked-out voxels is never looked at.
struct GridDomain {
  const ImageGrid& grid;
  const Metric& metric;
  std::span<const std::uint8_t> mask;
};

/// How the equation is discretised.
enum class GridScheme {
  automatic,      ///< adaptive
  adaptive,       ///< upwind along integer directions that follow the metric (local/selling.h): right at any anisotropy
  godunov,        ///< paper 004's anisotropic Godunov Hamiltonian on the axes' neighbours; methods fim and fsm
  lax_friedrichs  ///< paper 004's reference, smeared but simple; method fsm
};

struct GridOptions {
  SolveOptions common;  ///< tolerances and edge times are those of a cell's shortest step, rings are voxels
  GridScheme scheme = GridScheme::automatic;
  int order = 1;  ///< 1, or 2: second-order differences where they are smooth (adaptive scheme)
};

/// Owns what can be prepared once for an image: its cells, stencils, who depends on whom. Not for use by two threads at
/// a time.
class GridSolver {
 public:
  /// Keeps references to the domain. Throws InputError for an image without voxels or usable axes, a mask of another
  /// size or of zeros, and a metric that does not fit or is not positive definite inside the mask.
  GridSolver(GridDomain domain, GridOptions options);
  ~GridSolver();
  GridSolver(GridSolver&&) noexcept;
  GridSolver& operator=(GridSolver&&) noexcept;

  /// First arrivals from `sources`: vertices are voxels (`ImageGrid::voxel`), points are world positions. Many voxels
  /// side by side are a region, each with its own time. Times are +inf outside the mask and where nothing arrives.
  /// Throws InputError for a source outside the image or the mask, and Cancelled.
  Arrival solve(const Sources& sources);

  /// The same for several sets of sources, each on its own; as `Solver::solve_many`.
  std::vector<Arrival> solve_many(std::span<const Sources> source_sets);
  void solve_many(std::span<const Sources> source_sets, const TakeArrival& take);

  /// Takes another metric on the same image and mask. When it is refused, the one before stays.
  void set_metric(const Metric& metric);

  /// |u − update(u)| everywhere for given times, in shortest steps; voxels that `sources` sets are exempt. Of second
  /// order the choice of differences is that of the first-order times, which are computed again.
  Residual residual(const Arrival& arrival, const Sources& sources);

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

/// The common case in one line.
inline Arrival solve(const ImageGrid& grid, const Metric& metric, const Sources& sources,
                     const GridOptions& options = {}, std::span<const std::uint8_t> mask = {}) {
  return GridSolver(GridDomain{grid, metric, mask}, options).solve(sources);
}

std::string_view name_of(GridScheme scheme);
/// By the names of the command line ("lax-friedrichs"); throws UsageError that lists them.
GridScheme grid_scheme_named(std::string_view name);

}  // namespace isochron
