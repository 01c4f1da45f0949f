// Steps that succeed on all processes or fail on all of them.
#pragma once

#include <string>

#include "isochron/mesh/exchange.h"

namespace isochron {

/// What went wrong on one process; nothing while the exit code is 0.
struct Failure {
  std::string message;
  int exit_code = 0;
};

/// Base of what `throw_together` throws, beside Error: every process has it in flight, so that none waits for another.
struct ThrownTogether {};

/// The exception in flight, in words. To be called where one was caught.
Failure current_failure();

/// All processes together: when any of them brings a failure, throws that of the first one on all of them, as the kind
/// of Error that has its exit code.
void throw_together(Exchange& exchange, const Failure& own);

/// All processes together: each does its own work, and what one of them throws all throw. The work must not wait for
/// other processes, which may have failed.
template <class Work>
void all_or_none(Exchange& exchange, Work&& work) {
  Failure own;
  try {
    work();
  } catch (...) {
    own = current_failure();
  }
  throw_together(exchange, own);
}

}  // namespace isochron
