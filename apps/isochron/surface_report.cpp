#include <fmt/format.h>

#include "apps/isochron/json_text.h"
#include "apps/isochron/mesh_quality_report.h"
#include "apps/isochron/surface.h"
#include "apps/isochron/values.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

const char* name_of(SurfaceDifference::Kind kind) {
  switch (kind) {
    case SurfaceDifference::Kind::lost: return "lost";
    case SurfaceDifference::Kind::merged: return "merged";
    case SurfaceDifference::Kind::divided: return "divided";
    default: return "handles";
  }
}

Json summary_json(const SurfaceRequest& request, const SurfaceSummary& summary, const Console& console) {
  const ExtractedSurface& s = summary.surface;
  const TriangulateReport& t = s.triangulation;
  Json object{{"file", request.image.string()},
              {"vertices", s.mesh.vertex_count()},
              {"elements", s.mesh.element_count()},
              {"expected_particles", s.expected_particles},
              {"seeds", s.seeds},
              {"particles", s.particles},
              {"iterations", s.iterations.size()},
              {"converged", s.converged},
              {"energy", s.iterations.empty() ? Json(nullptr) : finite_or_null(s.iterations.back().energy)},
              {"repair", {{"added", t.added}, {"removed", t.removed}, {"moved", t.moved}, {"rounds", t.rounds}}},
              {"backend", name_of(s.backend)},
              {"threads", console.threads()},
              {"read_seconds", summary.read_seconds},
              {"field_seconds", summary.field_seconds},
              {"sizing_seconds", s.times.sizing},
              {"seeding_seconds", s.times.seeding},
              {"relaxing_seconds", s.times.relaxing},
              {"triangulating_seconds", s.times.triangulating},
              {"write_seconds", summary.write_seconds},
              {"peak_bytes", peak_resident_bytes()},
              {"written", file_names(summary.written)},
              {"warnings", console.warnings()}};
  add_quality(object, summary.quality);
  Json differences = Json::array();
  for (const SurfaceDifference& d : t.differences)
    differences.push_back({{"kind", name_of(d.kind)},
                           {"area", d.area},
                           {"place", {d.place.x, d.place.y, d.place.z}},
                           {"expected_euler", d.expected_euler},
                           {"found_euler", d.found_euler}});
  object["differences"] = std::move(differences);
  if (summary.tets) {
    Json tets{{"vertices", summary.tets->vertex_count()},
              {"elements", summary.tets->element_count()},
              {"seconds", summary.tetrahedra_seconds}};
    add_quality(tets, *summary.tet_quality);
    object["tetrahedra"] = std::move(tets);
  }
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
  console.say(fmt::format("  particles {} from {} seeds in {} iterations{}\n", grouped(s.particles), grouped(s.seeds),
                          s.iterations.size(), s.converged ? "" : " (not settled)"));
  console.say(fmt::format("  repair    {} added, {} removed, {} moved\n", grouped(s.triangulation.added),
                          grouped(s.triangulation.removed), grouped(s.triangulation.moved)));
  console.say(fmt::format(
      "  time      read {:.2f} s, distances {:.2f} s, sizes {:.2f} s, particles {:.2f} s, triangles {:.2f} s, write "
      "{:.2f} s\n",
      summary.read_seconds, summary.field_seconds, s.times.sizing + s.times.seeding, s.times.relaxing,
      s.times.triangulating, summary.write_seconds));
  std::string text;
  const Histograms histograms = request.report ? Histograms::show : Histograms::hide;
  append_quality(text, summary.quality, histograms);
  if (summary.tets) {
    text += fmt::format("  tetrahedra {} with {}, {:.2f} s\n", grouped(summary.tets->element_count()),
                        counted(summary.tets->vertex_count(), "vertex", "vertices"), summary.tetrahedra_seconds);
    append_quality(text, *summary.tet_quality, histograms);
  }
  console.say(text);
}

}  // namespace isochron::cli
