#include "isochron/solve/mpi/halo.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "isochron/solve/mpi/collectives.h"

namespace isochron::mpi {
namespace {

/// A vertex as a rank that holds a copy of it asks its owner for it.
struct Wanted {
  std::uint64_t global;
  std::uint32_t vertex;  ///< the asking rank's number
  std::uint32_t unused = 0;
};

template <int Corners>
std::vector<Message> ask_owners(Transport& transport, const MeshPart<Corners>& part,
                                const std::function<std::uint32_t(VertexId)>& internal) {
  std::map<int, std::vector<Wanted>> wanted;
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i) {
    const std::size_t v = part.owned + i;
    wanted[static_cast<int>(part.ghost_owner[i])].push_back({part.global_vertex[v], internal(VertexId(v))});
  }
  std::vector<Message> questions;
  for (const auto& [owner, list] : wanted) {
    Message& question = questions.emplace_back();
    question.rank = owner;
    put_vector(question.bytes, list);
  }
  return exchange(transport, std::move(questions));
}

}  // namespace

template <int Corners>
Halo make_halo(Transport& transport, const MeshPart<Corners>& part,
               const std::function<std::uint32_t(VertexId)>& internal) {
  const std::vector<Message> questions = ask_owners(transport, part, internal);
  const auto owned_end = part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned);
  struct Entry {
    std::uint32_t own;
    HaloCopy copy;
  };
  std::vector<Entry> entries;
  Halo halo;
  for (const Message& question : questions) {
    const auto peer = static_cast<std::uint32_t>(halo.peers.size());
    halo.peers.push_back(question.rank);
    for (const Wanted& wanted : Unpack(question.bytes).take_vector<Wanted>()) {
      const auto found = std::lower_bound(part.global_vertex.begin(), owned_end, wanted.global);
      if (found == owned_end || *found != wanted.global)
        throw InputError(
            fmt::format("vertex {} is not in part {}, which part {} takes for its owner; cut the mesh into parts again",
                        wanted.global, transport.rank(), question.rank));
      const auto own = static_cast<std::size_t>(found - part.global_vertex.begin());
      entries.push_back({internal(VertexId(own)), {peer, wanted.vertex}});
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.own < b.own; });
  halo.border_of.assign(part.owned, Halo::none);
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

template Halo make_halo(Transport&, const MeshPart<3>&, const std::function<std::uint32_t(VertexId)>&);
template Halo make_halo(Transport&, const MeshPart<4>&, const std::function<std::uint32_t(VertexId)>&);

}  // namespace isochron::mpi
