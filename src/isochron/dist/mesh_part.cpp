#include "isochron/parts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "isochron/comm/collectives.h"
#include "isochron/core/parallel.h"
#include "isochron/dist/piece_border.h"
#include "isochron/error.h"

namespace isochron {

template <int Corners>
bool MeshPart<Corners>::counts(ElementId e) const {
  const auto& corners = mesh.element(e);
  const auto lowest = std::min_element(corners.begin(), corners.end(), [this](VertexId a, VertexId b) {
    return global_vertex[a.index()] < global_vertex[b.index()];
  });
  return owns(*lowest);
}

template <int Corners>
VertexId MeshPart<Corners>::local_vertex(std::uint64_t global) const {
  const auto middle = global_vertex.begin() + static_cast<std::ptrdiff_t>(owned);
  for (const auto& [begin, end] : {std::pair{global_vertex.begin(), middle}, std::pair{middle, global_vertex.end()}}) {
    const auto at = std::lower_bound(begin, end, global);
    if (at != end && *at == global) return VertexId(static_cast<std::size_t>(at - global_vertex.begin()));
  }
  return {};
}

namespace {

void sort_once(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Elements from `begin` to `end`, and the ghosts that they make.
template <int Corners>
void add_elements(std::span<const std::array<VertexId, Corners>> elements, std::size_t begin, std::size_t end,
                  std::span<const std::uint32_t> part_of, PartTargets& to) {
  for (std::size_t e = begin; e < end; ++e) {
    std::array<std::uint32_t, Corners> parts;
    for (int k = 0; k < Corners; ++k) parts[k] = part_of[elements[e][k].index()];
    for (int k = 0; k < Corners; ++k) {
      if (std::find(parts.begin(), parts.begin() + k, parts[k]) != parts.begin() + k) continue;
      to.elements[parts[k]].push_back(static_cast<std::uint32_t>(e));
      for (int other = 0; other < Corners; ++other)
        if (parts[other] != parts[k]) to.ghosts[parts[k]].push_back(elements[e][other].value);
    }
  }
}

PartTargets no_targets(std::size_t parts) {
  const std::vector<std::vector<std::uint32_t>> none(parts);
  return {none, none, none};
}

/// A ghost as its part has it.
struct SentGhost {
  std::uint64_t id;
  Vec3d at;
};

template <int Corners>
void check_ghosts(const MeshPart<Corners>& part, const std::vector<std::vector<SentGhost>>& received,
                  std::size_t rank) {
  for (std::size_t r = 0; r < received.size(); ++r)
    for (const SentGhost& ghost : received[r]) {
      const std::optional<std::size_t> v = owned_place(part, ghost.id);
      if (!v)
        throw InputError(
            fmt::format("vertex {} is not in piece {}, which piece {} takes for its owner; write the pieces "
                        "again",
                        ghost.id, rank, r));
      if (!same_place(part.mesh.points[*v], ghost.at))
        throw InputError(
            fmt::format("vertex {} is at two places, in piece {} and in piece {} (its id must mean one vertex); write "
                        "the pieces again",
                        ghost.id, rank, r));
    }
}

}  // namespace

template <int Corners>
PartTargets part_targets(std::span<const std::array<VertexId, Corners>> elements,
                         std::span<const std::uint32_t> part_of, std::size_t parts, int threads) {
  std::vector<PartTargets> shares(static_cast<std::size_t>(std::max(1, threads)), no_targets(parts));
  parallel_region(threads, [&](int thread, int team) {
    PartTargets& own = shares[static_cast<std::size_t>(thread)];
    add_elements<Corners>(elements, elements.size() * thread / team, elements.size() * (thread + 1) / team, part_of,
                          own);
    for (auto& list : own.ghosts) sort_once(list);
  });
  PartTargets all = std::move(shares.front());
  for (std::size_t v = 0; v < part_of.size(); ++v) all.owned[part_of[v]].push_back(static_cast<std::uint32_t>(v));
  parallel_region(threads, [&](int thread, int team) {
    for (std::size_t p = parts * thread / team; p < parts * (thread + 1) / team; ++p) {
      for (std::size_t i = 1; i < shares.size(); ++i) {
        all.elements[p].insert(all.elements[p].end(), shares[i].elements[p].begin(), shares[i].elements[p].end());
        all.ghosts[p].insert(all.ghosts[p].end(), shares[i].ghosts[p].begin(), shares[i].ghosts[p].end());
      }
      if (shares.size() > 1) sort_once(all.ghosts[p]);
    }
  });
  return all;
}

template <int Corners>
PartCutter<Corners>::PartCutter(const SimplexMesh<Corners>& mesh, std::vector<std::uint32_t> part_of, std::size_t parts,
                                int threads)
    : mesh_(mesh),
      part_of_(std::move(part_of)),
      targets_(part_targets<Corners>(mesh.elements, part_of_, parts, threads)) {}

template <int Corners>
MeshPart<Corners> PartCutter<Corners>::cut(std::uint32_t part) const {
  const auto &owned = targets_.owned[part], &ghosts = targets_.ghosts[part], &elements = targets_.elements[part];
  MeshPart<Corners> result;
  result.whole_vertices = mesh_.vertex_count();
  result.whole_elements = mesh_.element_count();
  result.owned = owned.size();
  result.global_vertex.reserve(owned.size() + ghosts.size());
  result.mesh.points.reserve(owned.size() + ghosts.size());
  // Only the places of the part's own vertices and ghosts are written and read.
  const auto local = std::make_unique_for_overwrite<std::uint32_t[]>(mesh_.vertex_count());
  for (const auto* list : {&owned, &ghosts})
    for (const std::uint32_t v : *list) {
      local[v] = static_cast<std::uint32_t>(result.global_vertex.size());
      result.global_vertex.push_back(v);
      result.mesh.points.push_back(mesh_.points[v]);
    }
  result.ghost_owner.reserve(ghosts.size());
  for (const std::uint32_t v : ghosts) result.ghost_owner.push_back(part_of_[v]);
  result.global_element.assign(elements.begin(), elements.end());
  result.mesh.elements.reserve(elements.size());
  for (const std::uint32_t e : elements) {
    typename SimplexMesh<Corners>::Element element;
    for (int k = 0; k < Corners; ++k) element[k] = VertexId(local[mesh_.elements[e][k].index()]);
    result.mesh.elements.push_back(element);
  }
  return result;
}

template <int Corners>
MeshPart<Corners> cut_part(const SimplexMesh<Corners>& mesh, std::span<const std::uint32_t> part_of,
                           std::uint32_t part) {
  std::uint32_t last = part;
  for (const std::uint32_t other : part_of) last = std::max(last, other);
  return PartCutter<Corners>(mesh, {part_of.begin(), part_of.end()}, std::size_t{last} + 1).cut(part);
}

void check_part_size(std::uint64_t vertices) {
  if (vertices > (1ULL << 30) / 6)
    throw UsageError(fmt::format(
        "a part of {} vertices is too large (one process numbers at most 178 million); use more parts", vertices));
}

template <int Corners>
void check_parts(Communicator& communicator, const MeshPart<Corners>& part) {
  std::vector<std::vector<SentGhost>> ghosts(communicator.ranks());
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i) {
    const std::size_t v = part.owned + i;
    ghosts[part.ghost_owner[i]].push_back({part.global_vertex[v], part.mesh.points[v]});
  }
  const auto received = exchange_values(communicator, ghosts);
  all_or_none(communicator, [&] { check_ghosts(part, received, communicator.index()); });
  std::uint64_t counted = 0;
  for (std::size_t e = 0; e < part.mesh.element_count(); ++e) counted += part.counts(ElementId(e)) ? 1 : 0;
  const std::uint64_t vertices = sum_of_all(communicator, part.owned), elements = sum_of_all(communicator, counted);
  if (vertices != part.whole_vertices || elements != part.whole_elements)
    throw InputError(
        fmt::format("the pieces have {} vertices and {} cells, not the {} and {} of the whole mesh (some "
                    "are missing, or there twice); write the pieces again",
                    vertices, elements, part.whole_vertices, part.whole_elements));
}

template struct MeshPart<3>;
template struct MeshPart<4>;
template PartTargets part_targets<3>(std::span<const std::array<VertexId, 3>>, std::span<const std::uint32_t>,
                                     std::size_t, int);
template PartTargets part_targets<4>(std::span<const std::array<VertexId, 4>>, std::span<const std::uint32_t>,
                                     std::size_t, int);
template class PartCutter<3>;
template class PartCutter<4>;
template MeshPart<3> cut_part(const SimplexMesh<3>&, std::span<const std::uint32_t>, std::uint32_t);
template MeshPart<4> cut_part(const SimplexMesh<4>&, std::span<const std::uint32_t>, std::uint32_t);
template void check_parts(Communicator&, const MeshPart<3>&);
template void check_parts(Communicator&, const MeshPart<4>&);

}  // namespace isochron
