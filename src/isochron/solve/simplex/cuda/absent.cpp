// In a build without CUDA asking for the GPU says so.
#include "isochron/core/cuda/device.h"
#include "isochron/solve/simplex/cuda/push.h"

namespace isochron::cuda {

template <class T, int Corners>
std::unique_ptr<PushSolver<T, Corners>> make_push_solver(const SimplexProblem<T, Corners>&) {
  require_device();
  return nullptr;
}

template std::unique_ptr<PushSolver<float, 3>> make_push_solver(const SimplexProblem<float, 3>&);
template std::unique_ptr<PushSolver<float, 4>> make_push_solver(const SimplexProblem<float, 4>&);
template std::unique_ptr<PushSolver<double, 3>> make_push_solver(const SimplexProblem<double, 3>&);
template std::unique_ptr<PushSolver<double, 4>> make_push_solver(const SimplexProblem<double, 4>&);

}  // namespace isochron::cuda
