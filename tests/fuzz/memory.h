// Counts the memory that is allocated, where the address sanitizer tells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/dataset.h"
#include "isochron/error.h"
#include "isochron/image.h"

namespace isochron::fuzz {

/// From its making on. One may live within another.
class MemoryCount {
 public:
  MemoryCount();
  ~MemoryCount();
  MemoryCount(const MemoryCount&) = delete;
  MemoryCount& operator=(const MemoryCount&) = delete;

  /// The most that was held at once, beyond what was held before; 0 where nobody counts.
  [[nodiscard]] std::size_t peak() const;

 private:
  bool counted_before_;
  std::int64_t held_before_, most_before_;
};

/// What a data set or an image has in memory.
std::size_t bytes_in(const Dataset& dataset);
std::size_t bytes_in(const Image& image);

/// Throws Finding when a reader takes more than four times the data and a constant.
class ReaderMemory {
 public:
  /// `bytes` of files are read.
  explicit ReaderMemory(std::size_t bytes);
  /// The data is what was read, unpacked, or what was made of it (`made` bytes), whichever is more.
  void check(std::size_t made) const;

 private:
  std::size_t bytes_;
  std::uint64_t left_to_unpack_;
  MemoryCount memory_;
};

template <class Read>
auto read_with_little_memory(std::size_t bytes, const Read& read) {
  const ReaderMemory memory(bytes);
  try {
    auto result = read();
    memory.check(bytes_in(result));
    return result;
  } catch (const Error&) {
    memory.check(0);
    throw;
  }
}

}  // namespace isochron::fuzz
