// What the command ends with: 0 when all went well, else one of these.
#pragma once

#include "isochron/error.h"

namespace isochron::cli {

/// The result failed its check, or there is none within the steps that were allowed.
inline constexpr int exit_not_converged = 4;

/// The time limit came before the end of the work; as `timeout` has it.
inline constexpr int exit_out_of_time = 124;

constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::input: return 3;
    case ErrorKind::no_answer: return 5;
    case ErrorKind::cancelled: return 130;
    case ErrorKind::runtime:
    case ErrorKind::device: break;
  }
  return 1;
}

}  // namespace isochron::cli
