// In a build without CUDA asking for the GPU says so.
#include "isochron/core/cuda/device.h"
#include "isochron/solve/simplex/cuda/schedule.h"
#include "isochron/solve/simplex/cuda/volume.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>&,
                                                           const SimplexMesh<Corners>&, const SchemeOptions&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceSchedule<float, 3>> make_patch_fim(const SimplexProblem<float, 3>&,
                                                                  const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<float, 4>> make_patch_fim(const SimplexProblem<float, 4>&,
                                                                  const SimplexMesh<4>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_patch_fim(const SimplexProblem<double, 3>&,
                                                                   const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 4>> make_patch_fim(const SimplexProblem<double, 4>&,
                                                                   const SimplexMesh<4>&, const SchemeOptions&);

template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>&,
                                                             const SimplexMesh<Corners>&, const SchemeOptions&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceSchedule<float, 3>> make_active_list(const SimplexProblem<float, 3>&,
                                                                    const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<float, 4>> make_active_list(const SimplexProblem<float, 4>&,
                                                                    const SimplexMesh<4>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_active_list(const SimplexProblem<double, 3>&,
                                                                     const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 4>> make_active_list(const SimplexProblem<double, 4>&,
                                                                     const SimplexMesh<4>&, const SchemeOptions&);

template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>&,
                                                                      const SimplexMesh<Corners>&,
                                                                      const SchemeOptions&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceSchedule<float, 3>> make_domain_decomposition(const SimplexProblem<float, 3>&,
                                                                             const SimplexMesh<3>&,
                                                                             const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<float, 4>> make_domain_decomposition(const SimplexProblem<float, 4>&,
                                                                             const SimplexMesh<4>&,
                                                                             const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_domain_decomposition(const SimplexProblem<double, 3>&,
                                                                              const SimplexMesh<3>&,
                                                                              const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 4>> make_domain_decomposition(const SimplexProblem<double, 4>&,
                                                                              const SimplexMesh<4>&,
                                                                              const SchemeOptions&);

template <class T>
std::unique_ptr<VolumeSolver<T>> make_volume_solver(const TetMesh&, const Metric&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<VolumeSolver<float>> make_volume_solver(const TetMesh&, const Metric&);
template std::unique_ptr<VolumeSolver<double>> make_volume_solver(const TetMesh&, const Metric&);

template <class T>
std::unique_ptr<DeviceSchedule<T, 3>> make_surface(const SimplexProblem<T, 3>&, const SimplexMesh<3>&,
                                                   const std::optional<SurfaceTuning>&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceSchedule<float, 3>> make_surface(const SimplexProblem<float, 3>&, const SimplexMesh<3>&,
                                                                const std::optional<SurfaceTuning>&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_surface(const SimplexProblem<double, 3>&,
                                                                 const SimplexMesh<3>&,
                                                                 const std::optional<SurfaceTuning>&);

}  // namespace isochron::cuda
