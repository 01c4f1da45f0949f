// The problem all peers solve, and the one line each prints about it. Needs nothing but the standard library.
#pragma once

#include <sys/resource.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>

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

/// CPU seconds of this process so far, all threads together.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;  // Linux counts in KiB
}

struct Row {
  std::string tool;
  double setup_seconds, solve_seconds, mean_error, megabytes;
};

/// Tab-separated, as run.sh reads it.
inline void print(const Row& row) {
  std::printf("%s\t%.3f\t%.3f\t%.4f\t%.0f\n", row.tool.c_str(), row.setup_seconds, row.solve_seconds, row.mean_error,
              row.megabytes);
}

}  // namespace peers
