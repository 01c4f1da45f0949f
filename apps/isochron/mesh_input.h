// The steps that commands on a mesh begin with.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// Throws UsageError when `file` is one of `others`, however it is written.
void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why);

/// Whether a file is one of CARP's, whose lengths are in µm.
bool is_carp_file(const std::filesystem::path& file);

/// Passes on what a reader noticed.
void warn_of_reading(const SolveRequest& request, const std::vector<std::string>& warnings,
                     const std::vector<std::pair<std::string, std::size_t>>& ignored_cells, Console& console);

/// Reads the mesh and passes on the reader's warnings.
Dataset read_mesh(const SolveRequest& request, Console& console);

/// The metric that is asked for on a mesh. Throws UsageError for axes of tensors that only images have.
MetricRequest mesh_metric(const SolveRequest& request);

/// Corners of the elements to solve on.
int pick_elements(const SolveRequest& request, std::size_t triangles, std::size_t tets);
inline int pick_elements(const SolveRequest& request, const Dataset& dataset) {
  return pick_elements(request, dataset.triangles.cells.size(), dataset.tets.cells.size());
}

}  // namespace isochron::cli
