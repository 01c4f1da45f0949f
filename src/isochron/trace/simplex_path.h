// Rays and geodesics on triangle and tetrahedral meshes, traced back to the source.
#pragma once

#include <memory>
#include <span>

#include "isochron/solve/solver.h"
#include "isochron/solve/sources.h"
#include "isochron/trace/path.h"

namespace isochron {

/// Traces any number of paths on one field of times. In each element the time is linear and the path follows the
/// characteristic −D∇u; between elements whose characteristics meet it runs along the face or edge they share. The
/// interpolated time strictly decreases along the path, so it always ends. Const calls may come from several threads.
template <int Corners>
class PathTracer {
 public:
  /// Keeps references to mesh, metric and times, which must be those of a solve with these sources (one time a vertex,
  /// +inf where unreached). Throws InputError where the sizes do not fit, a time is NaN or −inf, and like
  /// `Solver::solve` for sources that are not there.
  PathTracer(MeshDomain<Corners> domain, std::span<const double> times, const Sources& sources,
             PathOptions options = {});
  ~PathTracer();
  PathTracer(PathTracer&&) noexcept;
  PathTracer& operator=(PathTracer&&) noexcept;

  /// The path from a vertex. Throws InputError for an id out of range and NoAnswerError where nothing arrived.
  [[nodiscard]] Path from(VertexId start) const;
  /// The path from a point in or on the mesh. Throws InputError when it is further than `tolerance` from it (in the
  /// mesh's unit) and NoAnswerError where nothing arrived.
  [[nodiscard]] Path from(Vec3d start, double tolerance) const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

extern template class PathTracer<3>;
extern template class PathTracer<4>;

}  // namespace isochron
