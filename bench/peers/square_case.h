// The square that the peers for surfaces solve. Needs nothing but the standard library.
#pragma once

#include <cmath>
#include <cstddef>

namespace peers {

/// The regular square of 1024 x 1024 vertices with edges of length 1, cut along (1,1); the source is its middle vertex.
struct SquareCase {
  static constexpr std::size_t n = 1024;
  static constexpr std::size_t vertex_count = n * n;
  static constexpr std::size_t source = (n / 2) * n + n / 2;

  /// The exact distance of a vertex (x fastest) from the source.
  static double distance(std::size_t vertex) {
    const auto column = static_cast<double>(vertex % n), row = static_cast<double>(vertex / n);
    return std::hypot(column - static_cast<double>(n / 2), row - static_cast<double>(n / 2));
  }

  /// Mean of |found − exact| over all vertices, in edges.
  template <class Found>
  static double mean_error(Found&& found) {
    double sum = 0;
    for (std::size_t v = 0; v < vertex_count; ++v) sum += std::fabs(found(v) - distance(v));
    return sum / static_cast<double>(vertex_count);
  }
};

}  // namespace peers
