// Arrival times on a tetrahedral mesh that is prepared and solved on a CUDA device: the host sends the raw arrays and
// the seeds and gets the times back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isochron/mesh/simplex_mesh.h"
#include "isochron/metric/metric.h"
#include "isochron/solve/arrival.h"

namespace isochron::cuda {

/// Vertices (user's numbering) that have a time at the start, in units of `VolumeSummary::unit`; no vertex twice.
struct VolumeSeeds {
  std::vector<std::uint32_t> vertices;
  std::vector<double> times;
  std::vector<std::int32_t> labels;  ///< the source of each
};

/// What the host needs to know of a prepared mesh; see `SimplexProblem`.
struct VolumeSummary {
  double unit = 1;
  double mean_edge = 1;
  double shortest = 1, longest = 1;
  std::uint64_t obtuse_corners = 0;
  std::size_t device_bytes = 0;  ///< held between solves
};

/// Several independent problems on one mesh, its layers, are solved at once: the mesh is read for all of them.
template <class T>
class VolumeSolver {
 public:
  static constexpr std::size_t most_layers = 64;

  virtual ~VolumeSolver() = default;
  virtual void set_metric(const Metric& metric) = 0;
  [[nodiscard]] virtual VolumeSummary summary() const = 0;
  /// Layers that fit the memory now, at most `most_layers`.
  [[nodiscard]] virtual std::size_t layers_that_fit() const = 0;
  /// Brings every layer to the fixed point. Returns the work of all; seconds of the kernels alone go to `seconds`.
  virtual Counters solve(std::span<const VolumeSeeds> layers, T tolerance, double band_width, double& seconds) = 0;
  /// The times of a layer of the last solve in the user's numbering: unit · time + base.
  virtual void times(std::size_t layer, double base, std::span<double> result) = 0;
  /// Puts given times (user's numbering) in place of the first layer's.
  virtual void load_times(std::span<const double> times, double base) = 0;
  /// The source of every vertex of a layer, −1 where nothing arrived; see `spread_labels`.
  virtual void labels(std::size_t layer, const VolumeSeeds& seeds, std::span<std::int32_t> result) = 0;
  /// |u − update(u)| at every vertex of a layer; seeds may be earlier than their elements say, not later.
  virtual Residual residual(std::size_t layer, const VolumeSeeds& seeds, double limit) = 0;
  /// Elements with a corner at most `rings` edges away from one of the vertices.
  virtual std::vector<ElementId> elements_near(std::span<const VertexId> vertices, int rings) = 0;
};

/// Device memory that a mesh takes at most while it is prepared and solved, about.
constexpr std::size_t volume_bytes(std::size_t vertices, std::size_t elements, std::size_t scalar_bytes,
                                   std::size_t metric_bytes_per_element) {
  const std::size_t an_element = 16 + 16 + 4 * (4 + 6 * scalar_bytes);     // corners, incidences, stars
  const std::size_t a_vertex = 60 + 60 + 24 + 12 + 16 + 3 * scalar_bytes;  // numbering, neighbours, plan, lists, times
  return vertices * a_vertex + elements * (an_element + metric_bytes_per_element);
}

/// Copies the mesh to the device and prepares it there. Throws InputError as `check_mesh` and `check_metric` do,
/// RuntimeError when there is no device or the mesh does not fit its memory.
template <class T>
std::unique_ptr<VolumeSolver<T>> make_volume_solver(const TetMesh& mesh, const Metric& metric);

}  // namespace isochron::cuda
