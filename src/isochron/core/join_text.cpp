#include "isochron/core/join_text.h"

#include <fmt/format.h>

namespace isochron {

std::string shortest_text(double number) { return fmt::format("{}", number); }

}  // namespace isochron
