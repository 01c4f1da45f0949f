// The solver of meshes that are prepared and solved on the GPU.
#pragma once

#include <memory>
#include <span>

#include "isochron/solve/arrival.h"
#include "isochron/solve/device_data.h"
#include "isochron/solve/options.h"
#include "isochron/solve/simplex/cuda/mesh_input.h"
#include "isochron/solve/sources.h"

namespace isochron {

/// Keeps the mesh in device memory between solves; the host only sends sources and gets times. `Arrival::upwind` is not
/// filled. Throws RuntimeError when there is no device or its memory does not do.
class DeviceEngine {
 public:
  virtual ~DeviceEngine() = default;
  /// False when the metric does not fit the engine's precision: then make another engine. The metric must outlive its
  /// use.
  [[nodiscard]] virtual bool set_metric(const cuda::MetricInput& metric) = 0;
  /// Solves for each set of sources; on tetrahedra as many at once as the memory allows.
  virtual void solve(std::span<const Sources> source_sets, const TakeArrival& take) = 0;
  /// Leaves the times on the device.
  virtual DeviceArrival solve_on_device(const Sources& sources) = 0;
  virtual Residual residual(const Arrival& arrival, const Sources& sources) = 0;
};

/// Mesh and metric must outlive it. Throws InputError as `check_mesh` and `check_metric` do.
template <int Corners>
std::unique_ptr<DeviceEngine> make_device_engine(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric,
                                                 const SolveOptions& options, int threads);

/// Device memory that it takes, about.
template <int Corners>
std::size_t device_engine_bytes(const SimplexMesh<Corners>& mesh, const Metric& metric, Precision precision);

}  // namespace isochron
