// The kinds of `isochron generate` that are images.
#pragma once

#include "apps/isochron/arguments.h"
#include "apps/isochron/console.h"

namespace isochron::cli {

void declare_image_kinds(Command& generate, Console& console);

}  // namespace isochron::cli
