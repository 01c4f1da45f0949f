// Asking the memory for data before it is needed.
#pragma once

#include <cstdint>

namespace isochron {

/// Asks for the cache line of an address; any address will do, also one that is never read.
inline void prefetch([[maybe_unused]] std::uintptr_t address) {
#if defined(__GNUC__)
  __builtin_prefetch(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr): never followed
  asm volatile("");  // else GCC takes a function that only prefetches for one without effect, and drops its calls
#endif
}

}  // namespace isochron
