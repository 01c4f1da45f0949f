// Which source each vertex was reached from, when the way there leads through several parts.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/solve/mpi/collectives.h"
#include "isochron/solve/mpi/halo.h"

namespace isochron::mpi {

/// A `LabelSpreader` or `GridLabelSpreader` over all ranks: labels of border vertices are sent to the copies, until
/// none is new anywhere. `label` has a place for every vertex of the part, ghosts too.
template <class Spreader>
void spread_labels_over_ranks(Transport& transport, const Halo& halo, Spreader&& spreader,
                              std::vector<std::int32_t>& label) {
  struct Label {
    std::uint32_t vertex;
    std::int32_t source;
  };
  std::vector<std::uint8_t> told(halo.border(), 0);
  while (true) {
    spreader.spread();
    std::vector<std::vector<Label>> lists(halo.peers.size());
    for (std::size_t v = 0; v < halo.border_of.size(); ++v) {
      const std::uint32_t border = halo.border_of[v];
      if (border == Halo::none || label[v] < 0 || told[border] != 0) continue;
      told[border] = 1;
      for (std::uint32_t i = halo.offsets[border]; i < halo.offsets[border + 1]; ++i)
        lists[halo.copies[i].peer].push_back({halo.copies[i].vertex, label[v]});
    }
    std::vector<Message> blocks;
    for (std::size_t p = 0; p < lists.size(); ++p) {
      if (lists[p].empty()) continue;
      Message& block = blocks.emplace_back();
      block.rank = halo.peers[p];
      put_vector(block.bytes, lists[p]);
    }
    const auto sent = static_cast<std::int64_t>(blocks.size());
    for (const Message& block : exchange(transport, std::move(blocks)))
      for (const Label& entry : Unpack(block.bytes).take_vector<Label>()) label[entry.vertex] = entry.source;
    if (agree(transport, {0, {sent}}).sums[0] == 0) return;
  }
}

}  // namespace isochron::mpi
