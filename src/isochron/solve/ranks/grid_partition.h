// An image cut into blocks, assigned out to ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isochron/image.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/types.h"

namespace isochron::ranks {

/// A box of voxels cut into blocks of one shape; those at its upper sides may be smaller. Blocks are numbered with the
/// first axis fastest.
struct BlockLattice {
  Vec3i lower;           ///< image index of the box's first voxel
  Vec3i extent;          ///< of the box
  Vec3i shape{1, 1, 1};  ///< of a block

  [[nodiscard]] Vec3i counts() const {
    return {(extent.x + shape.x - 1) / shape.x, (extent.y + shape.y - 1) / shape.y, (extent.z + shape.z - 1) / shape.z};
  }
  [[nodiscard]] std::size_t count() const {
    const Vec3i n = counts();
    return static_cast<std::size_t>(n.x) * static_cast<std::size_t>(n.y) * static_cast<std::size_t>(n.z);
  }
  /// Of an image index inside the box.
  [[nodiscard]] std::uint32_t block_of(const Vec3i& index) const {
    const Vec3i n = counts(), at = index - lower;
    return static_cast<std::uint32_t>(at.x / shape.x + n.x * (at.y / shape.y + n.y * (at.z / shape.z)));
  }
  /// Image index of a block's first voxel.
  [[nodiscard]] Vec3i low(std::uint32_t block) const {
    const Vec3i n = counts();
    const int b = static_cast<int>(block);
    return lower + Vec3i{b % n.x * shape.x, b / n.x % n.y * shape.y, b / n.x / n.y * shape.z};
  }
  [[nodiscard]] bool holds(const Vec3i& index) const {
    const Vec3i at = index - lower;
    return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < extent.x && at.y < extent.y && at.z < extent.z;
  }
};

/// Some blocks of a lattice, each with the voxels around it as far as `pad` says, one after the other along the last
/// axis: an image of its own.
class PaddedBlocks {
 public:
  PaddedBlocks(const BlockLattice& lattice, const Vec3i& pad, std::vector<std::uint32_t> blocks, bool flat)
      : lattice_(lattice),
        pad_(pad),
        padded_(lattice.shape + 2 * pad),
        axis_(flat ? 1 : 2),
        blocks_(std::move(blocks)) {}

  [[nodiscard]] const std::vector<std::uint32_t>& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t voxel_count() const {
    return blocks_.size() * static_cast<std::size_t>(padded_.x) * static_cast<std::size_t>(padded_.y) *
           static_cast<std::size_t>(padded_.z);
  }
  /// The padded blocks as an image with the axes of another.
  [[nodiscard]] ImageGrid grid(const ImageGrid& image) const;
  /// Image index of an index in that image; outside the image, too.
  [[nodiscard]] Vec3i image_index(Vec3i padded_index) const {
    const int place = padded_index[axis_] / padded_[axis_];
    padded_index[axis_] -= place * padded_[axis_];
    return lattice_.low(blocks_[static_cast<std::size_t>(place)]) + padded_index - pad_;
  }
  /// Where the block of an image index has it.
  [[nodiscard]] Vec3i padded_index(std::size_t place, const Vec3i& index) const {
    Vec3i at = index - lattice_.low(blocks_[place]) + pad_;
    at[axis_] += static_cast<int>(place) * padded_[axis_];
    return at;
  }
  /// Calls `visit(image index, inside)` for its voxels in their order: inside a block, or in the padding.
  template <class Visit>
  void for_voxels(Visit&& visit) const {
    for (const std::uint32_t block : blocks_) {
      const Vec3i low = lattice_.low(block) - pad_;
      for (int k = 0; k < padded_.z; ++k)
        for (int j = 0; j < padded_.y; ++j)
          for (int i = 0; i < padded_.x; ++i) {
            const Vec3i from = Vec3i{i, j, k} - pad_;
            const Vec3i& shape = lattice_.shape;
            visit(low + Vec3i{i, j, k}, from.x >= 0 && from.y >= 0 && from.z >= 0 && from.x < shape.x &&
                                            from.y < shape.y && from.z < shape.z);
          }
    }
  }

 private:
  BlockLattice lattice_;
  Vec3i pad_, padded_;
  int axis_;
  std::vector<std::uint32_t> blocks_;  ///< ascending
};

/// Which rank has which block of an image.
struct GridPartition {
  static constexpr std::uint32_t nobody = 0xffffffffU;

  BlockLattice lattice;
  Vec3i pad;                           ///< how far the updates of a block's cells read
  std::vector<std::uint32_t> rank_of;  ///< by block; nobody where nothing may pass
  int reach = 1;                       ///< how far updates read at most, in voxels
  int min_side = 1;                    ///< of a block that is worth its padding

  /// False when updates read too far for blocks: then one rank has it all.
  [[nodiscard]] bool shared() const;
  /// For `Arrival::notes`: that some of so many ranks have nothing to do, and why. Else empty.
  [[nodiscard]] std::string note(int ranks) const;
};

/// The cells of an image, as far as cutting it needs them.
struct CellExtent {
  Vec3i lower, shape;  ///< of the smallest box around them
  std::size_t count = 0;
  bool flat = false;
};
/// Blocks for so many ranks, not assigned out yet. `reach` is how far updates read. `blocks` are wanted for each rank;
/// 0: tuned (bench/NOTES.md).
GridPartition cut_blocks(const CellExtent& cells, const Vec3i& reach, int ranks, int blocks);

/// What the assignment needs to know of a block; parts of an image add theirs up.
struct BlockSum {
  std::uint64_t voxels = 0;  ///< where the front may pass
  std::uint64_t samples = 0;
  SymTensor3d metric{};  ///< sum of the samples

  void operator+=(const BlockSum& part) {
    voxels += part.voxels;
    samples += part.samples;
    metric = metric + part.metric;
  }
};
/// By block, from cells whose indices are `low` less than those of the image.
std::vector<BlockSum> block_sums(const BlockLattice& lattice, const VoxelMetric& metric, const GridCells& cells,
                                 const Vec3i& low = {});

/// Assigns the blocks for a solve from these seeds. Each block goes to the rank that has the fewest voxels so far, in
/// the order in which the front reaches the blocks (guessed by solving on an image of one voxel a block): so every rank
/// has a part of the front at any time. Solves from other seeds are right too.
void assign_blocks(GridPartition& partition, const ImageGrid& image, std::span<const BlockSum> sums,
                   std::span<const Seed> seeds, int ranks);

/// All of that for an image that is here as a whole.
GridPartition partition_blocks(const VoxelMetric& metric, const GridCells& cells, const Vec3i& reach,
                               std::span<const Seed> seeds, int ranks, int blocks);

/// The metric of a small image on which times are guessed, in single precision and with times in units of `unit`: in
/// range where that is about the time for a unit of length, and positive definite when rounded too.
SymTensor3f rough_tensor(const SymTensor3d& metric, double unit);

}  // namespace isochron::ranks
