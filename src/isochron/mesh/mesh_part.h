// One part of a mesh that is shared out over several processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace isochron
