// Helps particles that no triangle uses: what they lie on is thinner or smaller than the tetrahedra can tell.
#pragma once

#include <span>
#include <vector>

#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/local_sizes.h"

namespace isochron {

/// Adds points around such particles, in closer and closer rings; gives up after a few tries. Points it added itself
/// and points that were not there at the start get no help.
class Rescues {
 public:
  Rescues(Delaunay& tets, const LabelField& field, LocalSizes& sizes)
      : tets_(tets), field_(field), sizes_(sizes), tries_(tets.id_count()) {}

  /// Returns how many points were added.
  std::size_t help(std::span<const VertexId> unused);

 private:
  std::size_t help(VertexId v);
  bool add(Vec3d p, VertexId near, double apart, double factor);

  Delaunay& tets_;
  const LabelField& field_;
  LocalSizes& sizes_;
  std::vector<unsigned char> tries_;
};

}  // namespace isochron
