// The functions behind the rows of the papers' methods.
#pragma once

#include <memory>

#include "isochron/papers/axis_schemes.h"
#include "isochron/solve/common/methods.h"
#include "isochron/solve/grid/cuda/device_grid.h"

namespace isochron {

/// A method that runs on the CPU: fim, fmm, fsm or one of the relabelling references.
template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_cpu_schedule(Method method, const SimplexProblem<T, Corners>& problem,
                                                            const SimplexMesh<Corners>& mesh,
                                                            const SolveOptions& options);

/// The engine of paper 004's schemes of images.
std::unique_ptr<Engine> make_axis_scheme_engine(const Domain& domain, SolveOptions options);

namespace cuda {

/// Each copies what a solve needs to the device. Throws DeviceError when there is no device or its memory is too small,
/// UsageError when an option cannot be met.
template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>& problem,
                                                         const SimplexMesh<Corners>& mesh, const Metric& metric,
                                                         const SolveOptions& options);
template <class T, int Corners>
std::unique_ptr<MeshSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>& problem,
                                                                    const SimplexMesh<Corners>& mesh,
                                                                    const SolveOptions& options);

/// Paper 004's blocks (its Algorithm 5.1) for its Godunov scheme: one layer at a time. Of the options it takes
/// `inner_iterations`, `block_order` and `block_halo`.
template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_block_fim(const TensorProblem<T, Dim>& problem, const PaperOptions& options);

}  // namespace cuda
}  // namespace isochron
