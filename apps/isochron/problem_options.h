// The options that say what is solved: the mesh, the sources, the metric. Commands that look at a solution have them
// too.
#pragma once

#include "apps/isochron/arguments.h"
#include "apps/isochron/solve.h"

namespace isochron::cli {

/// --elements, --length-unit
void declare_mesh(Command& command, SolveRequest& request);
/// --source and its kin
void declare_sources(Command& command, SourceRequest& sources);
/// --speed and its kin
void declare_metric(Command& command, SolveRequest& request);
/// Warns of an order or a frame of tensors where none are asked for.
void warn_unused_tensor_layout(const SolveRequest& request, Console& console);

/// Takes a back end's name. Those that were not built in are told apart from those that do not exist.
Take into_backend(Backend& backend);

}  // namespace isochron::cli
