// What a solve tells about itself.
#pragma once

#include <cstddef>

#include <pybind11/pybind11.h>

#include "isochron/solve/arrival.h"

namespace isochron::python {

/// `Arrival.stats`.
pybind11::dict stats_of(const Arrival& arrival, std::size_t vertices, std::size_t elements);

}  // namespace isochron::python
