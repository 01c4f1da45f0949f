#include "bench/paper/memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace isochron::bench {
namespace {

/// The first number in a small file; nothing when it has none ("max").
std::optional<std::size_t> number_in(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::size_t available_by_system() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::size_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return 0;
}

}  // namespace

std::size_t available_host_bytes() {
  const std::size_t free = available_by_system();
  const auto most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (!most || !used) return free;
  return std::min(free, *most - std::min(*used, *most));
}

}  // namespace isochron::bench
