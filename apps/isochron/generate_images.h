// The kinds of `isochron generate` that are images.
#pragma once

#include <string>

#include "apps/isochron/arguments.h"
#include "apps/isochron/console.h"

namespace isochron::cli {

/// In place of the function that makes a part: the kind is made in one piece only.
struct NoParts {};

/// --backend of a kind that is made by one process only, which says so.
void declare_serial_backend(Command& command, const std::string& kind);

void declare_image_kinds(Command& generate, Console& console);

}  // namespace isochron::cli
