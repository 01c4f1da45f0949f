// The programs that fill surfaces, each with its files.
#pragma once

#include "isochron/surface/tetrahedra/tetrahedralize.h"

namespace isochron {

/// Runs the program on a surface that is closed and oriented outward and gives what it answered: tetrahedra of either
/// orientation, over points of which the first may or may not be the surface's. Throws RuntimeError, Cancelled.
TetAnswer ask_program(const TriangleMesh& surface, const TetOptions& options, const Progress& progress);

}  // namespace isochron
