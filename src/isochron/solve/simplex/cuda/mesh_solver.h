// Arrival times on a mesh that is prepared and solved on a CUDA device: the host sends the seeds, and the raw arrays if
// they are not there, and gets the times back or leaves them there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/simplex/cuda/mesh_input.h"

namespace isochron::cuda {

/// What the host needs to know of a prepared mesh; see `SimplexProblem`.
struct MeshSummary {
  double unit = 1;
  double mean_edge = 1;
  double shortest = 1, longest = 1;
  std::uint64_t obtuse_corners = 0;
  std::size_t device_bytes = 0;  ///< held between solves

  [[nodiscard]] ProblemSize size(std::size_t vertices) const { return {vertices, longest / shortest}; }
};

/// Several independent problems on one mesh, its layers, may be solved at once: the mesh is read for all of them.
template <class T>
class MeshSolver {
 public:
  virtual ~MeshSolver() = default;
  virtual void set_metric(const MetricInput& metric) = 0;
  [[nodiscard]] virtual MeshSummary summary() const = 0;
  /// Layers that one `solve` takes now.
  [[nodiscard]] virtual std::size_t layers_that_fit() const = 0;
  /// Brings every layer to the fixed point from its seeds, whose times are in units of `MeshSummary::unit`. Returns the
  /// work of all; seconds of the kernels alone go to `seconds`.
  virtual Counters solve(std::span<const StartSeeds> layers, T tolerance, double band_width, double& seconds) = 0;
  /// Whether the last solve came to the fixed point.
  [[nodiscard]] virtual bool converged() const = 0;
  /// The times of a layer of the last solve in the user's numbering: unit · time + base.
  virtual void times(std::size_t layer, double base, std::span<double> result) = 0;
  /// The same in device memory.
  virtual void times(std::size_t layer, double base, DeviceArray<double>& result) = 0;
  /// Puts given times (user's numbering) in place of the first layer's.
  virtual void load_times(std::span<const double> times, double base) = 0;
  /// The source of every vertex of a layer, −1 where nothing arrived; see `LabelSpreader`.
  virtual void labels(std::size_t layer, std::span<const Seed> seeds, DeviceArray<std::int32_t>& result) = 0;
  /// |u − update(u)| at every vertex of a layer; seeds may be earlier than their elements say, not later.
  virtual Residual residual(std::size_t layer, std::span<const Seed> seeds, double limit) = 0;
  /// Elements with a corner at most `rings` edges away from one of the vertices.
  virtual std::vector<ElementId> elements_near(std::span<const VertexId> vertices, int rings) = 0;
};

}  // namespace isochron::cuda
