// Steps that succeed on all processes or fail on all of them.
#pragma once

#include <optional>

#include "isochron/core/error.h"
#include "isochron/mesh/exchange.h"

namespace isochron {

/// Base of what `throw_together` throws, beside Error: every process has it in flight, so that none waits for another.
struct ThrownTogether {};

/// All processes together: when any of them brings a failure, throws that of the first one on all of them, as an Error
/// of its kind.
void throw_together(Exchange& exchange, const std::optional<Failure>& own);

/// All processes together: each does its own work, and what one of them throws all throw. The work must not wait for
/// other processes, which may have failed.
template <class Work>
void all_or_none(Exchange& exchange, Work&& work) {
  std::optional<Failure> own;
  try {
    work();
  } catch (...) {
    own = current_failure();
  }
  throw_together(exchange, own);
}

}  // namespace isochron
