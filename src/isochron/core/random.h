// Random numbers that are the same on every platform (the standard distributions are not).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "isochron/types.h"

namespace isochron {

/// SplitMix64 (Steele, Lea, Flood 2014): 64 random bits a step from a 64-bit seed.
class Random {
 public:
  ISOCHRON_HD explicit Random(std::uint64_t seed) : state_(seed) {}

  /// Goes on as if `steps` numbers had been drawn; takes no longer for many.
  ISOCHRON_HD void skip(std::uint64_t steps) { state_ += steps * step; }

  ISOCHRON_HD std::uint64_t bits() {
    std::uint64_t z = (state_ += step);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  ISOCHRON_HD double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal, by Box and Muller.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
  /// Uniform in [0, bound), bound > 0.
  std::uint64_t below(std::uint64_t bound) { return bits() % bound; }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

}  // namespace isochron
