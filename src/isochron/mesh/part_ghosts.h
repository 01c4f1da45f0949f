// What the parts of a mesh know of one another's vertices.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "isochron/mesh/exchange.h"
#include "isochron/mesh/mesh_part.h"

namespace isochron {

/// Where a part has a vertex that it owns.
template <int Corners>
std::size_t owned_place(const MeshPart<Corners>& part, std::uint64_t global) {
  const auto end = part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned);
  return static_cast<std::size_t>(std::lower_bound(part.global_vertex.begin(), end, global) -
                                  part.global_vertex.begin());
}

/// All processes together: the value of each ghost, in their order, from the part that owns it. `own` has one for each
/// owned vertex. The parts must have passed `check_parts`.
template <class T, int Corners>
std::vector<T> ghost_values(Exchange& exchange, const MeshPart<Corners>& part, std::span<const T> own) {
  std::vector<std::vector<std::uint64_t>> wanted(exchange.ranks());
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i)
    wanted[part.ghost_owner[i]].push_back(part.global_vertex[part.owned + i]);
  std::vector<std::vector<T>> answers(exchange.ranks());
  const auto questions = exchange_values(exchange, wanted);
  for (std::size_t r = 0; r < questions.size(); ++r)
    for (const std::uint64_t id : questions[r]) answers[r].push_back(own[owned_place(part, id)]);
  const auto told = exchange_values(exchange, answers);
  std::vector<std::size_t> next(told.size(), 0);
  std::vector<T> result;
  result.reserve(part.ghost_owner.size());
  for (const std::uint32_t owner : part.ghost_owner) result.push_back(told[owner][next[owner]++]);
  return result;
}

/// All processes together, each with the part of its number: throws InputError on all of them unless the parts are
/// parts of one mesh: every ghost is a vertex of the part that is said to own it, at the same place, and all vertices
/// and elements of the whole mesh are there once.
template <int Corners>
void check_parts(Exchange& exchange, const MeshPart<Corners>& part);

}  // namespace isochron
