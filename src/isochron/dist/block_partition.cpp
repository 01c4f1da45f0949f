#include "isochron/partition.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {

void check_choice(const PartChoice& choice) {
  if (choice.parts == 0 || choice.blocks_per_part == 0)
    throw UsageError(fmt::format("{} parts of {} blocks are no parts (there must be some of both); give at least 1",
                                 choice.parts, choice.blocks_per_part));
  if (choice.part >= choice.parts)
    throw UsageError(fmt::format("there is no part {} (parts: {}, counted from 0); choose one of 0 to {}", choice.part,
                                 choice.parts, choice.parts - 1));
}

// Only a whole number strictly between the ends is a border of blocks.
bool BlockPartition::Range::whole() const { return std::floor(begin) + 1 >= end; }

std::array<BlockPartition::Range, 2> BlockPartition::Range::halves() const {
  const double at = std::clamp(std::round((begin + end) / 2), std::floor(begin) + 1, std::ceil(end) - 1);
  int axis = 0;
  for (int d = 1; d < 3; ++d)
    if (box.length(d) > box.length(axis)) axis = d;
  const double share = (at - begin) / (end - begin);
  Range first{box, begin, at}, second{box, at, end};
  first.box.high[axis] = second.box.low[axis] =
      box.low[axis] + static_cast<std::uint64_t>(std::llround(share * static_cast<double>(box.length(axis))));
  return {first, second};
}

BlockPartition::BlockPartition(const std::vector<LatticeIndex>& shapes, std::uint32_t parts,
                               std::uint32_t blocks_per_part)
    : parts_(parts) {
  double all = 0;
  for (const LatticeIndex& shape : shapes) all += static_cast<double>(IndexBox{{}, shape}.count());
  const double blocks = static_cast<double>(parts) * blocks_per_part;
  double before = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const IndexBox box{{}, shapes[i]};
    const double begin = lattices_.empty() ? 0 : lattices_.back().end;
    before += static_cast<double>(box.count());
    lattices_.push_back({box, begin, i + 1 == shapes.size() ? blocks : blocks * before / all});
  }
}

std::uint32_t BlockPartition::part_at(const Range& range) const {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(range.begin) % parts_);
}

std::uint32_t BlockPartition::part_of(std::size_t lattice, const LatticeIndex& at) const {
  Range range = lattices_[lattice];
  while (!range.whole()) {
    const auto [first, second] = range.halves();
    range = first.box.contains(at) ? first : second;
  }
  return part_at(range);
}

void BlockPartition::collect(std::size_t lattice, const Range& range, std::uint32_t part,
                             std::vector<Box>& boxes) const {
  if (range.box.empty()) return;
  if (range.whole()) {
    if (part_at(range) == part) boxes.push_back({lattice, range.box});
    return;
  }
  // The first block from the beginning of the stretch on that belongs to the part: beyond its end, nothing is here.
  const auto first = static_cast<std::uint64_t>(range.begin);
  const std::uint64_t wanted = first + (part + parts_ - first % parts_) % parts_;
  if (static_cast<double>(wanted) >= range.end) return;
  for (const Range& half : range.halves()) collect(lattice, half, part, boxes);
}

std::vector<BlockPartition::Box> BlockPartition::boxes_of(std::uint32_t part) const {
  std::vector<Box> boxes;
  for (std::size_t i = 0; i < lattices_.size(); ++i) collect(i, lattices_[i], part, boxes);
  return boxes;
}

}  // namespace isochron
