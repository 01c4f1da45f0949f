// Errors that say which of several sets of sources they are about.
#pragma once

#include <cstddef>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

/// Does the work of one of `sets` sets of sources; when there are several, an InputError names the set.
template <class Work>
decltype(auto) for_source_set(std::size_t set, std::size_t sets, Work&& work) {
  try {
    return work();
  } catch (const InputError& error) {
    if (sets < 2) throw;
    throw InputError(fmt::format("source set {}: ", set) + error.detail(), error.file());
  }
}

}  // namespace isochron
