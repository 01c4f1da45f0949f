// The facets around each point of a surface, and whether they go round it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

class Fans {
 public:
  Fans(std::span<const DelaunayFacet> facets, std::size_t id_count);

  /// Places in the list of facets of those at a point.
  [[nodiscard]] std::span<const std::uint32_t> at(VertexId v) const {
    return {list_.data() + start_[v.index()], list_.data() + start_[v.index() + 1]};
  }

  enum class Fault { none, point, edge };
  /// Whether the border of each material at v is one fan: two facets at every edge (else `edge`), all in one turn
  /// around v (else `point`).
  [[nodiscard]] Fault fault(VertexId v) const;

 private:
  [[nodiscard]] Fault fault_of(VertexId v, int label) const;

  std::span<const DelaunayFacet> facets_;
  std::vector<std::uint32_t> start_, list_;
};

}  // namespace isochron
