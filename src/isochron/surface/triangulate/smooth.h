// Moving points of a triangulated surface within it for better triangles; the sizes and fans of facets it needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

/// The edge lengths wanted, times a factor per point for refinement where the wanted ones cannot show the surface.
class LocalSizes {
 public:
  explicit LocalSizes(const SizeView<double>& sizes) : sizes_(sizes) {}

  [[nodiscard]] double factor(VertexId v) const { return v.index() < factors_.size() ? factors_[v.index()] : 1.0; }
  /// The largest of its corners' factors: refinement does not spread to where it was not asked for.
  [[nodiscard]] double factor(const DelaunayFacet& facet) const {
    return std::max({factor(facet.corners[0]), factor(facet.corners[1]), factor(facet.corners[2])});
  }
  void set_factor(VertexId v, double factor) {
    if (v.index() >= factors_.size()) factors_.resize(v.index() + 1, 1.0F);
    factors_[v.index()] = static_cast<float>(factor);
  }
  [[nodiscard]] double size(VertexId v, Vec3d at) const { return factor(v) * sizes_.size(at); }
  [[nodiscard]] double size(const DelaunayFacet& facet, const std::array<Vec3d, 3>& corners) const {
    return factor(facet) * sizes_.size((corners[0] + corners[1] + corners[2]) / 3);
  }

 private:
  SizeView<double> sizes_;
  std::vector<float> factors_;
};

/// The facets around each point of a surface, and whether they go round it once.
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

/// Moves those of the given points whose triangles are far from equilateral to better places on the field's surface, if
/// there are any, and then moves them in the tetrahedra. Returns how many moved.
std::size_t smooth(Delaunay& tets, std::span<const DelaunayFacet> facets, std::span<const VertexId> points,
                   const LabelField& field, const LocalSizes& sizes);

/// All points, by id, after some steps of each towards the mean of the triangles around it, where that makes these more
/// equilateral. The first `fixed` points and points without triangles stay; of ids without a point the place means
/// nothing.
std::vector<Vec3d> evened_out(const Delaunay& tets, std::span<const DelaunayFacet> facets, const LabelField& field,
                              const LocalSizes& sizes, int threads, std::size_t fixed = 0);

}  // namespace isochron
