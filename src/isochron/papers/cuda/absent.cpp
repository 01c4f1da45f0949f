// In a build without CUDA asking for the GPU says so.
#include "isochron/device.h"
#include "isochron/papers/methods.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>&, const SimplexMesh<Corners>&,
                                                         const Metric&, const SolveOptions&) {
  require_device();
  return nullptr;
}
template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>&,
                                                                    const SimplexMesh<Corners>&, const SolveOptions&) {
  require_device();
  return nullptr;
}

#define ISOCHRON_INSTANTIATE(T, corners)                                                                   \
  template std::unique_ptr<MeshSchedule<T, corners>> make_patch_fim(                                       \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const Metric&, const SolveOptions&); \
  template std::unique_ptr<MeshSchedule<T, corners>> make_domain_decomposition(                            \
      const SimplexProblem<T, corners>&, const SimplexMesh<corners>&, const SolveOptions&);
ISOCHRON_INSTANTIATE(float, 3)
ISOCHRON_INSTANTIATE(float, 4)
ISOCHRON_INSTANTIATE(double, 3)
ISOCHRON_INSTANTIATE(double, 4)
#undef ISOCHRON_INSTANTIATE

template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_block_fim(const TensorProblem<T, Dim>&, const PaperOptions&) {
  require_device();
  return nullptr;
}
template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 2>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<float>> make_block_fim(const TensorProblem<float, 3>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 2>&, const PaperOptions&);
template std::unique_ptr<DeviceGrid<double>> make_block_fim(const TensorProblem<double, 3>&, const PaperOptions&);

}  // namespace isochron::cuda
