// What the fixed-point checks of meshes and images count.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace isochron {

/// A vertex that starts with a time.
template <class T>
struct SeedTime {
  std::uint32_t vertex;
  T time;
};

/// What a vertex that should have one time and has another counts in the residual: the difference in local edge travel
/// times, without the rounding of the time itself (8 ulp).
template <class T>
double counted_difference(T now, T wanted, T edge) {
  const double rounding = 8.0 * std::numeric_limits<T>::epsilon() * static_cast<double>(now);
  const double difference = (std::abs(static_cast<double>(now) - static_cast<double>(wanted)) - rounding) / edge;
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace isochron
