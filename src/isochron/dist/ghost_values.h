// Values of a part's ghosts, from the parts that own them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/parts.h"

namespace isochron {

/// All ranks together: the value of each ghost, in their order, from the part that owns it. `own` has one for each
/// owned vertex. The parts must have passed `check_parts`.
template <class T, int Corners>
std::vector<T> ghost_values(Communicator& communicator, const MeshPart<Corners>& part, std::span<const T> own) {
  std::vector<std::vector<std::uint64_t>> wanted(communicator.ranks());
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i)
    wanted[part.ghost_owner[i]].push_back(part.global_vertex[part.owned + i]);
  std::vector<std::vector<T>> answers(communicator.ranks());
  const auto questions = exchange_values(communicator, wanted);
  for (std::size_t r = 0; r < questions.size(); ++r)
    for (const std::uint64_t id : questions[r]) answers[r].push_back(own[*owned_place(part, id)]);
  const auto received = exchange_values(communicator, answers);
  std::vector<std::size_t> next(received.size(), 0);
  std::vector<T> result;
  result.reserve(part.ghost_owner.size());
  for (const std::uint32_t owner : part.ghost_owner) result.push_back(received[owner][next[owner]++]);
  return result;
}

}  // namespace isochron
