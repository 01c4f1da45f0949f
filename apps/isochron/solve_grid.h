// `isochron solve` on an image, and how other commands read what it read.
#pragma once

#include "apps/isochron/solve.h"
#include "isochron/metric/from_image.h"
#include "isochron/solve/mpi/ranked_solver.h"

namespace isochron::cli {

/// Runs everything, over ranks when there are any; gives the exit code.
int run_solve_grid(const SolveRequest& request, mpi::Ranks* ranks, Console& console);

/// The metric that is asked for on an image and where the front may pass: the mask that is asked for and, when the
/// metric is an array of tensors, the image's own and the voxels that have a usable one. Tensors that have a confidence
/// in front of them lose it to that mask. Warns of tensors that had to be changed or left out. Throws InputError.
ImageMetric image_problem(const SolveRequest& request, Image& image, Console& console);

/// What to try when a run did not converge, for its message: what was not used already.
std::string better_grid_options(const Arrival& arrival, GridScheme scheme);

}  // namespace isochron::cli
