// A partition of the points of lattices by blocks, which needs no more than their sizes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/dist/index_box.h"

namespace isochron {

/// One part of several, and how many blocks each part is made of: more blocks keep more parts busy while a front moves,
/// and have longer borders.
struct PartChoice {
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  std::uint32_t blocks_per_part = 1;
};

/// Throws UsageError unless there are parts and blocks and the part is one of them.
void check_choice(const PartChoice& choice);

/// Blocks of equal size, as near to cubes as halving the longest side makes them, over one or several lattices laid
/// end to end. A block lies in one lattice, or at most one in two that follow one another. Parts get
/// blocks in turn, so that those next to each other belong to different parts.
class BlockPartition {
 public:
  struct Box {
    std::size_t lattice;
    IndexBox box;
  };
  /// `shapes` gives the indices along each axis of every lattice.
  BlockPartition(const std::vector<LatticeIndex>& shapes, std::uint32_t parts, std::uint32_t blocks_per_part);

  [[nodiscard]] std::uint32_t part_of(std::size_t lattice, const LatticeIndex& at) const;
  /// Everything that belongs to a part; none of it empty.
  [[nodiscard]] std::vector<Box> boxes_of(std::uint32_t part) const;

 private:
  /// A box and the stretch of blocks that it is cut into. Ends that are not whole share a block with a neighbour.
  struct Range {
    IndexBox box;
    double begin, end;
    [[nodiscard]] bool whole() const;  ///< not to be cut any more
    [[nodiscard]] std::array<Range, 2> halves() const;
  };
  void collect(std::size_t lattice, const Range& range, std::uint32_t part, std::vector<Box>& boxes) const;
  [[nodiscard]] std::uint32_t part_at(const Range& range) const;

  std::uint32_t parts_;
  std::vector<Range> lattices_;
};

}  // namespace isochron
