// Where the values on a lattice do not tell how the surface between them hangs together.
#pragma once

#include <vector>

#include "isochron/surface/field/spline.h"

namespace isochron {

/// The cells (numbered as their lowest points; others are 0) in which the zero set of the field may be another than
/// marching tetrahedra see: what is inside, or what is outside, is in several parts in the cell or on one of its faces,
/// or changes twice along an edge, by the values at the corners or halfway between. Their neighbours are among them.
std::vector<char> doubtful_cells(const SplineField& field, int threads);

}  // namespace isochron
