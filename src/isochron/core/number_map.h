// A map from numbers to numbers that only grows, for searches that look at a small part of a large mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace isochron {

/// Numbers the keys that it is shown, from 0 on.
class NumberMap {
 public:
  struct Found {
    std::uint32_t number;
    bool fresh;  ///< the key is here for the first time
  };

  /// The number of a key; a fresh key gets the next one. No key is 2³² − 1.
  Found number_of(std::uint32_t key) {
    if (std::size_t{2} * count_ >= slots_.size()) grow();
    Slot& slot = slots_[slot_of(key)];
    const bool fresh = slot.key == none;
    if (fresh) slot = {key, count_++};
    return {slot.number, fresh};
  }

  /// The number of a key that was shown before.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t key) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[slot_of(key)];
    if (slot.key == none) return std::nullopt;
    return slot.number;
  }

  [[nodiscard]] std::uint32_t size() const { return count_; }

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  struct Slot {
    std::uint32_t key = none, number = 0;
  };

  /// That of the key, or the free one where it belongs. At most half of the slots are taken.
  [[nodiscard]] std::size_t slot_of(std::uint32_t key) const {
    const std::size_t last = slots_.size() - 1;
    std::size_t at = (key * std::uint64_t{0x9e3779b97f4a7c15U}) >> 32 & last;  // 2⁶⁴ over the golden ratio
    while (slots_[at].key != key && slots_[at].key != none) at = (at + 1) & last;
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.empty() ? 256 : 2 * slots_.size());
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.key != none) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;  ///< a power of two
  std::uint32_t count_ = 0;
};

}  // namespace isochron
