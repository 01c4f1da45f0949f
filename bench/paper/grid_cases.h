// The images of paper 004's examples, images with exact arrival times, and how a solve on an image is measured.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/cases.h"
#include "bench/paper/report.h"
#include "isochron/solver.h"

namespace isochron::bench {

/// An image to solve on.
struct GridModel {
  ImageGrid grid;
  Metric metric;
  std::vector<std::uint8_t> mask;
  std::size_t cells = 0;  ///< allowed
  VertexId source;

  [[nodiscard]] GridDomain domain() const { return {grid, metric, mask}; }
  [[nodiscard]] Sources sources() const;
};

/// A cube of voxels with the source in its middle.
GridModel cube_model(std::uint32_t n, Metric metric);

/// M of paper 004's Example 1: five times as fast along the diagonal as across.
SymTensor3d example_one_tensor();
/// Example 1: that tensor everywhere.
GridModel example_one(std::uint32_t n);
/// Example 2: a helix, from the middle of its first slice.
GridModel example_two(std::uint32_t n);
/// In place of Example 3, a brain: a folded shell with tensors that turn along it, up to ten times as fast along as
/// across, as white matter in its box. `thickness` is a share of the box. The source is its first voxel.
GridModel folded_shell(const std::array<std::uint32_t, 3>& shape, double thickness);

/// The paper's sizes, or small ones.
struct ExampleSizes {
  std::uint32_t cube;
  std::array<std::uint32_t, 3> brain;
  double thickness;  ///< of the brain's shell: 196 thousand voxels at the paper's size
};
ExampleSizes example_sizes(BenchSize size);

/// M for a front that is `ratio` times as fast along a direction as across, where its speed is 1.
SymTensor3d fiber_tensor(double ratio, Vec3d along);

/// Single precision on the GPU: our scheme, or with `godunov` the paper's blocks.
SolveOptions gpu_grid_options(GridScheme scheme, const BenchOptions& options);

/// `median_of_sets` on an image.
Measured median_solve(const GridModel& model, const std::vector<Sources>& sets, const SolveOptions& options,
                      const BenchOptions& bench, double& whole_seconds);

/// A whole problem on the CPU: the quickest of three solves, or of fewer when they take long.
Measured quickest_solve(const GridModel& model, const SolveOptions& options, const BenchOptions& bench);

// ---- Images with exact arrival times, and how far a solve is from them.

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
