#include "isochron/core/cores.h"

#include <bit>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#if defined(__linux__)
#include <sched.h>
#endif

namespace isochron {

int CoreSet::count() const {
  int sum = 0;
  for (const std::uint64_t word : bits) sum += std::popcount(word);
  return sum;
}

void CoreSet::join(const CoreSet& other) {
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= other.bits[i];
}

bool CoreSet::within(const CoreSet& other) const {
  for (std::size_t i = 0; i < bits.size(); ++i)
    if ((bits[i] & ~other.bits[i]) != 0) return false;
  return true;
}

#if defined(__linux__)
namespace {

/// A file of the kernel such as `0-7,16-23`.
CoreSet listed_cores(const std::filesystem::path& path) {
  CoreSet cores;
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  const char *at = text.data(), *end = text.data() + text.size();
  while (at < end) {
    std::size_t first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    if (error != std::errc()) break;
    std::size_t last = first;
    if (next < end && *next == '-') next = std::from_chars(next + 1, end, last).ptr;
    for (std::size_t core = first; core <= last && core < CoreSet::most; ++core) cores.add(core);
    at = next + 1;
  }
  return cores;
}

}  // namespace

CoreSet allowed_cores() {
  CoreSet cores;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (std::size_t core = 0; core < CoreSet::most && core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.add(core);
  return cores;
}

bool move_to_cores(const CoreSet& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (std::size_t core = 0; core < CoreSet::most && core < CPU_SETSIZE; ++core)
    if (cores.has(core)) CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) return false;
  // Threads that are there already have their own; one that ends meanwhile does not matter.
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::string name = task.path().filename().string();
    int id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    if (id > 0) (void)sched_setaffinity(id, sizeof(set), &set);
  }
  return true;
}

int memory_of(const CoreSet& cores) {
  constexpr int max_nodes = 256;
  for (int node = 0; node < max_nodes; ++node) {
    const std::filesystem::path path = "/sys/devices/system/node/node" + std::to_string(node) + "/cpulist";
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    if (cores.within(listed_cores(path))) return node;
  }
  return -1;
}
#else
CoreSet allowed_cores() { return {}; }
bool move_to_cores(const CoreSet&) { return false; }
int memory_of(const CoreSet&) { return -1; }
#endif

}  // namespace isochron
