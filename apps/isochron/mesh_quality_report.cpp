#include "apps/isochron/mesh_quality_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/values.h"

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

Json json_of(const std::optional<long>& genus) { return genus ? Json(*genus) : Json(nullptr); }

Json json_of(const SurfaceTopology& topology) {
  constexpr std::size_t max_listed = 1000;
  Json pieces = Json::array();
  for (const SurfaceComponent& piece : topology.components) {
    if (pieces.size() == max_listed) break;
    pieces.push_back({{"first_triangle", piece.first.value},
                      {"triangles", piece.triangles},
                      {"vertices", piece.vertices},
                      {"boundary_edges", piece.boundary_edges},
                      {"euler_characteristic", piece.euler_characteristic()},
                      {"genus", json_of(piece.genus())},
                      {"area", piece.area},
                      {"volume", piece.volume}});
  }
  return {{"component_count", topology.components.size()},
          {"closed", topology.closed()},
          {"manifold", topology.manifold()},
          {"oriented", topology.oriented()},
          {"boundary_edges", topology.boundary_edges.size()},
          {"non_manifold_edges", topology.non_manifold_edges.size()},
          {"non_manifold_vertices", topology.non_manifold_vertices.size()},
          {"inconsistent_edges", topology.inconsistent_edges},
          {"euler_characteristic", topology.euler_characteristic()},
          {"genus", json_of(topology.genus())},
          {"area", topology.area},
          {"volume", topology.volume},
          {"components", std::move(pieces)}};
}

Json json_of(const DistanceStatistics& distance) {
  return {{"samples", distance.samples},
          {"mean", distance.mean},
          {"percentile_95", distance.percentile_95},
          {"max", distance.max}};
}

void append_shape(std::string& text, const MeshQuality& quality) {
  const Distribution& ratio = quality.shape.radius_ratio;
  text += fmt::format("    radius ratio mean {:.3f}, worst {:.3g}, 1 % below {:.3g}, 5 % below {:.3g}\n", ratio.mean(),
                      ratio.min(), ratio.percentile(0.01), ratio.percentile(0.05));
  const Distribution& angles = quality.shape.angles;
  text += fmt::format("    {} {:.1f}° … {:.1f}°; the smallest of each is {:.1f}° in the mean, 1 % below {:.1f}°\n",
                      quality.corners == 3 ? "angles      " : "dihedrals   ", angles.min(), angles.max(),
                      quality.shape.smallest_angle.mean(), quality.shape.smallest_angle.percentile(0.01));
}

void append_surface(std::string& text, const SurfaceTopology& topology) {
  std::vector<std::string> words{counted(topology.components.size(), "component", "components")};
  const auto genus = topology.genus();
  if (genus) words.push_back(fmt::format("genus {}", *genus));
  words.push_back(fmt::format("Euler number {}", topology.euler_characteristic()));
  const std::size_t open = topology.boundary_edges.size();
  words.push_back(topology.closed() ? "closed"
                  : open == 0       ? "no open edges"
                                    : counted(open, "open edge", "open edges"));
  const auto fault = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) words.push_back(counted(count, one, many));
  };
  fault(topology.non_manifold_edges.size(), "non-manifold edge", "non-manifold edges");
  fault(topology.non_manifold_vertices.size(), "non-manifold vertex", "non-manifold vertices");
  fault(topology.inconsistent_edges, "edge between opposite faces", "edges between opposite faces");
  text += fmt::format("    topology     {}\n", fmt::join(words, ", "));
  text += fmt::format("    area         {:.6g}", topology.area);
  if (topology.closed() && topology.oriented()) text += fmt::format(", volume inside {:.6g}", topology.volume);
  text += "\n";
}

void append_distance(std::string& text, const SurfaceDistance& distance) {
  const auto way = [&](const char* words, const DistanceStatistics& one) {
    text += fmt::format("    {} mean {:.3g}, 95 % within {:.3g}, at most {:.3g}\n", words, one.mean, one.percentile_95,
                        one.max);
  };
  way("to isosurf. ", distance.there);
  way("and back    ", distance.back);
}

/// One line a bin: its range, a bar and the share.
void append_histogram(std::string& text, const char* title, const Distribution& values, std::size_t bins,
                      const char* unit) {
  const auto counts = values.histogram(bins);
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  text += fmt::format("    {}\n", title);
  const double width = (values.high() - values.low()) / static_cast<double>(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    constexpr double longest_bar = 40;
    const auto here = static_cast<double>(counts[i]);
    const auto bar = static_cast<std::size_t>(std::ceil(longest_bar * here / static_cast<double>(most)));
    const double from = values.low() + width * static_cast<double>(i);
    text +=
        fmt::format("      {:>5.4g} … {:<5} {:>6.2f} %  {:#<{}}\n", from, fmt::format("{:.4g}{}", from + width, unit),
                    100 * here / static_cast<double>(values.count()), "", bar);
  }
}

}  // namespace

void append_quality(std::string& text, const MeshQuality& quality, Histograms histograms) {
  append_shape(text, quality);
  if (quality.topology) {
    append_surface(text, *quality.topology);
    text += fmt::format(
        "    crossings    {}\n",
        !quality.self_intersections ? std::string("not looked for among so many triangles; say --report")
        : *quality.self_intersections == 0
            ? std::string("none")
            : counted(*quality.self_intersections, "pair of triangles that meet", "pairs of triangles that meet"));
  }
  if (quality.distance) append_distance(text, *quality.distance);
  if (histograms == Histograms::hide) return;
  append_histogram(text, "radius ratios", quality.shape.radius_ratio, ratio_bins, "");
  append_histogram(text, quality.corners == 3 ? "angles" : "dihedral angles", quality.shape.angles, angle_bins, "°");
}

void add_quality(Json& report, const MeshQuality& quality) {
  report["shape"] = {{"radius_ratio", json_of(quality.shape.radius_ratio, ratio_bins)},
                     {"aspect", json_of(quality.shape.aspect, ratio_bins)},
                     {quality.corners == 3 ? "angles" : "dihedral_angles", json_of(quality.shape.angles, angle_bins)},
                     {"smallest_angle", json_of(quality.shape.smallest_angle, angle_bins)},
                     {"largest_angle", json_of(quality.shape.largest_angle, angle_bins)}};
  if (quality.topology) {
    report["surface"] = json_of(*quality.topology);
    report["surface"]["self_intersections"] =
        quality.self_intersections ? Json(*quality.self_intersections) : Json(nullptr);
  }
  if (quality.distance)
    report["distance"] = {{"to_isosurface", json_of(quality.distance->there)},
                          {"from_isosurface", json_of(quality.distance->back)},
                          {"hausdorff", quality.distance->hausdorff()}};
}

}  // namespace isochron::cli
