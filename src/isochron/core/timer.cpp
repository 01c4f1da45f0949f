#include "isochron/core/timer.h"

#include <sys/resource.h>

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace isochron {
namespace {

const Timer since_start;  // set when the program is loaded

}  // namespace

double program_seconds() { return since_start.seconds(); }

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

namespace {

/// The number of bytes in a line "NAME: 123 kB"; 0 where there is none.
std::size_t bytes_in(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::size_t kib = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) std::istringstream(line.substr(name.size() + 1)) >> kib;
  return kib * 1024;
}

}  // namespace

std::size_t peak_resident_bytes() {
  // That of getrusage counts what the process was before exec: a large program that starts this one.
  if (const std::size_t bytes = bytes_in("/proc/self/status", "VmHWM"); bytes > 0) return bytes;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

std::size_t available_bytes() { return bytes_in("/proc/meminfo", "MemAvailable"); }

}  // namespace isochron
