// How much memory the host can still give.
#pragma once

#include <cstddef>

namespace isochron::bench {

/// Bytes that this process may still take, by what Linux and its control group say; 0 where they do not tell.
std::size_t available_host_bytes();

inline double in_gibibytes(double bytes) { return bytes / (1024.0 * 1024.0 * 1024.0); }

}  // namespace isochron::bench
