// Work stealing from a list that does not change meanwhile: its own thread takes chunks from the front, others from the
// back.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace isochron {

enum class ListEnd : std::uint8_t { front, back };

/// Which entries of a list are taken. Any thread may take some at any time; each entry is given out once.
class ChunkCursor {
 public:
  struct Chunk {
    std::size_t begin, end;
    [[nodiscard]] bool empty() const { return begin == end; }
    [[nodiscard]] std::size_t size() const { return end - begin; }
  };
  static constexpr std::size_t min_chunk = 8, max_chunk = 64;

  /// Takes entries of a list of `size`; an empty chunk when none is left. The list may have grown since the last call
  /// as long as nothing was taken from its back. Chunks get smaller towards the end, so that all threads end together.
  Chunk take(std::size_t size, ListEnd side) {
    const bool from_back = side == ListEnd::back;
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    while (true) {
      const std::size_t begin = taken & 0xffffffffU, end = size - (taken >> 32U);
      if (begin >= end) return {0, 0};
      const std::size_t left = end - begin;
      const std::size_t count = std::min(left, std::clamp(left / (from_back ? 4 : 8), min_chunk, max_chunk));
      if (taken_.compare_exchange_weak(taken, taken + (from_back ? std::uint64_t{count} << 32U : count),
                                       std::memory_order_relaxed))
        return from_back ? Chunk{end - count, end} : Chunk{begin, begin + count};
    }
  }

  /// Whether some of a list of `size` are left.
  [[nodiscard]] bool has_left(std::size_t size) const {
    const std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    return (taken & 0xffffffffU) + (taken >> 32U) < size;
  }
  /// While no thread takes any.
  void reset() { taken_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> taken_{0};  ///< from the front (the low half) and from the back (the high half)
};

}  // namespace isochron
