// Partitions of meshes by their vertices, and of images by boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/mesh.h"

namespace isochron {

// ---- Cutting a mesh's vertices into parts of about equal size with short borders.

enum class Partitioner {
  automatic,  ///< METIS where the build has it and can do it, otherwise the curve
  metis,
  curve  ///< equal pieces of a Hilbert curve through the vertices
};

/// True in a build with METIS.
bool has_metis();

/// The part of every vertex, from 0 to `parts` − 1; `parts` must be positive. No part is empty unless there are more
/// parts than vertices. METIS is made for parts of some size: parts of fewer than 16 vertices, and vertices without any
/// element, are cut by the curve whatever is asked for. Throws UsageError for `metis` in a build without it,
/// RuntimeError when METIS fails.
template <int Corners>
std::vector<std::uint32_t> partition_vertices(const SimplexMesh<Corners>& mesh, std::uint32_t parts,
                                              Partitioner partitioner, int threads = 1);

// ---- Boxes of indices in a lattice of up to three dimensions.

using LatticeIndex = std::array<std::uint64_t, 3>;

/// The indices from `low` up to but not including `high`.
struct IndexBox {
  LatticeIndex low{};
  LatticeIndex high{};

  [[nodiscard]] bool empty() const { return count() == 0; }
  [[nodiscard]] std::uint64_t length(int axis) const { return high[axis] - low[axis]; }
  [[nodiscard]] std::uint64_t count() const { return length(0) * length(1) * length(2); }
  [[nodiscard]] bool contains(const LatticeIndex& at) const {
    for (int d = 0; d < 3; ++d)
      if (at[d] < low[d] || at[d] >= high[d]) return false;
    return true;
  }
  /// With `by` more indices on every side, but not past the sides of `whole`.
  [[nodiscard]] IndexBox grown(std::uint64_t by, const IndexBox& whole) const {
    IndexBox result;
    for (int d = 0; d < 3; ++d) {
      result.low[d] = low[d] - std::min(by, low[d] - whole.low[d]);
      result.high[d] = high[d] + std::min(by, whole.high[d] - high[d]);
    }
    return result;
  }
  /// Where an index inside comes among all of them, the first running fastest.
  [[nodiscard]] std::uint64_t offset(const LatticeIndex& at) const {
    return at[0] - low[0] + length(0) * (at[1] - low[1] + length(1) * (at[2] - low[2]));
  }
  friend bool operator==(const IndexBox&, const IndexBox&) = default;
};

/// The indices in both.
inline IndexBox common(const IndexBox& a, const IndexBox& b) {
  IndexBox result;
  for (int d = 0; d < 3; ++d) {
    result.low[d] = std::max(a.low[d], b.low[d]);
    result.high[d] = std::max(result.low[d], std::min(a.high[d], b.high[d]));
  }
  return result;
}

/// Calls `body(first, length)` for the rows of a box along the first axis.
template <class Body>
void for_each_row(const IndexBox& box, Body&& body) {
  if (box.empty()) return;
  for (std::uint64_t k = box.low[2]; k < box.high[2]; ++k)
    for (std::uint64_t j = box.low[1]; j < box.high[1]; ++j) body(LatticeIndex{box.low[0], j, k}, box.length(0));
}

/// Calls `body` with every index of a box, the first running fastest.
template <class Body>
void for_each_index(const IndexBox& box, Body&& body) {
  for (std::uint64_t k = box.low[2]; k < box.high[2]; ++k)
    for (std::uint64_t j = box.low[1]; j < box.high[1]; ++j)
      for (std::uint64_t i = box.low[0]; i < box.high[0]; ++i) body(LatticeIndex{i, j, k});
}

// ---- A partition of the points of lattices by blocks, which needs no more than their sizes.

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
