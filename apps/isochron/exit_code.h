// What the command ends with.
#pragma once

#include "isochron/core/error.h"

namespace isochron::cli {

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
