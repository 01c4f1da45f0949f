// Visiting the vertices around a vertex, each once.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// Remembers in a stamp per vertex whom it has visited in this call. One per thread.
template <class T, int Corners>
class NeighborVisitor {
 public:
  explicit NeighborVisitor(const SimplexProblem<T, Corners>& problem)
      : problem_(problem), stamp_(problem.vertex_count, 0) {}

  /// Calls `visit(neighbor)` once for each vertex that shares an element with v, those of virtual elements included:
  /// all vertices whose time may depend on v's.
  template <class Visit>
  void around(std::uint32_t v, Visit&& visit) {
    if (++now_ == 0) {
      stamp_.assign(stamp_.size(), 0);
      now_ = 1;
    }
    stamp_[v] = now_;
    const auto once = [&](std::uint32_t n) {
      if (stamp_[n] == now_) return;
      stamp_[n] = now_;
      visit(n);
    };
    if constexpr (Corners == 3) {
      for (const auto& star : problem_.star(v)) {
        once(star.a());
        once(star.b());
      }
    } else {
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v)))
        for (int c = 0; c < Corners; ++c) once(problem_.elements[incidence >> 2].vertex(c));
    }
    const auto& extra = problem_.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.face_offsets[v]; i < extra.face_offsets[v + 1]; ++i)
        once(extra.records[extra.face_list[i] >> 2].target);
  }

 private:
  const SimplexProblem<T, Corners>& problem_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t now_ = 0;
};

/// Per vertex: 1 when all its corners are acute in the metric, so that a later neighbour cannot matter to it.
template <class T, int Corners>
std::vector<std::uint8_t> acute_vertices(const SimplexProblem<T, Corners>& problem) {
  std::vector<std::uint8_t> acute(problem.vertex_count, 1);
  if (problem.obtuse_corners == 0) return acute;
  for (const auto& record : problem.elements)
    for (int c = 0; c < Corners; ++c)
      if (!record.acute(c)) acute[record.vertex(c)] = 0;
  return acute;
}

}  // namespace isochron
