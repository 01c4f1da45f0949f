// What each peer measures of itself, and the one line it prints. Needs nothing but the standard library.
#pragma once

#include <sys/resource.h>

#include <cstdio>
#include <ctime>
#include <string>

namespace peers {

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
  double setup_seconds, solve_seconds, error, megabytes;
};

/// Tab-separated, as run.sh reads it.
inline void print(const Row& row) {
  std::printf("%s\t%.3f\t%.3f\t%.4g\t%.0f\n", row.tool.c_str(), row.setup_seconds, row.solve_seconds, row.error,
              row.megabytes);
}

}  // namespace peers
