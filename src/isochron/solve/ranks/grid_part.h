// One rank's part of an image that is partitioned over several.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/communicator.h"
#include "isochron/image.h"
#include "isochron/metric.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/solve/ranks/grid_partition.h"

namespace isochron::ranks {

/// Some blocks of an image with all that their updates need. A rank may have none.
struct GridPart {
  ImageGrid image;          ///< the whole
  GridPartition partition;  ///< of the whole
  StencilPlan plan;         ///< of the whole
  bool masked = false;
  int order = 1;                      ///< 1 or 2; the padding of blocks is as wide as it needs
  std::vector<std::uint32_t> blocks;  ///< this rank's, ascending
  /// By voxel of the blocks' `PaddedBlocks`: 0 where nothing may pass, 1 in this rank's blocks, `GridCells::ghost` in
  /// the padding around them.
  std::vector<std::uint8_t> allowed;
  Metric metric;  ///< of the voxels that are 1, in their order

  [[nodiscard]] PaddedBlocks padded_blocks() const { return {partition.lattice, partition.pad, blocks, image.flat()}; }
  [[nodiscard]] std::uint64_t voxel(const Vec3i& index) const {
    return static_cast<std::uint64_t>(index.x) +
           std::uint64_t{image.shape[0]} * (static_cast<std::uint64_t>(index.y) +
                                            std::uint64_t{image.shape[1]} * static_cast<std::uint64_t>(index.z));
  }
  /// The voxels of the whole image that this rank computes.
  [[nodiscard]] std::vector<std::uint64_t> own_voxels() const;
};

/// An image that rank 0 has, and its partition.
struct WholeGrid {
  const ImageGrid& image;
  const Metric& metric;  ///< checked
  const GridCells& cells;
  StencilPlan plan;
  GridPartition partition;
  int order = 1;
};

/// What rank `rank` gets.
GridPart cut_grid_part(const WholeGrid& whole, int rank);

/// All ranks together: rank 0 cuts its image and sends each rank its part. Other ranks give null.
GridPart scatter_grid(Communicator& communicator, const WholeGrid* whole);

}  // namespace isochron::ranks
