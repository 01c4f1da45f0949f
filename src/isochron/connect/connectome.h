// All pairs of regions: what it costs to get from each to each; and regions for masks without a label map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/connect/region.h"
#include "isochron/mesh/image.h"
#include "isochron/solve/options.h"
#include "isochron/solve/solver.h"

namespace isochron {

/// Square matrices, row by row in the order of `labels`; symmetric, 0 on the diagonal, +inf for pairs that no path
/// joins.
struct Connectome {
  std::vector<std::int64_t> labels;
  std::vector<double> cost;        ///< least cost: the mean of the solves from either region
  std::vector<double> length;      ///< of the best path, in the world's unit
  std::vector<double> normalised;  ///< cost / length
  std::size_t unconnected = 0;     ///< pairs without a path
  std::size_t unfinished = 0;      ///< pairs whose path could not be traced to its end
  double asymmetry = 0;            ///< mean of |cost(i→j) − cost(j→i)| / cost over the joined pairs
  Arrival work;                    ///< of all solves together, without arrays
  std::size_t solves = 0;

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  [[nodiscard]] std::size_t pairs() const { return size() * (size() - 1) / 2; }
};

/// One solve a region, and one traced path a pair: from the best voxel of the later region back to the earlier one.
/// Voxels outside the mask are left out; a region without others is joined to nothing. Throws InputError when fewer
/// than two regions have voxels in the mask or two overlap, and Cancelled.
Connectome connect_all(const GridDomain& domain, std::span<const LabelledRegion> regions, const SolveOptions& options);

/// Labels 1 … count in the voxels of the mask and 0 outside. Seeds are placed one after the other where the mask is
/// farthest from those before (in a straight line); each voxel gets the label of the seed that reaches it first at unit
/// speed inside the mask. Parts of the mask without a seed stay 0. Throws UsageError when count is 0 and InputError
/// when the mask has fewer voxels than that.
std::vector<std::int32_t> make_parcels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::size_t count,
                                       const SolveOptions& options = {});

}  // namespace isochron
