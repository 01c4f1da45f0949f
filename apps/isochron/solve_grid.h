// `isochron solve` on an image.
#pragma once

#include "apps/isochron/solve.h"

namespace isochron::cli {

/// Runs everything; gives the exit code.
int run_solve_grid(const SolveRequest& request, Console& console);

}  // namespace isochron::cli
