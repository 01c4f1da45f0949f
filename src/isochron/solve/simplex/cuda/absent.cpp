// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solve/simplex/cuda/surface_build.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "isochron/solve/simplex/mesh_schedule.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>&, ElementStorage) {
  require_device();
  return nullptr;
}
template std::unique_ptr<MeshSchedule<float, 3>> make_active_list(const SimplexProblem<float, 3>&, ElementStorage);
template std::unique_ptr<MeshSchedule<float, 4>> make_active_list(const SimplexProblem<float, 4>&, ElementStorage);
template std::unique_ptr<MeshSchedule<double, 3>> make_active_list(const SimplexProblem<double, 3>&, ElementStorage);
template std::unique_ptr<MeshSchedule<double, 4>> make_active_list(const SimplexProblem<double, 4>&, ElementStorage);

template <class T>
std::unique_ptr<MeshSolver<T>> make_volume_solver(const MeshInput<4>&, const MetricInput&,
                                                  const std::optional<PushTuning>&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<MeshSolver<float>> make_volume_solver(const MeshInput<4>&, const MetricInput&,
                                                               const std::optional<PushTuning>&);
template std::unique_ptr<MeshSolver<double>> make_volume_solver(const MeshInput<4>&, const MetricInput&,
                                                                const std::optional<PushTuning>&);

template <class T>
std::unique_ptr<MeshSolver<T>> make_surface_solver(const MeshInput<3>&, const MetricInput&, ObtuseSplit,
                                                   const std::optional<SurfaceTuning>&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<MeshSolver<float>> make_surface_solver(const MeshInput<3>&, const MetricInput&, ObtuseSplit,
                                                                const std::optional<SurfaceTuning>&);
template std::unique_ptr<MeshSolver<double>> make_surface_solver(const MeshInput<3>&, const MetricInput&, ObtuseSplit,
                                                                 const std::optional<SurfaceTuning>&);

SurfaceTopology build_surface_topology(const MeshInput<3>&) {
  require_device();
  return {};
}

template <class T>
SurfaceRecords<T> build_surface_records(const SurfaceTopology&, const MeshInput<3>&, const MetricInput&, ObtuseSplit) {
  require_device();
  return {};
}
template SurfaceRecords<float> build_surface_records(const SurfaceTopology&, const MeshInput<3>&, const MetricInput&,
                                                     ObtuseSplit);

template <class T>
std::size_t vertices_beyond(const SurfaceTopology&, const SurfaceRecords<T>&, std::uint32_t) {
  require_device();
  return 0;
}
template std::size_t vertices_beyond(const SurfaceTopology&, const SurfaceRecords<float>&, std::uint32_t);

template <class T>
SurfacePatches<T> cut_into_patches(const SurfaceTopology&, const SurfaceRecords<T>&, const PatchShape&) {
  require_device();
  return {};
}
template SurfacePatches<float> cut_into_patches(const SurfaceTopology&, const SurfaceRecords<float>&,
                                                const PatchShape&);

}  // namespace isochron::cuda
