#include <fmt/format.h>

#include "apps/isochron/surface_parts_report.h"
#include "apps/isochron/values.h"

namespace isochron::cli {
namespace {

Json summary_json(const SurfaceRequest& request, const SurfaceSummary& summary, const Console& console) {
  const ExtractedSurface& s = summary.surface;
  Json object = common_json(request, summary, s.mesh, s.triangulation, s.times, console);
  object["expected_particles"] = s.expected_particles;
  object["seeds"] = s.seeds;
  object["particles"] = s.particles;
  object["iterations"] = s.iterations.size();
  object["converged"] = s.converged;
  object["energy"] = s.iterations.empty() ? Json(nullptr) : finite_or_null(s.iterations.back().energy);
  object["backend"] = name_of(s.backend);
  Json differences = Json::array();
  for (const SurfaceDifference& one : s.triangulation.differences) differences.push_back(difference_json(one));
  object["differences"] = std::move(differences);
  if (summary.tets) add_tetrahedra(object, *summary.tets, summary);
  return object;
}

}  // namespace

void print_summary(const SurfaceRequest& request, const SurfaceSummary& summary, const Console& console) {
  if (console.options.json) return print_json(summary_json(request, summary, console), console);
  const ExtractedSurface& s = summary.surface;
  const std::string filling =
      summary.tets ? ", " + counted(summary.tets->element_count(), "tetrahedron", "tetrahedra") : "";
  console.say(fmt::format("{}: {}, {}{}\n", request.output.string(),
                          counted((summary.tets ? summary.tets->points : s.mesh.points).size(), "vertex", "vertices"),
                          counted(s.mesh.element_count(), "triangle", "triangles"), filling));
  console.say(fmt::format("  particles {} from {} in {}{}\n", grouped(s.particles), counted(s.seeds, "seed", "seeds"),
                          counted(s.iterations.size(), "iteration", "iterations"),
                          s.converged ? "" : " (not settled)"));
  console.say(fmt::format("  repair    {} added, {} removed, {} moved\n", grouped(s.triangulation.added),
                          grouped(s.triangulation.removed), grouped(s.triangulation.moved)));
  console.say(fmt::format(
      "  time      read {:.2f} s, distances {:.2f} s, sizes {:.2f} s, particles {:.2f} s, triangles {:.2f} s, write "
      "{:.2f} s\n",
      summary.read_seconds, summary.field_seconds, s.times.sizing + s.times.seeding, s.times.relaxing,
      s.times.triangulating, summary.write_seconds));
  std::string text;
  append_shapes(text, request, summary, summary.tets ? &*summary.tets : nullptr);
  console.say(text);
}

}  // namespace isochron::cli
