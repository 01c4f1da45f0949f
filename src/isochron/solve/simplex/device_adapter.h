// Meshes that are prepared and solved on the GPU.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isochron/capabilities.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/simplex/cuda/mesh_input.h"
#include "isochron/sources.h"

namespace isochron {

class MeshDeviceAdapter : public DeviceAdapter {
 public:
  /// False when the metric does not fit the precision: then make another adapter. The metric must outlive its use.
  [[nodiscard]] virtual bool set_metric(const cuda::MetricInput& metric) = 0;
  /// The seeds of each set of sources; an InputError names its set.
  virtual std::vector<std::vector<Seed>> seeds(std::span<const Sources> source_sets) = 0;
};

/// Mesh and metric must outlive it. A precision that had to be raised is said in `notes`. Throws InputError as
/// `check_mesh` and `check_metric` do.
template <int Corners>
std::unique_ptr<MeshDeviceAdapter> make_device_adapter(const cuda::MeshInput<Corners>& mesh,
                                                       const cuda::MetricInput& metric, const Plan& plan,
                                                       const SolveOptions& options, std::vector<std::string>& notes);

}  // namespace isochron
