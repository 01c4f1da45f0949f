// Times at receivers and electrodes.
#include <fmt/format.h>

#include "apps/isochron/solve.h"
#include "isochron/io/bytes.h"
#include "isochron/io/file.h"
#include "isochron/mesh/locator.h"
#include "isochron/trace/grid_field.h"

namespace isochron::cli {
namespace {

/// Without --probe-tolerance a point may be this share of the mesh's diagonal away.
constexpr double default_reach = 0.01;

double diagonal(std::span<const Vec3d> points) {
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

void warn_outside(const ProbeRequest& probe, std::size_t outside, std::size_t all, const std::string& what,
                  Console& console) {
  if (outside == 0) return;
  console.warn(fmt::format("{}: {} of {} outside {} and without a time; allow more with --probe-tolerance",
                           probe.points.string(), grouped(outside),
                           counted(all, "point is", outside == 1 ? "points is" : "points are"), what));
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
  warn_outside(probe, outside, points.size(), fmt::format("the mesh (further than {:.4g})", tolerance), console);
  return result;
}

std::vector<ProbeTime> probe_voxels(const SolveRequest& request, const std::vector<Vec3d>& points,
                                    const ImageGrid& grid, std::span<const std::uint8_t> mask,
                                    const std::vector<double>& times, Console& console) {
  const Vec3d last{grid.shape[0] - 1.0, grid.shape[1] - 1.0, grid.shape[2] - 1.0};
  const double diagonal = norm(grid.position(last) - grid.position(Vec3d{}));
  const double tolerance = request.probe.tolerance.value_or(default_reach * diagonal);
  const Metric metric;  // times are read, nothing is traced
  const GridField field(grid, metric, mask, times);
  std::vector<ProbeTime> result;
  std::size_t outside = 0;
  for (const Vec3d& p : points) {
    const Vec3d at = GridField::clamped(grid, grid.index_of(p));
    const double distance = grid.voxel_at(p) ? 0 : norm(grid.position(at) - p);
    const auto voxel = grid.voxel_at(grid.position(at));
    const bool inside = distance <= tolerance && voxel && (mask.empty() || mask[voxel->index()] != 0);
    result.push_back({inside ? std::optional(field.time(at)) : std::nullopt, distance});
    outside += inside ? 0 : 1;
  }
  warn_outside(request.probe, outside, points.size(),
               fmt::format("the mask or the image (further than {:.4g})", tolerance), console);
  return result;
}

void write_probes(const std::filesystem::path& path, const NamedPoints& points, const std::vector<ProbeTime>& times) {
  AtomicFile file(path);
  ByteWriter sink({path, file.path()});
  const bool named = !points.names.empty();
  sink.print("{}x,y,z,time,distance\n", named ? "name," : "");
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Vec3d& p = points.points[i];
    if (named) sink.print("{},", csv_field(points.names[i]));
    sink.print("{},{},{},{},{}\n", p.x, p.y, p.z, times[i].time ? fmt::format("{}", *times[i].time) : "",
               times[i].distance);
  }
  sink.finish();
  file.commit();
}

template std::vector<ProbeTime> probe_times<3>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<3>&,
                                               const std::vector<double>&, Console&);
template std::vector<ProbeTime> probe_times<4>(const SolveRequest&, const std::vector<Vec3d>&, const SimplexMesh<4>&,
                                               const std::vector<double>&, Console&);

}  // namespace isochron::cli
