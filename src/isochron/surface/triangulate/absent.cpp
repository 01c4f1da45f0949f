// Stands in for cgal/ in builds without CGAL.
#include "isochron/core/error.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron {

bool delaunay_available() { return false; }

void require_delaunay() {
  throw RuntimeError(
      "surfaces cannot be triangulated (this build is without CGAL); install libcgal-dev and build again with "
      "-DISOCHRON_WITH_CGAL=ON");
}

struct Delaunay::Tetrahedra {};

Delaunay::Delaunay(std::span<const Vec3d>, Vec3d) { require_delaunay(); }
Delaunay::~Delaunay() = default;
VertexId Delaunay::insert(Vec3d, VertexId) { return {}; }
void Delaunay::remove(VertexId) {}
bool Delaunay::move(VertexId, Vec3d) { return false; }
bool Delaunay::contains(VertexId) const { return false; }
Vec3d Delaunay::point(VertexId) const { return {}; }
VertexId Delaunay::nearest(Vec3d, VertexId) const { return {}; }
std::size_t Delaunay::id_count() const { return 0; }
std::vector<VertexId> Delaunay::label(const LabelField&, int) { return {}; }
std::vector<DelaunayFacet> Delaunay::facets() const { return {}; }
std::vector<DelaunayFacet> Delaunay::facets_at(std::span<const VertexId>) { return {}; }
std::vector<DelaunayFacet> Delaunay::inner_facets(std::span<const VertexId>,
                                                  const std::function<bool(const DelaunayFacet&)>&) {
  return {};
}
void Delaunay::approve(const DelaunayFacet&) {}
std::size_t Delaunay::untangle(std::span<const VertexId>, const LabelField&, const std::function<double(VertexId)>&) {
  return 0;
}

}  // namespace isochron
