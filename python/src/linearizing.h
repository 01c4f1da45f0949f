// Derivatives that Python keeps.
#pragma once

#include <memory>

#include "isochron/linearization.h"
#include "python/src/problem.h"

namespace isochron::python {

/// A linearised solution, and the problem by whose arguments it is differentiated.
struct LinearizedProblem {
  std::shared_ptr<const Problem> problem;
  Linearization linear;
};

}  // namespace isochron::python
