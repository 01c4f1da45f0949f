// Puts a part of a mesh together from elements with global ids.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/mesh/mesh_part.h"

namespace isochron {

/// An element as all parts know it.
template <int Corners>
struct GlobalElement {
  std::uint64_t id = 0;
  std::array<std::uint64_t, Corners> corners{};
  friend bool operator<(const GlobalElement& a, const GlobalElement& b) { return a.id < b.id; }
  friend bool operator==(const GlobalElement& a, const GlobalElement& b) { return a.id == b.id; }
};

/// Local ids have 32 bits, and lists of elements at vertices must be able to count them. Throws UsageError.
inline void check_part_size(std::uint64_t vertices) {
  if (vertices > (1ULL << 30) / 6)
    throw UsageError(fmt::format(
        "a part of {} vertices is too large (one process numbers at most 178 million); use more parts", vertices));
}

/// The part that owns the vertices `owned`, from all elements that touch them (any order, repeated ones too).
/// `owner_of(id)` names the part of any other vertex. The points are left for the caller: there is room for them.
template <int Corners, class OwnerOf>
MeshPart<Corners> assemble_part(std::vector<GlobalElement<Corners>> elements, std::vector<std::uint64_t> owned,
                                OwnerOf&& owner_of) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  std::sort(owned.begin(), owned.end());
  MeshPart<Corners> part;
  part.owned = owned.size();
  part.global_vertex = std::move(owned);
  auto& ids = part.global_vertex;
  const auto owns = [&](std::uint64_t id) {
    return std::binary_search(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(part.owned), id);
  };
  std::vector<std::uint64_t> ghosts;
  for (const auto& element : elements)
    for (const std::uint64_t id : element.corners)
      if (!owns(id)) ghosts.push_back(id);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  for (const std::uint64_t id : ghosts) part.ghost_owner.push_back(owner_of(id));
  ids.insert(ids.end(), ghosts.begin(), ghosts.end());
  part.mesh.points.resize(ids.size());

  part.global_element.reserve(elements.size());
  part.mesh.elements.reserve(elements.size());
  for (const auto& element : elements) {
    typename SimplexMesh<Corners>::Element local;
    for (int k = 0; k < Corners; ++k) local[k] = part.local_vertex(element.corners[k]);
    part.global_element.push_back(element.id);
    part.mesh.elements.push_back(local);
  }
  return part;
}

}  // namespace isochron
