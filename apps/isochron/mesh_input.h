// The steps that commands on a mesh begin with.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

using Paths = std::vector<std::filesystem::path>;

/// Throws UsageError when `file` is one of `others`, however it is written.
void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why);

/// Reads the mesh and passes on the reader's warnings.
Dataset read_mesh(const SolveRequest& request, Console& console);

/// The metric that is asked for on a mesh. Throws UsageError for axes of tensors that only images have.
MetricRequest mesh_metric(const SolveRequest& request);

/// Corners of the elements to solve on.
int pick_elements(const SolveRequest& request, const Dataset& dataset);

}  // namespace isochron::cli
