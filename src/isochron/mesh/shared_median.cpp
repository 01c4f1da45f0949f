#include "isochron/mesh/shared_median.h"

#include <array>
#include <bit>
#include <cstdint>

namespace isochron {

std::optional<double> shared_median(Exchange& exchange, std::span<const double> own) {
  const std::uint64_t count = sum_of_all(exchange, own.size());
  if (count == 0) return std::nullopt;
  std::uint64_t left = count / 2;  // numbers below the one that is looked for
  // The bits of positive numbers are in the order of the numbers. They are found eight at a time, highest first.
  std::uint64_t found = 0;
  for (int shift = 56; shift >= 0; shift -= 8) {
    const std::uint64_t known = shift == 56 ? 0 : ~std::uint64_t{0} << (shift + 8);
    std::array<std::uint64_t, 256> counts{};
    for (const double value : own)
      if (const auto bits = std::bit_cast<std::uint64_t>(value); (bits & known) == found)
        ++counts[bits >> shift & 255U];
    exchange.sum(counts);
    std::uint64_t next = 0;
    while (left >= counts[next]) left -= counts[next++];
    found |= next << shift;
  }
  return std::bit_cast<double>(found);
}

}  // namespace isochron
