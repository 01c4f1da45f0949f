#include "isochron/dist/halo.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"

namespace isochron {
namespace {

/// A vertex as a rank that holds a copy of it asks its owner for it.
struct Wanted {
  std::uint64_t global;
  std::uint32_t vertex;  ///< the asking rank's number
  std::uint32_t unused = 0;
};

std::vector<RankMessage> ask_owners(Communicator& communicator, const std::vector<Ghost>& ghosts) {
  std::map<int, std::vector<Wanted>> wanted;
  for (const Ghost& ghost : ghosts) wanted[static_cast<int>(ghost.owner)].push_back({ghost.global, ghost.vertex});
  std::vector<RankMessage> questions;
  for (const auto& [owner, list] : wanted) {
    RankMessage& question = questions.emplace_back();
    question.rank = owner;
    put_vector(question.bytes, list);
  }
  return exchange_messages(communicator, std::move(questions));
}

}  // namespace

Halo make_halo(Communicator& communicator, const std::vector<Ghost>& ghosts, std::size_t numbers,
               const std::function<std::uint32_t(std::uint64_t)>& own) {
  const std::vector<RankMessage> questions = ask_owners(communicator, ghosts);
  struct Entry {
    std::uint32_t own;
    HaloCopy copy;
  };
  std::vector<Entry> entries;
  Halo halo;
  all_or_none(communicator, [&] {
    for (const RankMessage& question : questions) {
      const auto peer = static_cast<std::uint32_t>(halo.peers.size());
      halo.peers.push_back(question.rank);
      for (const Wanted& wanted : Unpack(question.bytes).take_vector<Wanted>()) {
        const std::uint32_t number = own(wanted.global);
        if (number == Halo::none)
          throw InputError(fmt::format(
              "vertex {} is not in part {}, which part {} takes for its owner; cut the mesh into parts again",
              wanted.global, communicator.rank(), question.rank));
        entries.push_back({number, {peer, wanted.vertex}});
      }
    }
  });
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.own < b.own; });
  halo.border_of.assign(numbers, Halo::none);
  halo.copies.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == 0 || entries[i].own != entries[i - 1].own) {
      halo.border_of[entries[i].own] = static_cast<std::uint32_t>(halo.offsets.size());
      halo.offsets.push_back(static_cast<std::uint32_t>(i));
    }
    halo.copies.push_back(entries[i].copy);
  }
  halo.offsets.push_back(static_cast<std::uint32_t>(entries.size()));
  return halo;
}

template <int Corners>
Halo make_halo(Communicator& communicator, const MeshPart<Corners>& part,
               const std::function<std::uint32_t(VertexId)>& internal) {
  std::vector<Ghost> ghosts;
  ghosts.reserve(part.ghost_owner.size());
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i) {
    const std::size_t v = part.owned + i;
    ghosts.push_back({part.global_vertex[v], part.ghost_owner[i], internal(VertexId(v))});
  }
  return make_halo(communicator, ghosts, part.owned, [&](std::uint64_t global) {
    const std::optional<std::size_t> own = owned_place(part, global);
    return own ? internal(VertexId(*own)) : Halo::none;
  });
}

template Halo make_halo(Communicator&, const MeshPart<3>&, const std::function<std::uint32_t(VertexId)>&);
template Halo make_halo(Communicator&, const MeshPart<4>&, const std::function<std::uint32_t(VertexId)>&);

}  // namespace isochron
