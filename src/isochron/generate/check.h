// Checks of options that several generators have.
#pragma once

#include <string_view>

namespace isochron {

/// All throw UsageError; `name` is what the message calls the value.
void require_positive(std::string_view name, double value);
/// A share: 0 to 1.
void require_share(std::string_view name, double value);
/// How far inner vertices move, as a share of a cell: at least 0 and below 0.5.
void require_jitter(double jitter);

}  // namespace isochron
