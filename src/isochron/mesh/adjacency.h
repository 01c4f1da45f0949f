// Which elements meet at each vertex, as one compressed list.
#pragma once

#include <cstdint>
#include <span>

#include "isochron/core/big_vector.h"
#include "isochron/mesh.h"

namespace isochron {

/// Vertex → element incidences. Entry i of vertex v lies in [offsets[v], offsets[v+1]) and packs element and corner:
/// element * 4 + corner, so that a user knows where in the element the vertex stands without searching.
struct Adjacency {
  BigVector<std::uint32_t> offsets;
  BigVector<std::uint32_t> incidences;

  [[nodiscard]] std::span<const std::uint32_t> at(VertexId v) const {
    return {incidences.data() + offsets[v.index()], incidences.data() + offsets[v.index() + 1]};
  }
  [[nodiscard]] std::size_t valence(VertexId v) const { return offsets[v.index() + 1] - offsets[v.index()]; }
  static constexpr ElementId element_of(std::uint32_t incidence) { return ElementId(incidence >> 2); }
  static constexpr int corner_of(std::uint32_t incidence) { return static_cast<int>(incidence & 3U); }
};

/// Builds the incidences in element order. All vertex ids must be below `vertex_count` and there must be at most 2³⁰
/// elements and 2³² incidences; throws InputError otherwise.
template <int Corners>
Adjacency build_adjacency(std::span<const std::array<VertexId, Corners>> elements, std::size_t vertex_count,
                          int threads = 1);

template <int Corners>
Adjacency build_adjacency(const SimplexMesh<Corners>& mesh, int threads = 1) {
  return build_adjacency<Corners>(std::span<const std::array<VertexId, Corners>>(mesh.elements), mesh.vertex_count(),
                                  threads);
}

}  // namespace isochron
