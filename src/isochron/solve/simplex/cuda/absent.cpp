// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solve/simplex/cuda/surface_build.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "isochron/solve/simplex/mesh_schedule.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>&,
                                                           const SimplexMesh<Corners>&, const Metric&, ElementStorage) {
  require_device();
  return nullptr;
}
#define ISOCHRON_INSTANTIATE(T, corners)                               \
  template std::unique_ptr<MeshSchedule<T, corners>> make_active_list( \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const Metric&, ElementStorage);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

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
