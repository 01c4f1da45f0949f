// Times at receivers and electrodes.
#include <fmt/format.h>

#include "apps/isochron/solve.h"
#include "isochron/io/atomic_file.h"
#include "isochron/io/text_sink.h"
#include "isochron/mesh/locator.h"

namespace isochron::cli {
namespace {

/// Without --probe-tolerance a point may be this share of the mesh's diagonal away.
constexpr double default_reach = 0.01;

double diagonal(const std::vector<Vec3d>& points) {
  const auto [low, high] = bounding_box(points);
  return norm(high - low);
}

// Corners without weight do not count: they may be unreached.
template <int Corners>
double interpolate(const SimplexMesh<Corners>& mesh, const Location<Corners>& at, const std::vector<double>& times) {
  double time = 0;
  for (int c = 0; c < Corners; ++c)
    if (at.weights[c] > 0) time += at.weights[c] * times[mesh.element(at.element)[c].index()];
  return time;
}

}  // namespace

template <int Corners>
void write_probes(const SolveRequest& request, const std::vector<Vec3d>& points, const SimplexMesh<Corners>& mesh,
                  const std::vector<double>& times, Console& console) {
  const ProbeRequest& probe = request.probe;
  const double tolerance = probe.tolerance.value_or(default_reach * diagonal(mesh.points));
  const PointLocator<Corners> locator(mesh, console.threads());
  AtomicFile file(probe.output);
  TextSink sink({probe.output, file.path()});
  sink.print("x,y,z,time,distance\n");
  std::size_t outside = 0;
  for (const Vec3d& p : points) {
    const auto at = locator.locate(p, tolerance);
    if (at) {
      sink.print("{},{},{},{},{}\n", p.x, p.y, p.z, interpolate(mesh, *at, times), at->distance);
    } else {
      const auto nearest = locator.nearest(p);
      sink.print("{},{},{},,{}\n", p.x, p.y, p.z, nearest.distance);
      ++outside;
    }
  }
  sink.close();
  file.commit();
  if (outside > 0) {
    console.warn(
        fmt::format("{}: {} of {} outside the mesh (further than {:.4g}) and without a time; allow more with "
                    "--probe-tolerance",
                    probe.points.string(), grouped(outside),
                    counted(points.size(), "point is", outside == 1 ? "points is" : "points are"), tolerance));
  }
}

template void write_probes<3>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<3>&,
                              const std::vector<double>&, Console&);
template void write_probes<4>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<4>&,
                              const std::vector<double>&, Console&);

}  // namespace isochron::cli
