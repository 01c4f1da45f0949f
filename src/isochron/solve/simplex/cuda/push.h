// Pushing through elements on a CUDA device: the host launches one kernel, which goes from round to round by itself.
#pragma once

#include <memory>

#include "isochron/solve/simplex/problem.h"
#include "isochron/solve/simplex/state.h"

namespace isochron::cuda {

/// A prepared problem in device memory. Solving again uploads nothing but the seeds.
template <class T, int Corners>
class PushSolver {
 public:
  virtual ~PushSolver() = default;
  /// Brings `state.time` to the fixed point. Throws RuntimeError when the device fails.
  virtual void run(SolveState<T>& state) = 0;
};

/// Copies what a solve needs to the device. Throws RuntimeError when there is no device or its memory does not do.
template <class T, int Corners>
std::unique_ptr<PushSolver<T, Corners>> make_push_solver(const SimplexProblem<T, Corners>& problem);

}  // namespace isochron::cuda
