// The solver of meshes that are prepared and solved on the GPU.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "isochron/capabilities.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/simplex/cuda/mesh_input.h"
#include "isochron/sources.h"

namespace isochron {

class MeshDeviceEngine : public DeviceEngine {
 public:
  /// False when the metric does not fit the engine's precision: then make another engine. The metric must outlive its
  /// use.
  [[nodiscard]] virtual bool set_metric(const cuda::MetricInput& metric) = 0;
  /// The seeds of each set of sources; an InputError names its set.
  virtual std::vector<std::vector<Seed>> seeds(std::span<const Sources> source_sets, std::size_t first) = 0;
};

/// What an engine was made with beside mesh and metric.
struct MadeEngine {
  std::unique_ptr<MeshDeviceEngine> engine;
  std::vector<std::string> notes;  ///< a precision that had to be raised
};

/// Mesh and metric must outlive it. Throws InputError as `check_mesh` and `check_metric` do.
template <int Corners>
MadeEngine make_device_engine(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric, const Plan& plan,
                              const SolveOptions& options);

/// Device memory that it takes, about.
template <int Corners>
std::size_t device_engine_bytes(std::size_t vertices, std::size_t elements, std::size_t metric_bytes,
                                Precision precision);

}  // namespace isochron
