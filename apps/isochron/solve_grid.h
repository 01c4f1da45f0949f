// `isochron solve` on an image, and how other commands read what it read.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// Runs everything; gives the exit code.
int run_solve_grid(const SolveRequest& request, Console& console);

/// Where the front may pass: the mask that is asked for and, when the metric is an array of tensors, the image's own.
/// Empty: everywhere. Tensors that have a confidence in front of them lose it to that mask.
std::vector<std::uint8_t> problem_mask(const SolveRequest& request, Image& image, Console& console);

/// The metric that is asked for on an image.
Metric image_metric(const SolveRequest& request, const Image& image, std::span<const std::uint8_t> mask);

/// What to try when a run did not converge, for its message: what was not used already.
std::string better_grid_options(const Arrival& arrival, GridScheme scheme);

}  // namespace isochron::cli
