// What `isochron solve` and other commands do with an image to solve on.
#pragma once

#include "apps/isochron/solve_mpi.h"
#include "isochron/metric_arrays.h"

namespace isochron::cli {

/// The metric that is asked for on an image and where the front may pass: the mask that is asked for and, when the
/// metric is an array of tensors, the image's own and the voxels that have a usable one. Tensors that have a confidence
/// in front of them lose it to that mask. Warns of tensors that had to be changed or left out. Throws InputError.
ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console);

/// The steps of `image_problem` after the mask that is asked for: the image's own mask, and the metric. Of a part of an
/// image `median` is as for `metric_from_image`.
void leave_out_own_mask(const SolveRequest& request, Image& image, std::vector<std::uint8_t>& mask);
ImageMetric image_metric(const SolveRequest& request, const Image& image, std::vector<std::uint8_t> mask, int threads,
                         std::optional<double> median = {});

struct SolveSummary;
/// Says which voxels have no time, and why.
void warn_unreached_voxels(const SolveSummary& summary, Console& console);

/// What to try when a run did not converge, for its message: what was not used already.
std::string better_grid_options(const Arrival& arrival, GridScheme scheme);

}  // namespace isochron::cli
