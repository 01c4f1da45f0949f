// Counts the memory that is allocated, where the address sanitizer tells.
#pragma once

#include <cstddef>

namespace isochron::fuzz {

/// From its making on. One lives at a time.
class MemoryCount {
 public:
  MemoryCount();
  ~MemoryCount();
  MemoryCount(const MemoryCount&) = delete;
  MemoryCount& operator=(const MemoryCount&) = delete;

  /// The most that was held at once, beyond what was held before; 0 where nobody counts.
  [[nodiscard]] std::size_t peak() const;
};

}  // namespace isochron::fuzz
