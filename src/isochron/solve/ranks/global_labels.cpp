#include "isochron/solve/ranks/global_labels.h"

#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"

namespace isochron::ranks {

void spread_labels_over_ranks(Communicator& communicator, const Halo& halo, PartLabels& labels) {
  struct Entry {
    std::uint32_t vertex;
    LabelMix mix;
  };
  std::vector<std::uint32_t> unsent;
  for (std::size_t v = 0; v < halo.border_of.size(); ++v)
    if (halo.border_of[v] != Halo::none) unsent.push_back(static_cast<std::uint32_t>(v));
  labels.start();
  for (bool adopted_any = false; true;) {
    std::vector<std::vector<Entry>> lists(halo.peers.size());
    const auto send = [&](std::uint32_t v) {
      const LabelMix mix = labels.mix(v);
      if (mix.first < 0) return false;
      const std::uint32_t border = halo.border_of[v];
      for (std::uint32_t i = halo.offsets[border]; i < halo.offsets[border + 1]; ++i)
        lists[halo.copies[i].peer].push_back({halo.copies[i].vertex, mix});
      return true;
    };
    std::erase_if(unsent, send);
    std::vector<RankMessage> blocks;
    for (std::size_t p = 0; p < lists.size(); ++p) {
      if (lists[p].empty()) continue;
      RankMessage& block = blocks.emplace_back();
      block.rank = halo.peers[p];
      put_vector(block.bytes, lists[p]);
    }
    const auto sent = static_cast<std::int64_t>(blocks.size());
    for (const RankMessage& block : exchange_messages(communicator, std::move(blocks)))
      for (const Entry& entry : Unpack(block.bytes).take_vector<Entry>()) labels.give(entry.vertex, entry.mix);
    const std::int64_t left = labels.adopt(Adopting::sure) ? 1 : 0;
    const auto all = agree(communicator, {0, {sent, left}}).sums;
    if (all[0] == 0 && (all[1] == 0 || adopted_any)) break;
    // Nothing is under way any more: those that are left are the first of their surroundings by rounding alone.
    adopted_any = all[0] == 0;
    if (adopted_any) labels.adopt(Adopting::any);
  }
  labels.finish();
}

}  // namespace isochron::ranks
