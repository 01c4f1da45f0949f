#include "isochron/solve/ranks/grid_part.h"

#include "isochron/comm/packing.h"
#include "isochron/solve/ranks/solve_messages.h"

namespace isochron::ranks {
namespace {

template <class Part>
void visit_plain(Archive archive, Part& part) {
  archive(part.image, part.partition.lattice, part.partition.pad, part.partition.rank_of, part.partition.reach,
          part.partition.min_side, part.plan, part.masked, part.order, part.blocks, part.allowed);
}

Bytes packed(const GridPart& part) {
  Bytes bytes;
  visit_plain(Archive(bytes), part);
  put_metric(bytes, part.metric);
  return bytes;
}

GridPart unpacked(const Bytes& bytes) {
  Unpack unpack(bytes);
  GridPart part;
  visit_plain(Archive(unpack), part);
  part.metric = take_metric(unpack);
  return part;
}

}  // namespace

std::vector<std::uint64_t> GridPart::own_voxels() const {
  std::vector<std::uint64_t> own;
  std::size_t at = 0;
  padded_blocks().for_voxels([&](const Vec3i& index, bool) {
    if (allowed[at++] == 1) own.push_back(voxel(index));
  });
  return own;
}

GridPart cut_grid_part(const WholeGrid& whole, int rank) {
  GridPart part;
  part.image = whole.image;
  part.partition = whole.partition;
  part.plan = whole.plan;
  part.masked = whole.cells.masked;
  part.order = whole.order;
  for (std::size_t b = 0; b < part.partition.rank_of.size(); ++b)
    if (part.partition.rank_of[b] == static_cast<std::uint32_t>(rank))
      part.blocks.push_back(static_cast<std::uint32_t>(b));
  const PaddedBlocks padded = part.padded_blocks();
  part.allowed.reserve(padded.voxel_count());
  std::vector<ElementId> elements;
  padded.for_voxels([&](const Vec3i& index, bool inside) {
    const bool may_enter = whole.cells.may_enter(index);
    part.allowed.push_back(!may_enter ? 0 : inside ? 1 : GridCells::ghost);
    if (may_enter && inside) elements.emplace_back(whole.cells.box.voxel(index).index());
  });
  part.metric = whole.metric.of(elements);
  return part;
}

GridPart scatter_grid(Communicator& communicator, const WholeGrid* whole) {
  const int tag = communicator.next_tag();
  if (communicator.rank() == 0) {
    for (int rank = 1; rank < communicator.size(); ++rank)
      communicator.send(rank, tag, packed(cut_grid_part(*whole, rank)));
    return cut_grid_part(*whole, 0);
  }
  RankMessage message;
  while (!communicator.receive(tag, message)) communicator.pause();
  return unpacked(message.bytes);
}

}  // namespace isochron::ranks
