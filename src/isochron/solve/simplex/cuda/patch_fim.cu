#include "isochron/core/error.h"
#include "isochron/solve/simplex/cuda/schedule.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>&,
                                                           const SimplexMesh<Corners>&, const SchemeOptions&) {
  throw RuntimeError("this method is not there yet; leave --method out");
}
template std::unique_ptr<DeviceSchedule<float, 3>> make_patch_fim(const SimplexProblem<float, 3>&,
                                                                  const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<float, 4>> make_patch_fim(const SimplexProblem<float, 4>&,
                                                                  const SimplexMesh<4>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 3>> make_patch_fim(const SimplexProblem<double, 3>&,
                                                                   const SimplexMesh<3>&, const SchemeOptions&);
template std::unique_ptr<DeviceSchedule<double, 4>> make_patch_fim(const SimplexProblem<double, 4>&,
                                                                   const SimplexMesh<4>&, const SchemeOptions&);

}  // namespace isochron::cuda
