// The subcommands, one file each.
#pragma once

#include "apps/isochron/arguments.h"

namespace isochron::cli {

void declare_generate(Command& root, Console& console);
void declare_info(Command& root, Console& console);
void declare_convert(Command& root, Console& console);
void declare_solve(Command& root, Console& console);
void declare_tensors(Command& root, Console& console);
void declare_invert(Command& root, Console& console);
void declare_path(Command& root, Console& console);
void declare_connect(Command& root, Console& console);
void declare_connectome(Command& root, Console& console);
void declare_surface(Command& root, Console& console);
void declare_view(Command& root, Console& console);
void declare_bench(Command& root, Console& console);

/// --json, --quiet, --threads and the limits, which every command has.
void declare_common(Command& command, Console& console);

}  // namespace isochron::cli
