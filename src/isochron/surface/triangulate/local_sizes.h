// The edge lengths wanted, with refinement where the wanted ones cannot show the surface.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

/// The field of sizes, times a factor per point.
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

}  // namespace isochron
