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

// Names come from a text file without commas, but a quote would still confuse who reads the table.
std::string csv_field(const std::string& text) {
  if (text.find('"') == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

template <int Corners>
std::vector<ProbeTime> probe_times(const SolveRequest& request, const std::vector<Vec3d>& points,
                                   const SimplexMesh<Corners>& mesh, const std::vector<double>& times,
                                   Console& console) {
  const ProbeRequest& probe = request.probe;
  const double tolerance = probe.tolerance.value_or(default_reach * diagonal(mesh.points));
  const PointLocator<Corners> locator(mesh, console.threads());
  std::vector<ProbeTime> result;
  std::size_t outside = 0;
  for (const Vec3d& p : points) {
    if (const auto at = locator.locate(p, tolerance)) {
      result.push_back({interpolate(mesh, *at, times), at->distance});
    } else {
      result.push_back({std::nullopt, locator.nearest(p).distance});
      ++outside;
    }
  }
  if (outside > 0) {
    console.warn(
        fmt::format("{}: {} of {} outside the mesh (further than {:.4g}) and without a time; allow more with "
                    "--probe-tolerance",
                    probe.points.string(), grouped(outside),
                    counted(points.size(), "point is", outside == 1 ? "points is" : "points are"), tolerance));
  }
  return result;
}

void write_probes(const std::filesystem::path& path, const NamedPoints& points, const std::vector<ProbeTime>& times) {
  AtomicFile file(path);
  TextSink sink({path, file.path()});
  const bool named = !points.names.empty();
  sink.print("{}x,y,z,time,distance\n", named ? "name," : "");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Vec3d& p = points.points[i];
    if (named) sink.print("{},", csv_field(points.names[i]));
    sink.print("{},{},{},{},{}\n", p.x, p.y, p.z, times[i].time ? fmt::format("{}", *times[i].time) : "",
               times[i].distance);
  }
  sink.close();
  file.commit();
}

template std::vector<ProbeTime> probe_times<3>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<3>&,
                                               const std::vector<double>&, Console&);
template std::vector<ProbeTime> probe_times<4>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<4>&,
                                               const std::vector<double>&, Console&);

}  // namespace isochron::cli
