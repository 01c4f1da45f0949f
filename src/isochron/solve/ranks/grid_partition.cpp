#include "isochron/solve/ranks/grid_partition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

#include <fmt/format.h>

#include "isochron/solver.h"

namespace isochron::ranks {
namespace {

/// Enough blocks to keep ranks busy, of sides long enough to keep borders short (bench/NOTES.md).
constexpr int tuned_blocks = 64;
constexpr int min_side = 12, min_flat_side = 24;
/// Updates that read further than this are not worth blocks.
constexpr int max_pad = 32;

std::string voxels(int count) { return fmt::format("{} voxel{}", count, count == 1 ? "" : "s"); }

/// Blocks as near to cubes as the box allows.
Vec3i block_shape(const Vec3i& extent, double voxels, int least, bool flat) {
  std::vector<int> axes{0, 1};
  if (!flat) axes.push_back(2);
  std::sort(axes.begin(), axes.end(), [&](int a, int b) { return extent[a] < extent[b]; });
  Vec3i shape{1, 1, 1};
  double left = voxels;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const double side = std::pow(left, 1.0 / static_cast<double>(axes.size() - i));
    shape[axes[i]] = std::min(extent[axes[i]], std::max(least, static_cast<int>(std::lround(side))));
    left = std::max(1.0, left / shape[axes[i]]);
  }
  return shape;
}

/// The mean metric of each block, that of all where a block has none; with times in units of `unit`.
struct RoughImage {
  Metric metric;
  double unit;
};
RoughImage rough_image(std::span<const BlockSum> sums) {
  const auto mean = [](const BlockSum& sum) { return (1 / static_cast<double>(sum.samples)) * sum.metric; };
  BlockSum all;
  for (const BlockSum& sum : sums) all += sum;
  const SymTensor3d m = mean(all);
  const double unit = std::sqrt((m.xx + m.yy + m.zz) / 3);
  TensorMetric tensors;
  for (const BlockSum& sum : sums) tensors.tensor.push_back(rough_tensor(sum.samples > 0 ? mean(sum) : m, unit));
  return {Metric(std::move(tensors)), unit};
}

/// About when the front reaches each block, in some unit; infinite where it does not.
std::vector<double> block_times(const BlockLattice& lattice, const ImageGrid& whole, std::span<const BlockSum> sums,
                                std::span<const Seed> seeds) {
  ImageGrid image;
  const Vec3i counts = lattice.counts();
  std::vector<std::uint8_t> mask(sums.size());
  for (std::size_t b = 0; b < sums.size(); ++b) mask[b] = sums[b].voxels > 0 ? 1 : 0;
  for (int axis = 0; axis < 3; ++axis) {
    image.shape[static_cast<std::size_t>(axis)] = static_cast<std::uint32_t>(counts[axis]);
    image.axes[static_cast<std::size_t>(axis)] =
        static_cast<double>(lattice.shape[axis]) * whole.axes[static_cast<std::size_t>(axis)];
  }
  const RoughImage rough = rough_image(sums);
  Sources sources;
  for (const Seed& seed : seeds) {
    const auto [i, j, k] = whole.index(VertexId(seed.vertex.index()));
    const Vec3i index{static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
    sources.vertices.push_back({VertexId(lattice.block_of(index)), seed.time / rough.unit});
  }
  SolveOptions options;
  options.backend = Backend::serial;
  options.source_init = SourceInit::plain;
  options.sources = Keep::no;
  return solve(image, rough.metric, sources, options, mask).times;
}

}  // namespace

SymTensor3f rough_tensor(const SymTensor3d& metric, double unit) {
  const SymTensor3d m = (1 / unit / unit) * metric;
  const double slack = 1e-6 * (m.xx + m.yy + m.zz);
  return {static_cast<float>(m.xx + slack), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy + slack), static_cast<float>(m.yz), static_cast<float>(m.zz + slack)};
}

ImageGrid PaddedBlocks::grid(const ImageGrid& image) const {
  ImageGrid padded = image;
  Vec3i shape = padded_;
  shape[axis_] *= static_cast<int>(blocks_.size());
  for (int axis = 0; axis < 3; ++axis)
    padded.shape[static_cast<std::size_t>(axis)] = static_cast<std::uint32_t>(shape[axis]);
  return padded;
}

bool GridPartition::shared() const { return reach <= max_pad; }

std::string GridPartition::note(int ranks) const {
  std::vector<bool> busy(static_cast<std::size_t>(ranks), false);
  for (const std::uint32_t rank : rank_of)
    if (rank != nobody) busy[rank] = true;
  const auto used = std::count(busy.begin(), busy.end(), true);
  if (used == ranks) return {};
  const std::string who = used == 1 ? "one rank solves it all" : fmt::format("{} of {} ranks solve it", used, ranks);
  if (!shared())
    return fmt::format("{}: the metric is so anisotropic that updates read too far for blocks ({} voxels; up to {})",
                       who, reach, max_pad);
  return fmt::format("{}: the image is too small for more blocks (at least {} wide; updates read {} away)", who,
                     voxels(min_side), voxels(reach));
}

GridPartition cut_blocks(const CellExtent& cells, const Vec3i& reach, int ranks, int blocks) {
  const int longest = std::max({reach.x, reach.y, reach.z});
  GridPartition partition;
  partition.lattice = {cells.lower, cells.shape, cells.shape};
  partition.reach = longest;
  partition.min_side = std::max(blocks > 0 ? 1 : cells.flat ? min_flat_side : min_side, 2 * longest);
  if ((ranks > 1 || blocks > 0) && partition.shared()) {
    const double wanted = static_cast<double>(ranks) * (blocks > 0 ? blocks : tuned_blocks);
    partition.lattice.shape =
        block_shape(cells.shape, static_cast<double>(cells.count) / wanted, partition.min_side, cells.flat);
  }
  partition.pad = partition.lattice.count() > 1 ? reach : Vec3i{1, 1, cells.flat ? 0 : 1};
  return partition;
}

std::vector<BlockSum> block_sums(const BlockLattice& lattice, const VoxelMetric& metric, const GridCells& cells,
                                 const Vec3i& low) {
  constexpr std::size_t wanted = 64;  // samples of a block, on average
  std::vector<BlockSum> sums(lattice.count());
  const std::size_t step = 1 + cells.list.size() / (wanted * sums.size());
  for (std::size_t k = 0; k < cells.list.size(); ++k) {
    const Vec3i index = cells.box.index(cells.list[k]);
    BlockSum& sum = sums[lattice.block_of(index + low)];
    ++sum.voxels;
    if (k % step != 0) continue;
    sum.metric = sum.metric + metric.metric.tensor(ElementId(cells.box.voxel(index).index()));
    ++sum.samples;
  }
  return sums;
}

void assign_blocks(GridPartition& partition, const ImageGrid& image, std::span<const BlockSum> sums,
                   std::span<const Seed> seeds, int ranks) {
  std::vector<std::uint32_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0U);
  if (order.size() > 1) {
    const std::vector<double> times = block_times(partition.lattice, image, sums, seeds);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return times[a] < times[b]; });
  }
  using Load = std::pair<std::uint64_t, std::uint32_t>;  // voxels so far, rank
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (int rank = 0; rank < ranks; ++rank) loads.push({0, static_cast<std::uint32_t>(rank)});
  partition.rank_of.assign(sums.size(), GridPartition::nobody);
  for (const std::uint32_t block : order) {
    if (sums[block].voxels == 0) continue;
    const auto [load, rank] = loads.top();
    loads.pop();
    partition.rank_of[block] = rank;
    loads.push({load + sums[block].voxels, rank});
  }
}

GridPartition partition_blocks(const VoxelMetric& metric, const GridCells& cells, const Vec3i& reach,
                               std::span<const Seed> seeds, int ranks, int blocks) {
  GridPartition partition =
      cut_blocks({cells.box.lower, cells.box.shape, cells.list.size(), metric.grid.flat()}, reach, ranks, blocks);
  assign_blocks(partition, metric.grid, block_sums(partition.lattice, metric, cells), seeds, ranks);
  return partition;
}

}  // namespace isochron::ranks
