// The library's messages in the words of the command.
#pragma once

#include <string_view>

#include "isochron/error.h"

namespace isochron::cli {

/// How the command names an option: "--source-init".
std::string_view flag_of(Option option);

/// Says options as flags, and tasks as subcommands.
const Wording& command_wording();

}  // namespace isochron::cli
