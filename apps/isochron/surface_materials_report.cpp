#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/isochron/surface_parts_report.h"
#include "apps/isochron/values.h"
#include "isochron/mesh/closest_point.h"

namespace isochron::cli {
namespace {

/// Triangles between two labels, the smaller first.
struct Interface {
  std::size_t triangles = 0;
  double area = 0;
};

std::map<std::pair<std::int32_t, std::int32_t>, Interface> interfaces(const ExtractedMaterials& surface) {
  std::map<std::pair<std::int32_t, std::int32_t>, Interface> result;
  for (std::size_t t = 0; t < surface.sides.size(); ++t) {
    Interface& one = result[std::minmax(surface.sides[t].behind, surface.sides[t].before)];
    const auto x = corner_points(surface.mesh, ElementId(t));
    one.area += 0.5 * norm(cross(x[1] - x[0], x[2] - x[0]));
    ++one.triangles;
  }
  return result;
}

Json materials_json(const MaterialsSummary& summary) {
  Json result = Json::array();
  for (std::size_t m = 0; m < summary.borders.size(); ++m) {
    const SurfaceTopology& border = summary.borders[m];
    const auto genus = border.genus();
    result.push_back({{"label", summary.surface.materials[m]},
                      {"closed", border.closed()},
                      {"manifold", border.manifold()},
                      {"oriented", border.oriented()},
                      {"components", border.components.size()},
                      {"genus", genus ? Json(*genus) : Json(nullptr)},
                      {"area", border.area},
                      {"volume", border.volume}});
  }
  return result;
}

Json differences_json(const ExtractedMaterials& surface) {
  Json result = Json::array();
  for (const MaterialDifference& one : surface.differences) {
    result.push_back(difference_json(one.border));
    result.back()["label"] = one.material;
  }
  return result;
}

Json summary_json(const SurfaceRequest& request, const MaterialsSummary& summary, const Console& console) {
  const ExtractedMaterials& s = summary.surface;
  Json object = common_json(request, summary, s.mesh, s.triangulation, s.times, console);
  object["expected_particles"] = s.expected_particles;
  object["samples"] = s.samples;
  object["junction_samples"] = s.junction_samples;
  object["comparing_seconds"] = s.times.comparing;
  object["materials"] = materials_json(summary);
  object["differences"] = differences_json(s);
  Json between = Json::array();
  for (const auto& [pair, one] : interfaces(s))
    between.push_back({{"labels", {pair.first, pair.second}}, {"triangles", one.triangles}, {"area", one.area}});
  object["interfaces"] = std::move(between);
  if (summary.filled) add_tetrahedra(object, summary.filled->mesh, summary);
  return object;
}

}  // namespace

void print_summary(const SurfaceRequest& request, const MaterialsSummary& summary, const Console& console) {
  if (console.options.json) return print_json(summary_json(request, summary, console), console);
  const ExtractedMaterials& s = summary.surface;
  const std::string filling =
      summary.filled ? counted(summary.filled->mesh.element_count(), "tetrahedron", "tetrahedra") + ", " : "";
  const auto vertices = (summary.filled ? summary.filled->mesh.points : s.mesh.points).size();
  std::string text = fmt::format("{}: {}, {}{} between {} and outside\n", request.output.string(),
                                 counted(vertices, "vertex", "vertices"), filling,
                                 counted(s.mesh.element_count(), "triangle", "triangles"),
                                 counted(s.materials.size(), "material", "materials"));
  text += fmt::format("  points    {}, {} of them on junctions; repair: {} added, {} removed, {} moved\n",
                      grouped(s.samples), grouped(s.junction_samples), grouped(s.triangulation.added),
                      grouped(s.triangulation.removed), grouped(s.triangulation.moved));
  text += fmt::format(
      "  time      read {:.2f} s, fields {:.2f} s, sizes {:.2f} s, points {:.2f} s, particles {:.2f} s, triangles "
      "{:.2f} s, write {:.2f} s\n",
      summary.read_seconds, summary.field_seconds, s.times.sizing, s.times.seeding, s.times.relaxing,
      s.times.triangulating, summary.write_seconds);
  for (std::size_t m = 0; m < summary.borders.size(); ++m) {
    const SurfaceTopology& border = summary.borders[m];
    text += fmt::format("  material  {}: {}{}, area {:.6g}, volume {:.6g}\n", s.materials[m],
                        counted(border.components.size(), "component", "components"),
                        border.closed() && border.manifold() ? "" : " (not closed)", border.area, border.volume);
  }
  append_shapes(text, request, summary, summary.filled ? &summary.filled->mesh : nullptr);
  console.say(text);
}

}  // namespace isochron::cli
