// Wall-clock seconds, and the memory of this process and of the machine.
#pragma once

#include <chrono>
#include <cstddef>

namespace isochron {

class Timer {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Wall-clock seconds since the program was loaded.
double program_seconds();

/// CPU seconds used by the calling thread so far.
double thread_cpu_seconds();

/// Peak resident memory of the process in bytes (0 where the system does not say).
std::size_t peak_resident_bytes();

/// Memory that processes can still get without swapping, in bytes (0 where the system does not say).
std::size_t available_bytes();

}  // namespace isochron
