// One part of a mesh that is partitioned over ranks: the vertices that a rank owns, and its halo.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/mesh/dataset.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// A mesh is cut by its vertices: each belongs to one part, its owner. A part holds every element that touches one of
/// its vertices, so that all that updates an owned vertex is there; the other vertices of those elements are its
/// ghosts. An element is kept by several parts and counted by one, the owner of its corner with the lowest global id.
template <int Corners>
struct MeshPart {
  SimplexMesh<Corners> mesh;                  ///< owned vertices first, then ghosts, each by ascending global id
  std::size_t owned = 0;                      ///< vertices that this part owns
  std::vector<std::uint64_t> global_vertex;   ///< id in the whole mesh of each vertex
  std::vector<std::uint64_t> global_element;  ///< id in the whole mesh of each element, ascending
  std::vector<std::uint32_t> ghost_owner;     ///< part of vertex `owned + i`
  std::uint64_t whole_vertices = 0;           ///< of the whole mesh
  std::uint64_t whole_elements = 0;

  [[nodiscard]] bool owns(VertexId v) const { return v.index() < owned; }
  /// True for the one part that counts and writes the element.
  [[nodiscard]] bool counts(ElementId e) const;
  /// The vertex of a global id; invalid when it is not here. Takes logarithmic time.
  [[nodiscard]] VertexId local_vertex(std::uint64_t global) const;
};

/// With the named arrays on it.
template <int Corners>
struct PartData {
  MeshPart<Corners> part;
  DataArrays point_data;  ///< one tuple for each vertex, ghosts too
  DataArrays cell_data;   ///< one tuple for each element
};

/// What of some elements and their vertices goes to which of several parts.
struct PartTargets {
  std::vector<std::vector<std::uint32_t>> owned;     ///< vertices by part, ascending
  std::vector<std::vector<std::uint32_t>> ghosts;    ///< likewise, each once
  std::vector<std::vector<std::uint32_t>> elements;  ///< likewise
};

/// One pass over the elements, on several threads. `part_of` names the part of every vertex.
template <int Corners>
PartTargets part_targets(std::span<const std::array<VertexId, Corners>> elements,
                         std::span<const std::uint32_t> part_of, std::size_t parts, int threads);

/// Cuts a mesh into parts, each in time and memory of its own size.
template <int Corners>
class PartCutter {
 public:
  /// Keeps a reference to the mesh. `part_of` names the part of every vertex, from 0 to `parts` − 1.
  PartCutter(const SimplexMesh<Corners>& mesh, std::vector<std::uint32_t> part_of, std::size_t parts, int threads = 1);

  /// By several threads at a time, too.
  [[nodiscard]] MeshPart<Corners> cut(std::uint32_t part) const;
  [[nodiscard]] const std::vector<std::uint32_t>& part_of() const { return part_of_; }

 private:
  const SimplexMesh<Corners>& mesh_;
  std::vector<std::uint32_t> part_of_;
  PartTargets targets_;
};

/// One part of a mesh whose vertices belong to the parts named by `part_of`, one for each vertex.
template <int Corners>
MeshPart<Corners> cut_part(const SimplexMesh<Corners>& mesh, std::span<const std::uint32_t> part_of,
                           std::uint32_t part);

/// An element as all parts know it.
template <int Corners>
struct GlobalElement {
  std::uint64_t id = 0;
  std::array<std::uint64_t, Corners> corners{};
  friend bool operator<(const GlobalElement& a, const GlobalElement& b) { return a.id < b.id; }
  friend bool operator==(const GlobalElement& a, const GlobalElement& b) { return a.id == b.id; }
};

/// Local ids have 32 bits, and lists of elements at vertices must be able to count them. Throws UsageError.
void check_part_size(std::uint64_t vertices);

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

/// Where a part has a vertex that it owns.
template <int Corners>
std::size_t owned_place(const MeshPart<Corners>& part, std::uint64_t global) {
  const auto end = part.global_vertex.begin() + static_cast<std::ptrdiff_t>(part.owned);
  return static_cast<std::size_t>(std::lower_bound(part.global_vertex.begin(), end, global) -
                                  part.global_vertex.begin());
}

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
    for (const std::uint64_t id : questions[r]) answers[r].push_back(own[owned_place(part, id)]);
  const auto received = exchange_values(communicator, answers);
  std::vector<std::size_t> next(received.size(), 0);
  std::vector<T> result;
  result.reserve(part.ghost_owner.size());
  for (const std::uint32_t owner : part.ghost_owner) result.push_back(received[owner][next[owner]++]);
  return result;
}

/// All ranks together, each with the part of its number: throws InputError on all of them unless the parts are
/// parts of one mesh: every ghost is a vertex of the part that is said to own it, at the same place, and all vertices
/// and elements of the whole mesh are there once.
template <int Corners>
void check_parts(Communicator& communicator, const MeshPart<Corners>& part);

}  // namespace isochron
