#include "isochron/surface/triangulate/smooth.h"

#include <algorithm>
#include <array>
#include <vector>

#include "isochron/mesh/quality.h"
#include "isochron/surface/triangulate/fans.h"

namespace isochron {
namespace {

constexpr double good_enough = 0.75;  // radius ratio above which a triangle's corners stay
constexpr int sweeps = 4;

class Smoother {
 public:
  Smoother(const Delaunay& tets, std::span<const DelaunayFacet> facets, const LabelField& field,
           const SizeView<double>& sizes)
      : facets_(facets), fans_(facets, tets.id_count()), field_(field), sizes_(sizes), place_(tets.id_count()) {
    for (const DelaunayFacet& facet : facets)
      for (const VertexId v : facet.corners) place_[v.index()] = tets.point(v);
  }

  // One step towards the mean of the triangles around, if that helps the worst of them.
  void step(VertexId v) {
    const double before = worst_ratio(v, place_[v.index()]);
    if (before > good_enough) return;
    const Vec3d here = place_[v.index()], there = target(v);
    for (const double part : {1.0, 0.5, 0.25}) {
      const Vec3d candidate = field_.project(here + part * (there - here));
      if (worst_ratio(v, candidate) > before) {
        place_[v.index()] = candidate;
        return;
      }
    }
  }

  [[nodiscard]] Vec3d place(VertexId v) const { return place_[v.index()]; }

 private:
  [[nodiscard]] std::array<Vec3d, 3> corners(const DelaunayFacet& facet) const {
    return {place_[facet.corners[0].index()], place_[facet.corners[1].index()], place_[facet.corners[2].index()]};
  }

  [[nodiscard]] double worst_ratio(VertexId v, Vec3d at) const {
    double worst = 1;
    for (const std::uint32_t f : fans_.at(v)) {
      std::array<Vec3d, 3> x = corners(facets_[f]);
      const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
      for (int k = 0; k < 3; ++k)
        if (facets_[f].corners[k] == v) x[k] = at;
      // A triangle that turns over is worse than any.
      if (dot(normal, cross(x[1] - x[0], x[2] - x[0])) <= 0) return -1;
      worst = std::min(worst, radius_ratio(x));
    }
    return worst;
  }

  // Mean of the triangles' centres, weighted with the number of points that belong in each.
  [[nodiscard]] Vec3d target(VertexId v) const {
    Vec3d sum;
    double weights = 0;
    for (const std::uint32_t f : fans_.at(v)) {
      const std::array<Vec3d, 3> x = corners(facets_[f]);
      const Vec3d centre = (x[0] + x[1] + x[2]) / 3;
      const double size = sizes_.size(centre);
      const double weight = norm(cross(x[1] - x[0], x[2] - x[0])) / (size * size);
      sum += weight * centre;
      weights += weight;
    }
    return weights > 0 ? sum / weights : place_[v.index()];
  }

  std::span<const DelaunayFacet> facets_;
  Fans fans_;
  const LabelField& field_;
  const SizeView<double>& sizes_;
  std::vector<Vec3d> place_;
};

}  // namespace

std::size_t smooth(Delaunay& tets, std::span<const DelaunayFacet> facets, std::span<const VertexId> points,
                   const LabelField& field, const SizeView<double>& sizes) {
  Smoother smoother(tets, facets, field, sizes);
  for (int sweep = 0; sweep < sweeps; ++sweep)
    for (const VertexId v : points) smoother.step(v);
  std::size_t moved = 0;
  for (const VertexId v : points) {
    if (smoother.place(v) == tets.point(v)) continue;
    tets.move(v, smoother.place(v));
    ++moved;
  }
  return moved;
}

}  // namespace isochron
