// Images with exact arrival times, and how far a solve is from them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/paper/report.h"
#include "isochron/solve/solver.h"

namespace isochron::bench {

/// Exact times at world positions.
using Exact = std::function<double(const Vec3d&)>;

/// A problem with its source in the middle of the image.
struct GridCase {
  std::string name;
  ImageGrid grid;
  Metric metric;
  Exact exact;
};

/// A cube of voxels with unit sides.
ImageGrid unit_cube(std::uint32_t n);
/// The world position of the voxel in the middle.
Vec3d middle(const ImageGrid& grid);
/// One metric everywhere on the unit cube.
GridCase constant_case(const std::string& name, std::uint32_t n, const SymTensor3d& m);

struct GridResult {
  Arrival arrival;
  double cpu_seconds = 0;                          ///< of a whole solve, the best of a few; set-up is not in it
  double mean_relative = 0, largest_relative = 0;  ///< beyond five voxels from the source
  double largest = 0;                              ///< in the unit of the times, everywhere
  bool valid = false;                              ///< its residual passed
};

/// Solves once for the errors and `repeats` times for the seconds.
GridResult measured(const GridCase& problem, const SolveOptions& wanted, int repeats);

/// One thread, without labels of sources.
SolveOptions options_of(int order, SourceInit init, GridScheme scheme = GridScheme::adaptive);
/// "order 2", or the scheme's name.
std::string scheme_label(const SolveOptions& options);

/// A value of a result, which is shown only when the result is valid.
Entry entry(const GridCase& problem, const std::string& column, std::optional<double> aim, const GridResult& result,
            double value, const std::string& unit);

}  // namespace isochron::bench
