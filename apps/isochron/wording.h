// The library's messages in the words of the command.
#pragma once

#include <string>
#include <string_view>

#include "isochron/error.h"

namespace isochron::cli {

/// "ball_rings" as "--ball-rings".
std::string flag_name(std::string_view name);
/// How the command names an option: "--source-init".
std::string flag_of(Option option);

/// Says options as flags, and tasks as subcommands.
const Wording& command_wording();

}  // namespace isochron::cli
