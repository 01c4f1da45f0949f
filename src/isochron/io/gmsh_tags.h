// Inside of the Gmsh reader: from the numbers that a file gives its nodes or elements to indices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace isochron::gmsh {

/// Looks up where a tag was in a list. A table where the tags are dense, as they nearly always are; else sorted pairs.
class TagMap {
 public:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  TagMap() = default;
  /// Later duplicates win; `duplicates` tells whether there were any.
  explicit TagMap(const std::vector<std::uint64_t>& tags) {
    if (tags.empty()) return;
    const auto [low, high] = std::minmax_element(tags.begin(), tags.end());
    first_ = *low;
    const std::uint64_t span = *high - *low;
    if (span / 4 <= tags.size() + 1024) {
      table_.assign(static_cast<std::size_t>(span) + 1, none);
      for (std::size_t i = 0; i < tags.size(); ++i) {
        std::uint32_t& entry = table_[static_cast<std::size_t>(tags[i] - first_)];
        duplicates_ = duplicates_ || entry != none;
        entry = static_cast<std::uint32_t>(i);
      }
      return;
    }
    sorted_.reserve(tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.emplace_back(tags[i], static_cast<std::uint32_t>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i) {
      duplicates_ = duplicates_ || sorted_[i].first == sorted_[i - 1].first;
    }
  }

  [[nodiscard]] bool duplicates() const { return duplicates_; }
  [[nodiscard]] std::optional<std::size_t> find(std::uint64_t tag) const {
    if (sorted_.empty()) {
      const std::uint64_t place = tag - first_;
      if (tag < first_ || place >= table_.size() || table_[place] == none) return std::nullopt;
      return table_[place];
    }
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, std::uint32_t{0}));
    if (it == sorted_.end() || it->first != tag) return std::nullopt;
    return it->second;
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<std::uint32_t> table_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_;
  bool duplicates_ = false;
};

}  // namespace isochron::gmsh
