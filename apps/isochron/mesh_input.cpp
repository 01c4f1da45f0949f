#include "apps/isochron/mesh_input.h"

#include "isochron/io/file.h"

namespace isochron::cli {

void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why) {
  std::error_code ignored;
  const auto place = [&](const std::filesystem::path& p) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(p, ignored), ignored);
  };
  for (const auto& other : others)
    if (place(file) == place(other)) throw UsageError(fmt::format("{}: {}; choose another name", file.string(), why));
}

bool is_carp_file(const std::filesystem::path& file) {
  const std::string extension = FileName(file).extension;
  return extension == ".pts" || extension == ".elem" || extension == ".lon";
}

void warn_of_reading(const SolveRequest& request, const std::vector<std::string>& warnings,
                     const std::vector<std::pair<std::string, std::size_t>>& ignored_cells, Console& console) {
  const std::string name = request.mesh.string();
  for (const std::string& warning : warnings) console.warn(fmt::format("{}: {}", name, warning));
  for (const auto& [kind, count] : ignored_cells)
    console.warn(fmt::format("{}: {} of kind {} left out", name, counted(count, "cell", "cells"), kind));
}

Dataset read_mesh(const SolveRequest& request, Console& console) {
  const Activity activity(console, "reading " + request.mesh.string());
  Dataset dataset = read_dataset(request.mesh);
  warn_of_reading(request, dataset.warnings, dataset.ignored_cells, console);
  if (is_carp_file(request.mesh) && !request.unit)
    console.warn(
        fmt::format("{}: CARP coordinates are usually in µm; say so with --length-unit um, so that velocities "
                    "are in mm/ms",
                    request.mesh.string()));
  return dataset;
}

MetricRequest mesh_metric(const SolveRequest& request) {
  refuse_on_mesh(request.tensors.frame.has_value(), "--tensor-frame");
  MetricRequest metric = request.metric;
  if (request.tensors.order) metric.tensor_order = *request.tensors.order;
  return metric;
}

int pick_elements(const SolveRequest& request, std::size_t triangles, std::size_t tets) {
  if (triangles + tets == 0)
    throw InputError("there are no triangles and no tetrahedra (nothing to solve on); give a surface or volume mesh");
  if (request.elements == Elements::tet && tets == 0)
    throw InputError("there are no tetrahedra (--elements tet), only triangles; leave --elements out");
  if (request.elements == Elements::triangle && triangles == 0)
    throw InputError("there are no triangles (--elements triangle), only tetrahedra; leave --elements out");
  if (request.elements == Elements::automatic) return tets > 0 ? 4 : 3;
  return request.elements == Elements::tet ? 4 : 3;
}

}  // namespace isochron::cli
