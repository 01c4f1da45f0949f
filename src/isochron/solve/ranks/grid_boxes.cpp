#include "isochron/solve/ranks/grid_boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"
#include "isochron/error.h"
#include "isochron/parts.h"
#include "isochron/solve/grid/grid_seeds.h"
#include "isochron/solve/ranks/solve_messages.h"

namespace isochron::ranks {
namespace {

Vec3i signed_index(const LatticeIndex& at) {
  return {static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2])};
}

/// The voxels from `low` up to `high`, without those outside `bounds`.
IndexBox clipped(const Vec3i& low, const Vec3i& high, const IndexBox& bounds) {
  IndexBox box;
  for (int d = 0; d < 3; ++d) {
    box.low[d] = static_cast<std::uint64_t>(std::max(0, low[d]));
    box.high[d] = static_cast<std::uint64_t>(std::max(0, high[d]));
  }
  return common(box, bounds);
}

IndexBox box_of(const CellExtent& extent) {
  return clipped(extent.lower, extent.lower + extent.shape, {{}, {1U << 30U, 1U << 30U, 1U << 30U}});
}

/// All ranks together: the sums of what each of them has.
template <class Part>
Part added_up(Communicator& communicator, const Part& own) {
  Part all{};
  for (const Part& part : all_values(communicator, own)) all += part;
  return all;
}

/// All ranks together: the same for a list of them.
std::vector<BlockSum> added_up(Communicator& communicator, const std::vector<BlockSum>& own) {
  Bytes bytes;
  put_vector(bytes, own);
  std::vector<BlockSum> all(own.size());
  for (const Bytes& part : gather(communicator, std::move(bytes))) {
    const auto sums = Unpack(part).take_vector<BlockSum>();
    for (std::size_t b = 0; b < all.size(); ++b) all[b] += sums[b];
  }
  return all;
}

/// All ranks together: the smallest box around all of their cells.
CellExtent common_extent(Communicator& communicator, const GridCells& cells, const Vec3i& low, bool flat) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  std::array<double, 6> ends;
  ends.fill(none);
  for (int d = 0; d < 3 && !cells.list.empty(); ++d) {
    ends[d] = -(cells.box.lower[d] + low[d]);
    ends[d + 3] = cells.box.lower[d] + low[d] + cells.box.shape[d];
  }
  max_over_ranks(communicator, ends);
  CellExtent extent;
  extent.count = static_cast<std::size_t>(sum_of_all(communicator, cells.list.size()));
  extent.flat = flat;
  if (extent.count == 0) throw InputError("the mask is 0 everywhere (no voxel is left to solve on); give another mask");
  for (int d = 0; d < 3; ++d) {
    extent.lower[d] = static_cast<int>(-ends[d]);
    extent.shape[d] = static_cast<int>(ends[d + 3]) - extent.lower[d];
  }
  return extent;
}

}  // namespace

GridBoxes::GridBoxes(Communicator& communicator, const ImageGrid& image, std::vector<IndexBox> boxes,
                     const Metric& metric, std::vector<std::uint8_t> mask)
    : communicator_(communicator), image_(image), boxes_(std::move(boxes)), metric_(metric), allowed_(std::move(mask)) {
  all_or_none(communicator_, [&] {
    check_grid(image_, "the image");
    if (boxes_.size() != communicator_.ranks())
      throw UsageError(fmt::format("{} boxes for {} ranks; give one for each", boxes_.size(), communicator_.size()));
    if (!allowed_.empty() && allowed_.size() != box().count())
      throw InputError(
          fmt::format("{} mask values for a box of {} voxels; give one for each", allowed_.size(), box().count()));
    grid_ = grid_of_box(image_, box());
    const bool any = allowed_.empty() ? !box().empty()
                                      : std::any_of(allowed_.begin(), allowed_.end(), [](auto m) { return m != 0; });
    if (any) cells_ = make_cells(grid_, allowed_);
    try {
      if (any) check_grid_metric({grid_, metric_}, cells_);
    } catch (const InputError& error) {
      if (communicator_.size() == 1) throw;
      throw InputError(fmt::format("in the box of rank {} (from voxel {},{},{} on): {}", communicator_.rank(),
                                   box().low[0], box().low[1], box().low[2], error.what()));
    }
  });
  if (allowed_.empty()) allowed_.assign(box().count(), 1);
  extent_ = common_extent(communicator_, cells_, signed_index(box().low), image_.flat());
}

GridBoxes::Answer GridBoxes::ask(const std::vector<std::vector<BoxRequest>>& of_ranks) const {
  std::vector<Bytes> messages(of_ranks.size());
  for (std::size_t r = 0; r < of_ranks.size(); ++r) {
    Bytes& message = messages[r];
    std::vector<ElementId> elements;
    for (const BoxRequest& request : of_ranks[r]) {
      const IndexBox region = common(request.box, box());
      const std::size_t before = message.size();
      message.resize(before + region.count());
      copy_region(reinterpret_cast<const std::byte*>(allowed_.data()), box(), message.data() + before, region, region);
      for_each_index(common(request.inner, box()), [&](const LatticeIndex& at) {
        const std::uint64_t voxel = box().offset(at);
        if (allowed_[voxel] != 0) elements.emplace_back(static_cast<std::size_t>(voxel));
      });
    }
    if (!of_ranks[r].empty()) put_metric(message, metric_.of(elements));
  }
  std::vector<Bytes> received = all_to_all(communicator_, std::move(messages));

  const std::vector<BoxRequest>& own = of_ranks[static_cast<std::size_t>(communicator_.rank())];
  Answer answer;
  for (const BoxRequest& request : own) answer.allowed.emplace_back(request.box.count(), std::uint8_t{0});
  if (own.empty()) return answer;
  // Metrics come rank by rank; `place` is where each voxel's is among all of them.
  constexpr std::uint32_t no_place = 0xffffffffU;
  std::vector<std::vector<std::uint32_t>> place;
  for (const BoxRequest& request : own) place.emplace_back(request.inner.count(), no_place);
  std::vector<Metric> metrics;
  std::uint32_t next = 0;
  for (std::size_t r = 0; r < received.size(); ++r) {
    const auto* at = reinterpret_cast<const std::uint8_t*>(received[r].data());
    for (std::size_t w = 0; w < own.size(); ++w) {
      const IndexBox region = common(own[w].box, boxes_[r]);
      copy_region(at, region, answer.allowed[w].data(), own[w].box, region);
      at += region.count();
      for_each_index(common(own[w].inner, boxes_[r]), [&](const LatticeIndex& voxel) {
        if (answer.allowed[w][own[w].box.offset(voxel)] != 0) place[w][own[w].inner.offset(voxel)] = next++;
      });
    }
    Unpack unpack(std::span(received[r])
                      .subspan(static_cast<std::size_t>(reinterpret_cast<const std::byte*>(at) - received[r].data())));
    metrics.push_back(take_metric(unpack));
    received[r] = Bytes();
  }
  std::vector<ElementId> order;
  order.reserve(next);
  for (const std::vector<std::uint32_t>& places : place)
    for (const std::uint32_t one : places)
      if (one != no_place) order.emplace_back(std::size_t{one});
  answer.metric = joined(metrics).of(order);
  return answer;
}

IndexBox GridBoxes::window(const Vec3d& index, int reach) const {
  const Vec3i low{static_cast<int>(std::floor(index.x)), static_cast<int>(std::floor(index.y)),
                  static_cast<int>(std::floor(index.z))};
  const Vec3i wide = Vec3i{1, 1, 1} * reach;
  return clipped(low - wide, low + wide + Vec3i{2, 2, 2}, box_of(extent_));
}

std::size_t GridBoxes::owner_of(const LatticeIndex& voxel) const {
  const auto found = std::find_if(boxes_.begin(), boxes_.end(), [&](const IndexBox& b) { return b.contains(voxel); });
  return static_cast<std::size_t>(found - boxes_.begin());
}

std::vector<Seed> GridBoxes::seeds(const Sources& sources, const SolveOptions& options) const {
  const std::vector<PlacedSource> placed = place_in_grid(image_, sources);
  const std::vector<bool> alone = stand_alone(image_, placed);
  const int radius = limited_radius(options.ball_rings, placed.size(), image_);
  const auto init = [&](std::size_t s) { return alone[s] ? options.source_init : SourceInit::plain; };
  // The rank that has a source's voxel finds its seeds, from what the others know of the voxels around it.
  std::vector<std::vector<BoxRequest>> requests(boxes_.size());
  std::vector<std::size_t> own;
  for (std::size_t s = 0; s < placed.size(); ++s) {
    const auto [i, j, k] = image_.index(placed[s].vertex);
    const std::size_t owner = owner_of({i, j, k});
    const bool ball = init(s) != SourceInit::plain;
    const IndexBox box = ball || !placed[s].centred ? window(placed[s].position, ball ? radius + 1 : 2)
                                                    : common({{i, j, k}, {i + 1U, j + 1U, k + 1U}}, box_of(extent_));
    requests[owner].push_back({box, box});
    if (owner == static_cast<std::size_t>(communicator_.rank())) own.push_back(s);
  }
  const Answer answer = ask(requests);
  std::vector<Seed> found;
  all_or_none(communicator_, [&] {
    std::size_t first = 0;  // in the metric
    for (std::size_t w = 0; w < own.size(); ++w) {
      PlacedSource source = placed[own[w]];
      const IndexBox& window = requests[communicator_.index()][w].box;
      const auto [i, j, k] = image_.index(source.vertex);
      if (!window.contains({i, j, k}) || answer.allowed[w][window.offset({i, j, k})] == 0)
        refuse_masked(image_, sources, source);
      // The window as an image of its own. All of it is in the box of the cells, also what nothing may enter.
      const ImageGrid grid = grid_of_box(image_, window);
      GridCells cells = make_cells(grid, {});
      std::vector<ElementId> elements(window.count(), ElementId(first));
      for_each_index(window, [&](const LatticeIndex& at) {
        const std::uint64_t voxel = window.offset(at);
        if (answer.allowed[w][voxel] != 0) elements[voxel] = ElementId(first++);
        else cells.allowed[cells.box.cell(signed_index(at) - signed_index(window.low))] = 0;
      });
      const Metric metric = answer.metric.of(elements);
      for (int d = 0; d < 3; ++d) source.position[d] -= static_cast<double>(window.low[d]);
      source.vertex = VertexId(static_cast<std::size_t>(window.offset({i, j, k})));
      for (const Seed& seed : make_grid_seeds({grid, metric}, cells, {source}, init(own[w]), radius)) {
        const auto [x, y, z] = grid.index(seed.vertex.in_whole());
        const VertexId voxel =
            image_.voxel(static_cast<std::uint32_t>(x + window.low[0]), static_cast<std::uint32_t>(y + window.low[1]),
                         static_cast<std::uint32_t>(z + window.low[2]));
        found.push_back({voxel, seed.time, seed.source});
      }
    }
  });
  std::vector<Seed> all;
  for (const auto& part : exchange_values(communicator_, std::vector(communicator_.ranks(), found)))
    all.insert(all.end(), part.begin(), part.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.source < b.source; });
  return all;
}

std::vector<std::vector<GridBoxes::BoxRequest>> GridBoxes::requests_of(const GridPartition& partition) const {
  const IndexBox whole = whole_box(image_);
  std::vector<std::vector<BoxRequest>> requests(boxes_.size());
  for (std::uint32_t b = 0; b < partition.rank_of.size(); ++b) {
    if (partition.rank_of[b] == GridPartition::nobody) continue;
    const Vec3i low = partition.lattice.low(b), high = low + partition.lattice.shape;
    requests[partition.rank_of[b]].push_back(
        {clipped(low - partition.pad, high + partition.pad, whole), clipped(low, high, whole)});
  }
  return requests;
}

GridPart GridBoxes::partition(std::span<const Seed> seeds, int order, int blocks) const {
  const VoxelMetric metric{grid_, metric_};
  GridPart part;
  part.image = image_;
  part.order = order;
  part.plan = added_up(communicator_, share_of_stencils(metric, cells_, 1)).plan();
  const Vec3i own_reach = stencil_reach(metric, cells_, part.plan, 1);
  std::array<double, 3> reach;
  for (int d = 0; d < 3; ++d) reach[d] = own_reach[d];
  max_over_ranks(communicator_, reach);
  const Vec3i& shape = extent_.shape;
  part.masked = extent_.count < static_cast<std::size_t>(shape.x) * static_cast<std::size_t>(shape.y) *
                                    static_cast<std::size_t>(shape.z);
  part.partition = cut_blocks(
      extent_, order * Vec3i{static_cast<int>(reach[0]), static_cast<int>(reach[1]), static_cast<int>(reach[2])},
      communicator_.size(), blocks);
  const std::vector<BlockSum> sums =
      added_up(communicator_, block_sums(part.partition.lattice, metric, cells_, signed_index(box().low)));
  if (communicator_.rank() == 0) assign_blocks(part.partition, image_, sums, seeds, communicator_.size());
  part.partition.rank_of = broadcast_values(communicator_, part.partition.rank_of);
  const std::vector<std::vector<BoxRequest>> requests = requests_of(part.partition);
  Answer answer = ask(requests);
  part.metric = std::move(answer.metric);
  const std::vector<BoxRequest>& own = requests[communicator_.index()];
  for (std::uint32_t b = 0; b < part.partition.rank_of.size(); ++b)
    if (part.partition.rank_of[b] == communicator_.index()) part.blocks.push_back(b);
  const PaddedBlocks padded = part.padded_blocks();
  part.allowed.reserve(padded.voxel_count());
  const std::size_t in_block = part.blocks.empty() ? 1 : padded.voxel_count() / part.blocks.size();
  padded.for_voxels([&](const Vec3i& index, bool inside) {
    const std::size_t block = part.allowed.size() / in_block;
    std::uint8_t value = 0;
    if (index.x >= 0 && index.y >= 0 && index.z >= 0) {
      const LatticeIndex at{static_cast<std::uint64_t>(index.x), static_cast<std::uint64_t>(index.y),
                            static_cast<std::uint64_t>(index.z)};
      const IndexBox& known = own[block].box;
      if (known.contains(at) && answer.allowed[block][known.offset(at)] != 0) value = inside ? 1 : GridCells::ghost;
    }
    part.allowed.push_back(value);
  });
  return part;
}

template <class T>
std::vector<T> GridBoxes::gather_to_boxes(const GridPart& part, std::span<const T> values, T elsewhere) const {
  const std::vector<std::vector<BoxRequest>> requests = requests_of(part.partition);
  const std::vector<BoxRequest>& own = requests[static_cast<std::size_t>(communicator_.rank())];
  std::vector<std::vector<T>> messages(boxes_.size());
  const PaddedBlocks padded = part.padded_blocks();
  const std::size_t in_block = part.blocks.empty() ? 0 : padded.voxel_count() / part.blocks.size();
  std::vector<T> dense;
  std::size_t next = 0, voxel = 0, in_image = 0;
  padded.for_voxels([&](const Vec3i& index, bool inside) {
    const std::size_t block = voxel / in_block;
    const IndexBox& inner = own[block].inner;
    if (voxel % in_block == 0) dense.assign(inner.count(), elsewhere), in_image = 0;
    const bool mine = part.allowed[voxel] == 1;
    if (inside && index.x < static_cast<int>(inner.high[0]) && index.y < static_cast<int>(inner.high[1]) &&
        index.z < static_cast<int>(inner.high[2])) {
      if (mine) dense[in_image] = values[next++];
      ++in_image;
    }
    if (++voxel % in_block != 0) return;
    for (std::size_t r = 0; r < boxes_.size(); ++r) {
      const IndexBox region = common(inner, boxes_[r]);
      const std::size_t before = messages[r].size();
      messages[r].resize(before + region.count());
      copy_region(dense.data(), inner, messages[r].data() + before, region, region);
    }
  });
  const std::vector<std::vector<T>> received = exchange_values(communicator_, messages);
  std::vector<T> gathered(box().count(), elsewhere);
  for (std::size_t r = 0; r < received.size(); ++r) {
    const T* at = received[r].data();
    for (const BoxRequest& request : requests[r]) {
      const IndexBox region = common(request.inner, box());
      copy_region(at, region, gathered.data(), box(), region);
      at += region.count();
    }
  }
  return gathered;
}

template std::vector<double> GridBoxes::gather_to_boxes(const GridPart&, std::span<const double>, double) const;
template std::vector<std::int32_t> GridBoxes::gather_to_boxes(const GridPart&, std::span<const std::int32_t>,
                                                              std::int32_t) const;

}  // namespace isochron::ranks
