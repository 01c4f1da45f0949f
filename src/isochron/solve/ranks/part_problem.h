// One part of a mesh prepared for its rank's schedule, in units that all ranks share.
#pragma once

#include <span>

#include "isochron/communicator.h"
#include "isochron/metric.h"
#include "isochron/options.h"
#include "isochron/parts.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::ranks {

/// All ranks together. Owned vertices come first in the problem too. Unit, mean edge, and shortest and longest edge are
/// those of the whole mesh. Virtual elements are in the part's numbers and the user's units.
/// The part and its metric must have passed their checks.
template <class T, int Corners>
SimplexProblem<T, Corners> prepare_part(Communicator& communicator, const MeshPart<Corners>& part, const Metric& metric,
                                        std::span<const VirtualRecord<double, Corners>> virtual_elements,
                                        Reorder reorder, int threads, ForPushes pushes = ForPushes::yes);

}  // namespace isochron::ranks
