// The images of paper 004's examples, and how a solve on an image is measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/paper/cases.h"
#include "isochron/solve/solver.h"

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

/// Solves all sets several times (ten; three when the run is quick). Times are medians of the sums over the sets, the
/// rest is of the first set. Every result of the last time is checked. `whole_seconds` also has the results on the
/// host.
Measured median_solve(const GridModel& model, const std::vector<Sources>& sets, const SolveOptions& options,
                      const BenchOptions& bench, double& whole_seconds);

/// A whole problem on the CPU: the quickest of three solves, or of fewer when they take long.
Measured quickest_solve(const GridModel& model, const SolveOptions& options, const BenchOptions& bench);

}  // namespace isochron::bench
