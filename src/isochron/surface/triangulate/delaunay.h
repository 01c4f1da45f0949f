// Delaunay tetrahedra of points on a surface, each labelled by what lies at its circumcentre.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "isochron/surface/triangulate/label_field.h"
#include "isochron/types.h"

namespace isochron {

/// A triangle between two tetrahedra.
struct DelaunayFacet {
  /// Seen from the side of the smaller label they run counterclockwise.
  std::array<VertexId, 3> corners;
  std::array<int, 2> labels{};   ///< of the two tetrahedra, the larger one first
  std::array<Vec3d, 2> centres;  ///< their circumcentres in the same order: the ends of the dual edge
  bool approved = false;         ///< `approve` was called for it
  std::uint64_t place = 0;       ///< where it is, until the next change
};

/// Whether this build can make Delaunay tetrahedra, that is, has CGAL.
bool delaunay_available();
/// Throws RuntimeError, which says what to install, when it cannot: for a check before long work.
void require_delaunay();

/// Delaunay tetrahedra that can be changed point by point. Around the points lie eight more, far away, so that the
/// outside is filled with tetrahedra too; these have no id. Made with CGAL; without it the constructor throws
/// RuntimeError.
class Delaunay {
 public:
  /// Ids are the places in `points`; a point that is there already (exactly) is left out: `contains` is false for it.
  Delaunay(std::span<const Vec3d> points, Vec3d extent);
  ~Delaunay();
  Delaunay(const Delaunay&) = delete;
  Delaunay& operator=(const Delaunay&) = delete;

  /// Adds a point and returns its id, which is new; not valid when there is a point at exactly this place. `near` is a
  /// point close to it.
  VertexId insert(Vec3d p, VertexId near);
  void remove(VertexId v);
  /// False when another point is there; the point is lost then.
  bool move(VertexId v, Vec3d p);

  [[nodiscard]] bool contains(VertexId v) const;
  [[nodiscard]] Vec3d point(VertexId v) const;
  /// The point nearest to p; not valid when that is one far away. The search starts at `near`, if that is a point.
  [[nodiscard]] VertexId nearest(Vec3d p, VertexId near) const;
  /// One more than the largest id.
  [[nodiscard]] std::size_t id_count() const;

  /// Labels the tetrahedra that changed since the last call (at first all); those with a corner far away get 0. Returns
  /// the corners of these tetrahedra, ascending.
  std::vector<VertexId> label(const LabelField& field, int threads);
  /// The facets between different labels: a closed surface, each side of which is a union of tetrahedra.
  [[nodiscard]] std::vector<DelaunayFacet> facets() const;
  /// Those of them that have one of the given points as a corner.
  [[nodiscard]] std::vector<DelaunayFacet> facets_at(std::span<const VertexId> points);
  /// Calls `wanted` for each facet between equal labels at tetrahedra of these points that is not approved yet;
  /// approves those it does not want, and returns the others.
  [[nodiscard]] std::vector<DelaunayFacet> inner_facets(std::span<const VertexId> points,
                                                        const std::function<bool(const DelaunayFacet&)>& wanted);
  /// Remembers that nothing is wrong with a facet, for as long as its two tetrahedra exist.
  void approve(const DelaunayFacet& facet);
  /// Mends points where a material, or all the others together, fall into parts that meet only in the point or an edge:
  /// gives the part whose tetrahedra are the nearest to the surface (by the field at their centroids) the label of its
  /// surroundings, if they are nearer than `limit`. Returns how many points changed; labels last as long as the
  /// tetrahedra. What is mended at one point may spoil another: call again with those.
  std::size_t untangle(std::span<const VertexId> points, const LabelField& field,
                       const std::function<double(VertexId)>& limit);

 private:
  struct Tetrahedra;
  std::unique_ptr<Tetrahedra> tets_;
};

}  // namespace isochron
