#include "apps/isochron/mesh_quality.h"

#include <algorithm>
#include <cmath>

#include "isochron/core/join_text.h"
#include "isochron/mesh/self_intersections.h"

namespace isochron::cli {
namespace {

constexpr std::size_t ratio_bins = 20, angle_bins = 18;

Json json_of(const Distribution& values, std::size_t bins) {
  return {{"mean", values.mean()},
          {"min", values.min()},
          {"max", values.max()},
          {"percentile_1", values.percentile(0.01)},
          {"percentile_5", values.percentile(0.05)},
          {"median", values.percentile(0.5)},
          {"percentile_95", values.percentile(0.95)},
          {"percentile_99", values.percentile(0.99)},
          {"histogram", {{"low", values.low()}, {"high", values.high()}, {"counts", values.histogram(bins)}}}};
}

void report_shape(Report& report, const ShapeStatistics& shape, int corners) {
  const Distribution &ratio = shape.radius_ratio, &angles = shape.angles, &smallest = shape.smallest_angle;
  report.object()["shape"] = {{"radius_ratio", json_of(ratio, ratio_bins)},
                              {"aspect", json_of(shape.aspect, ratio_bins)},
                              {corners == 3 ? "angles" : "dihedral_angles", json_of(angles, angle_bins)},
                              {"smallest_angle", json_of(smallest, angle_bins)},
                              {"largest_angle", json_of(shape.largest_angle, angle_bins)}};
  report.row("radius ratio", "mean {:.3f}, worst {:.3g}, 1 % below {:.3g}, 5 % below {:.3g}", ratio.mean(), ratio.min(),
             ratio.percentile(0.01), ratio.percentile(0.05));
  report.row(corners == 3 ? "angles" : "dihedrals",
             "{:.1f}° … {:.1f}°; the smallest of each is {:.1f}° in the mean, 1 % below {:.1f}°", angles.min(),
             angles.max(), smallest.mean(), smallest.percentile(0.01));
}

Json pieces_of(const SurfaceTopology& topology) {
  constexpr std::size_t max_listed = 1000;
  Json pieces = Json::array();
  for (const SurfaceComponent& piece : topology.components) {
    if (pieces.size() == max_listed) break;
    pieces.push_back({{"first_triangle", piece.first.value},
                      {"triangles", piece.triangles},
                      {"vertices", piece.vertices},
                      {"boundary_edges", piece.boundary_edges},
                      {"euler_characteristic", piece.euler_characteristic()},
                      {"genus", value_or_null(piece.genus())},
                      {"area", piece.area},
                      {"volume", piece.volume}});
  }
  return pieces;
}

void report_surface(Report& report, const SurfaceTopology& topology, const std::optional<std::size_t>& crossings) {
  const std::size_t open = topology.boundary_edges.size(), shared = topology.non_manifold_edges.size();
  const std::size_t pinched = topology.non_manifold_vertices.size();
  report.object()["surface"] = {{"component_count", topology.components.size()},
                                {"closed", topology.closed()},
                                {"manifold", topology.manifold()},
                                {"oriented", topology.oriented()},
                                {"boundary_edges", open},
                                {"non_manifold_edges", shared},
                                {"non_manifold_vertices", pinched},
                                {"inconsistent_edges", topology.inconsistent_edges},
                                {"euler_characteristic", topology.euler_characteristic()},
                                {"genus", value_or_null(topology.genus())},
                                {"area", topology.area},
                                {"volume", topology.volume},
                                {"components", pieces_of(topology)},
                                {"self_intersections", value_or_null(crossings)}};
  std::vector<std::string> words{counted(topology.components.size(), "component", "components")};
  if (const auto genus = topology.genus()) words.push_back(fmt::format("genus {}", *genus));
  words.push_back(fmt::format("Euler number {}", topology.euler_characteristic()));
  words.push_back(topology.closed() ? "closed"
                  : open == 0       ? "no open edges"
                                    : counted(open, "open edge", "open edges"));
  const auto fault = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) words.push_back(counted(count, one, many));
  };
  fault(shared, "non-manifold edge", "non-manifold edges");
  fault(pinched, "non-manifold vertex", "non-manifold vertices");
  fault(topology.inconsistent_edges, "edge between opposite faces", "edges between opposite faces");
  report.row("topology", "{}", join_text(words, ", "));
  report.row("area", "{:.6g}{}", topology.area,
             topology.closed() && topology.oriented() ? fmt::format(", volume inside {:.6g}", topology.volume) : "");
  report.row("crossings", "{}",
             !crossings        ? "not counted (too many triangles, or too many near one another); say --report"
             : *crossings == 0 ? "none"
                               : counted(*crossings, "pair of triangles that meet", "pairs of triangles that meet"));
}

void report_distance(Report& report, const SurfaceDistance& distance) {
  const auto way = [&](const char* label, const DistanceStatistics& one) {
    report.row(label, "mean {:.3g}, 95 % within {:.3g}, at most {:.3g}", one.mean, one.percentile_95, one.max);
    return Json{{"samples", one.samples}, {"mean", one.mean}, {"percentile_95", one.percentile_95}, {"max", one.max}};
  };
  Json there = way("to isosurf.", distance.there), back = way("and back", distance.back);
  report.object()["distance"] = {
      {"to_isosurface", there}, {"from_isosurface", back}, {"hausdorff", distance.hausdorff()}};
}

/// One line a bin: its range, a bar and the share.
void add_histogram(Report& report, const char* title, const Distribution& values, std::size_t bins, const char* unit) {
  const auto counts = values.histogram(bins);
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  report.line(fmt::format("    {}", title));
  const double width = (values.high() - values.low()) / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    constexpr double longest_bar = 40;
    const auto here = static_cast<double>(counts[i]);
    const auto bar = static_cast<std::size_t>(std::ceil(longest_bar * here / static_cast<double>(most)));
    const double from = values.low() + width * static_cast<double>(i);
    report.line(fmt::format("      {:>5.4g} … {:<5} {:>6.2f} %  {:#<{}}", from,
                            fmt::format("{:.4g}{}", from + width, unit),
                            100 * here / static_cast<double>(values.count()), "", bar));
  }
}

}  // namespace

template <int Corners>
MeshQuality examine_quality(const SimplexMesh<Corners>& mesh, CrossingTest crossings, int threads,
                            const Progress& progress) {
  MeshQuality quality;
  quality.corners = Corners;
  quality.shape = shape_statistics(mesh, threads);
  if constexpr (Corners == 3) {
    quality.topology = surface_topology(mesh);
    const std::size_t triangles = mesh.element_count();
    // Ordinary triangles take 150 to 350 each.
    const std::uint64_t some_seconds = 200'000'000 + 500 * std::uint64_t{triangles};
    if (crossings == CrossingTest::always)
      quality.self_intersections = count_self_intersections(mesh, threads, progress, UINT64_MAX);
    else if (triangles <= max_triangles_tested)
      quality.self_intersections = count_self_intersections(mesh, threads, progress, some_seconds);
  }
  return quality;
}

template MeshQuality examine_quality<3>(const TriangleMesh&, CrossingTest, int, const Progress&);
template MeshQuality examine_quality<4>(const TetMesh&, CrossingTest, int, const Progress&);

void report_quality(Report& report, const MeshQuality& quality, Histograms histograms) {
  report_shape(report, quality.shape, quality.corners);
  if (quality.topology) report_surface(report, *quality.topology, quality.self_intersections);
  if (quality.distance) report_distance(report, *quality.distance);
  if (histograms == Histograms::hide) return;
  add_histogram(report, "radius ratios", quality.shape.radius_ratio, ratio_bins, "");
  add_histogram(report, quality.corners == 3 ? "angles" : "dihedral angles", quality.shape.angles, angle_bins, "°");
}

}  // namespace isochron::cli
