// The cores that this process runs on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace isochron {

/// Cores of a machine by their numbers; as bytes, so that it can travel.
struct CoreSet {
  static constexpr std::size_t most = 1024;
  std::array<std::uint64_t, most / 64> bits{};

  void add(std::size_t core) { bits[core / 64] |= std::uint64_t{1} << (core % 64); }
  [[nodiscard]] bool has(std::size_t core) const { return (bits[core / 64] >> (core % 64) & 1U) != 0; }
  [[nodiscard]] int count() const;
  /// Takes in those of another set.
  void join(const CoreSet& other);
  [[nodiscard]] bool within(const CoreSet& other) const;
  friend bool operator==(const CoreSet&, const CoreSet&) = default;
};

/// Those the system lets this process use; none where it does not say.
CoreSet allowed_cores();

/// Lets all threads of this process run on these cores, and those they start. False when the system does not.
bool move_to_cores(const CoreSet& cores);

/// The memory (NUMA node) that all these cores are next to; −1 when they are next to several, or it is not known.
int memory_of(const CoreSet& cores);

}  // namespace isochron
