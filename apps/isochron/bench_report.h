// The list of `isochron bench --list`.
#pragma once

#include "apps/isochron/console.h"

namespace isochron::cli {

/// As text for people or as one JSON object, as asked for.
void print_benches(const Console& console);

}  // namespace isochron::cli
