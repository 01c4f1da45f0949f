#include "isochron/solve/device_solver.h"

#include <optional>
#include <utility>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/solve/common/device_arrays.h"
#include "isochron/solve/common/solve_shell.h"
#include "isochron/solve/simplex/device_engine.h"

namespace isochron {
template <int Corners>
class DeviceSolver<Corners>::Engine {
 public:
  template <class Mesh>
  Engine(const Mesh& mesh, int gpu, const AnyMetric& metric, SolveOptions options) : options_(std::move(options)) {
    check_device_options(options_);
    if (Corners == 4 && options_.obtuse == ObtuseSplit::split)
      throw UsageError("there are no virtual tetrahedra on the GPU for arrays in its memory; do not split them");
    gpu_ = device_holding(metric, gpu);
    if (gpu_ < 0) gpu_ = cuda::current_device();
    const cuda::OnDevice here(gpu_);
    cuda::require_device();
    mesh_.emplace(mesh);
    set_metric(metric);
  }

  void set_metric(const AnyMetric& metric) {
    device_holding(metric, gpu_);
    const cuda::OnDevice here(gpu_);
    auto next = std::make_unique<cuda::DeviceMetric>(metric, mesh_->elements.size());
    try {
      prepare(*next);
      metric_ = std::move(next);
    } catch (...) {
      engine_.reset();  // made again, of the metric before, by the next solve
      throw;
    }
  }

  DeviceArrival solve(const Sources& sources) {
    const cuda::OnDevice here(gpu_);
    if (engine_ == nullptr) prepare(*metric_);
    return engine_->solve_on_device(sources);
  }

 private:
  void prepare(const cuda::DeviceMetric& metric) {
    if (engine_ != nullptr && engine_->set_metric(metric)) return;
    engine_.reset();  // its memory may be needed
    engine_ = make_device_engine<Corners>(*mesh_, metric, options_, wanted_threads(options_));
  }

  SolveOptions options_;
  int gpu_ = -1;
  std::optional<cuda::MeshOnDevice<Corners>> mesh_;
  std::unique_ptr<cuda::DeviceMetric> metric_;
  std::unique_ptr<DeviceEngine> engine_;
};

template <int Corners>
DeviceSolver<Corners>::DeviceSolver(const DeviceMesh& mesh, const AnyMetric& metric, SolveOptions options)
    : engine_(std::make_unique<Engine>(mesh, device_holding(mesh.elements, device_holding(mesh.points, -1)), metric,
                                       std::move(options))) {}
template <int Corners>
DeviceSolver<Corners>::DeviceSolver(const SimplexMesh<Corners>& mesh, const AnyMetric& metric, SolveOptions options)
    : engine_(std::make_unique<Engine>(mesh, -1, metric, std::move(options))) {}
template <int Corners>
DeviceSolver<Corners>::~DeviceSolver() = default;
template <int Corners>
DeviceSolver<Corners>::DeviceSolver(DeviceSolver&&) noexcept = default;
template <int Corners>
DeviceSolver<Corners>& DeviceSolver<Corners>::operator=(DeviceSolver&&) noexcept = default;

template <int Corners>
DeviceArrival DeviceSolver<Corners>::solve(const Sources& sources) {
  return engine_->solve(sources);
}
template <int Corners>
void DeviceSolver<Corners>::set_metric(const AnyMetric& metric) {
  engine_->set_metric(metric);
}

template class DeviceSolver<3>;
template class DeviceSolver<4>;

}  // namespace isochron
