// What is solved: the options that say it, and the steps that commands on a mesh or an image begin with.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// --elements, --length-unit
void declare_mesh(Command& command, SolveRequest& request);
/// --source and its kin
void declare_sources(Command& command, SourceRequest& sources);
/// --speed and its kin
void declare_metric(Command& command, SolveRequest& request);
/// Takes a tolerance: a share of an edge's travel time.
Take into_edge_share(std::optional<double>& share);
/// Warns of an order or a frame of tensors where none are asked for.
void warn_unused_tensor_layout(const SolveRequest& request, Console& console);

/// Throws UsageError when `file` is one of `others`, however it is written.
void check_not_among(const std::filesystem::path& file, const Paths& others, std::string_view why);

/// Throws UsageError: the output would be an image, and the input is none.
[[noreturn]] void refuse_image_output(const SolveRequest& request);

/// Whether a file is one of CARP's, whose lengths are in µm.
bool is_carp_file(const std::filesystem::path& file);

/// Names the arrays that a file cannot hold; `better` are extensions that hold all.
void warn_dropped_arrays(const std::filesystem::path& file, const std::vector<std::string>& dropped,
                         std::string_view better, Console& console);

/// Passes on what a reader noticed.
void warn_of_reading(const std::filesystem::path& file, const std::vector<std::string>& warnings,
                     const std::vector<std::pair<std::string, std::size_t>>& ignored_cells, Console& console);

/// Reads the mesh and passes on the reader's warnings. Arrays that are not `wanted` may be missing, unless one that the
/// request names is not there.
Dataset read_mesh(const SolveRequest& request, Console& console, const ArrayNames& wanted = {});
/// The same of one that -o holds again.
MeshToKeep read_mesh_to_keep(const SolveRequest& request, Console& console);

/// The metric that is asked for on a mesh. Throws UsageError for axes of tensors that only images have.
MetricRequest mesh_metric(const SolveRequest& request);

/// Corners of the elements to solve on.
int pick_elements(const SolveRequest& request, std::size_t triangles, std::size_t tets);
inline int pick_elements(const SolveRequest& request, const Dataset& dataset) {
  return pick_elements(request, dataset.triangles.cells.size(), dataset.tets.cells.size());
}

/// The metric that is asked for on an image and where the front may pass: the mask that is asked for and, when the
/// metric is an array of tensors, the image's own and the voxels that have a usable one. Tensors that have a confidence
/// in front of them lose it to that mask. Warns of tensors that had to be changed or left out. Throws InputError.
ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console);

/// The steps of `image_problem` after the mask that is asked for: the image's own mask, and the metric. Of a part of an
/// image `median` is as for `metric_from_image`.
void leave_out_own_mask(const SolveRequest& request, Image& image, std::vector<std::uint8_t>& mask);
ImageMetric image_metric(const SolveRequest& request, const Image& image, std::vector<std::uint8_t> mask, int threads,
                         std::optional<double> median = {});

}  // namespace isochron::cli
