// The methods of the papers, as this module sees them: rows of the capability table, and functions to call. They are
// defined in the module `papers`, which stands above this one in the same library, so that nothing here includes them.
#pragma once

#include <memory>
#include <span>
#include <tuple>

#include "isochron/capabilities.h"
#include "isochron/solve/simplex/mesh_schedule.h"

namespace isochron {

template <class T, int Corners>
using MakeMeshSchedule = std::unique_ptr<MeshSchedule<T, Corners>> (*)(const SimplexProblem<T, Corners>& problem,
                                                                       const SimplexMesh<Corners>& mesh,
                                                                       const Metric& metric,
                                                                       const SolveOptions& options);
using MakeMeshSchedules = std::tuple<MakeMeshSchedule<float, 3>, MakeMeshSchedule<float, 4>,
                                     MakeMeshSchedule<double, 3>, MakeMeshSchedule<double, 4>>;

class Engine;
using MakeEngine = std::unique_ptr<Engine> (*)(const Domain& domain, SolveOptions options);

struct PaperMethod {
  Capability row;
  MakeMeshSchedules make_schedule = {};      ///< on meshes; what it makes may refer to problem and mesh
  ForPushes prepare_pushes = ForPushes::no;  ///< on meshes
  MakeEngine make_engine = nullptr;          ///< on images: the engine of the row's scheme
};

/// In the order of the capability table. Defined in papers/methods.cpp.
std::span<const PaperMethod> paper_methods();

/// The paper's method of that name on meshes, or null.
const PaperMethod* paper_method_on_meshes(Method method);
/// One of the papers' methods for a scheme of images, or null; all methods of a scheme share an engine.
const PaperMethod* paper_method_of(GridScheme scheme);

}  // namespace isochron
