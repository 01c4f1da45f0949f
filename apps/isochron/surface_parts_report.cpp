#include "apps/isochron/surface_parts_report.h"

#include <fmt/format.h>

#include "apps/isochron/mesh_quality_report.h"
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

}  // namespace

Json common_json(const SurfaceRequest& request, const CommonSummary& summary, const TriangleMesh& mesh,
                 const TriangulateReport& t, const ExtractTimes& times, const Console& console) {
  Json object{{"file", request.image.string()},
              {"vertices", mesh.vertex_count()},
              {"elements", mesh.element_count()},
              {"repair", {{"added", t.added}, {"removed", t.removed}, {"moved", t.moved}, {"rounds", t.rounds}}},
              {"threads", console.threads()},
              {"read_seconds", summary.read_seconds},
              {"field_seconds", summary.field_seconds},
              {"sizing_seconds", times.sizing},
              {"seeding_seconds", times.seeding},
              {"relaxing_seconds", times.relaxing},
              {"triangulating_seconds", times.triangulating},
              {"write_seconds", summary.write_seconds},
              {"peak_bytes", peak_resident_bytes()},
              {"written", file_names(summary.written)},
              {"warnings", console.warnings()}};
  add_quality(object, summary.quality);
  return object;
}

Json difference_json(const SurfaceDifference& d) {
  return {{"kind", name_of(d.kind)},
          {"area", d.area},
          {"place", {d.place.x, d.place.y, d.place.z}},
          {"expected_euler", d.expected_euler},
          {"found_euler", d.found_euler}};
}

void add_tetrahedra(Json& object, const TetMesh& mesh, const CommonSummary& summary) {
  Json tets{
      {"vertices", mesh.vertex_count()}, {"elements", mesh.element_count()}, {"seconds", summary.tetrahedra_seconds}};
  add_quality(tets, *summary.tet_quality);
  object["tetrahedra"] = std::move(tets);
}

void append_shapes(std::string& text, const SurfaceRequest& request, const CommonSummary& summary,
                   const TetMesh* tets) {
  const Histograms histograms = request.report ? Histograms::show : Histograms::hide;
  append_quality(text, summary.quality, histograms);
  if (tets == nullptr) return;
  text += fmt::format("  tetrahedra {} with {}, {:.2f} s\n", grouped(tets->element_count()),
                      counted(tets->vertex_count(), "vertex", "vertices"), summary.tetrahedra_seconds);
  append_quality(text, *summary.tet_quality, histograms);
}

}  // namespace isochron::cli
