#include "isochron/mesh/part_ghosts.h"

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/agreement.h"
#include "isochron/mesh/piece_border.h"

namespace isochron {
namespace {

/// A ghost as its part has it.
struct Told {
  std::uint64_t id;
  Vec3d at;
};

template <int Corners>
void check_told(const MeshPart<Corners>& part, const std::vector<std::vector<Told>>& told, std::size_t rank) {
  for (std::size_t r = 0; r < told.size(); ++r)
    for (const Told& ghost : told[r]) {
      const std::size_t v = owned_place(part, ghost.id);
      if (v >= part.owned || part.global_vertex[v] != ghost.id)
        throw InputError(
            fmt::format("vertex {} is not in piece {}, which piece {} takes for its owner; write the pieces "
                        "again",
                        ghost.id, rank, r));
      if (!same_place(part.mesh.points[v], ghost.at))
        throw InputError(
            fmt::format("vertex {} is at two places, in piece {} and in piece {} (its id must mean one vertex); write "
                        "the pieces again",
                        ghost.id, rank, r));
    }
}

}  // namespace

template <int Corners>
void check_parts(Exchange& exchange, const MeshPart<Corners>& part) {
  std::vector<std::vector<Told>> ghosts(exchange.ranks());
  for (std::size_t i = 0; i < part.ghost_owner.size(); ++i) {
    const std::size_t v = part.owned + i;
    ghosts[part.ghost_owner[i]].push_back({part.global_vertex[v], part.mesh.points[v]});
  }
  const auto told = exchange_values(exchange, ghosts);
  all_or_none(exchange, [&] { check_told(part, told, exchange.rank()); });
  std::uint64_t counted = 0;
  for (std::size_t e = 0; e < part.mesh.element_count(); ++e) counted += part.counts(ElementId(e)) ? 1 : 0;
  const std::uint64_t vertices = sum_of_all(exchange, part.owned), elements = sum_of_all(exchange, counted);
  if (vertices != part.whole_vertices || elements != part.whole_elements)
    throw InputError(
        fmt::format("the pieces have {} vertices and {} cells, not the {} and {} of the whole mesh (some "
                    "are missing, or there twice); write the pieces again",
                    vertices, elements, part.whole_vertices, part.whole_elements));
}

template void check_parts(Exchange&, const MeshPart<3>&);
template void check_parts(Exchange&, const MeshPart<4>&);

}  // namespace isochron
