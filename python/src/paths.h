// Paths as Python gets them.
#pragma once

#include "isochron/trace/path.h"
#include "python/src/arrays.h"

namespace isochron::python {

/// {"points", "times", "length", "travel_time", "source", "why"}; "why" is empty for a path that ends at a source.
py::dict dict_of(Path&& path);

}  // namespace isochron::python
