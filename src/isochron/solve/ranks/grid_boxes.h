// Solves on an image that no rank has as a whole: every rank knows what is on its own box of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/options.h"
#include "isochron/partition.h"
#include "isochron/solve/ranks/grid_part.h"
#include "isochron/sources.h"

namespace isochron::ranks {

/// What a rank knows of an image: the metric on the voxels of its box, and where the front may pass. Boxes are those of
/// `partition_boxes`.
class GridBoxes {
 public:
  /// All ranks together; keeps references to the communicator and the metric, which has one value for each voxel of
  /// this rank's box. `mask` is empty (all voxels) or has one value for each. Throws InputError on all ranks when the
  /// metric cannot be used, the mask is 0 everywhere or the image is too large.
  GridBoxes(Communicator& communicator, const ImageGrid& image, std::vector<IndexBox> boxes, const Metric& metric,
            std::vector<std::uint8_t> mask);

  [[nodiscard]] const IndexBox& box() const { return boxes_[static_cast<std::size_t>(communicator_.rank())]; }
  /// By voxel of the box: 0 where nothing may pass.
  [[nodiscard]] const std::vector<std::uint8_t>& allowed() const { return allowed_; }
  /// Voxels of all boxes that may be entered.
  [[nodiscard]] std::uint64_t allowed_count() const { return extent_.count; }

  /// All ranks together, with the same sources on each: the seeds that `Solver` would start with on the whole
  /// image, on all ranks. Throws InputError on all ranks, as `place_grid_sources` does.
  [[nodiscard]] std::vector<Seed> seeds(const Sources& sources, const SolveOptions& options) const;

  /// All ranks together: partitions by blocks for a solve from these seeds, and gives this rank its part. `order` is
  /// that of the scheme; `blocks` as for `partition_blocks`.
  [[nodiscard]] GridPart partition(std::span<const Seed> seeds, int order, int blocks) const;

  /// All ranks together: brings what ranks found on their blocks to the boxes. `values` has one for each of the part's
  /// own voxels, in their order; voxels that are nobody's get `elsewhere`.
  template <class T>
  [[nodiscard]] std::vector<T> gather_to_boxes(const GridPart& part, std::span<const T> values, T elsewhere) const;

 private:
  /// A box that a rank wants to know about, and the part of it whose metric it wants.
  struct BoxRequest {
    IndexBox box, inner;
  };
  struct Answer {
    std::vector<std::vector<std::uint8_t>> allowed;  ///< by box
    Metric metric;                                   ///< of the allowed voxels of all inner boxes, one after the other
  };
  /// All ranks together: what the ranks know of boxes inside the image, by the requests of all ranks.
  [[nodiscard]] Answer ask(const std::vector<std::vector<BoxRequest>>& of_ranks) const;
  /// By rank: its blocks, with and without the voxels around them.
  [[nodiscard]] std::vector<std::vector<BoxRequest>> requests_of(const GridPartition& partition) const;
  [[nodiscard]] IndexBox window(const Vec3d& index, int reach) const;
  [[nodiscard]] std::size_t owner_of(const LatticeIndex& voxel) const;

  Communicator& communicator_;
  ImageGrid image_;
  std::vector<IndexBox> boxes_;
  const Metric& metric_;
  std::vector<std::uint8_t> allowed_;
  ImageGrid grid_;   ///< of this rank's box
  GridCells cells_;  ///< in it; no list when nothing may be entered
  CellExtent extent_;
};

}  // namespace isochron::ranks
