#include "apps/isochron/info_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/info_parts.h"
#include "apps/isochron/mesh_quality_report.h"
#include "apps/isochron/values.h"

namespace isochron::cli {
namespace {

Json json_of(const Vec3d& p) { return Json::array({p.x, p.y, p.z}); }

Json json_of(const MeshReport& report, const MeshQuality& quality, const char* elements) {
  Json result = {{"elements", elements},
                 {"element_count", report.elements},
                 {"inverted", report.inverted},
                 {"degenerate", report.degenerate},
                 {"duplicate_elements", report.duplicate_elements},
                 {"unreferenced_vertices", report.unreferenced_vertices},
                 {"duplicate_points", report.duplicate_points},
                 {"boundary_facets", report.boundary_facets},
                 {"non_manifold_facets", report.non_manifold_facets},
                 {"unmatched_facets", report.unmatched_facets},
                 {"components", report.components},
                 {"largest_component", report.largest_component},
                 {"max_valence", report.max_valence},
                 {"min_edge", report.min_edge},
                 {"mean_edge", report.mean_edge},
                 {"max_edge", report.max_edge},
                 {"min_quality", report.min_quality},
                 {"mean_quality", report.mean_quality},
                 {"obtuse_share", report.obtuse_share},
                 {"sound", report.sound()},
                 {"fmm_safe", report.obtuse_share == 0},
                 {"low", json_of(report.low)},
                 {"high", json_of(report.high)}};
  add_quality(result, quality);
  return result;
}

Json json_of(const FileInfo& info) {
  Json ignored = Json::object();
  for (const auto& [name, count] : info.ignored_cells) ignored[name] = count;
  Json arrays = Json::array();
  for (const ArraySummary& array : info.arrays) arrays.push_back(json_of(array));
  Json meshes = Json::array();
  if (info.tet_report) meshes.push_back(json_of(*info.tet_report, *info.tet_quality, "tet"));
  if (info.triangle_report) meshes.push_back(json_of(*info.triangle_report, *info.triangle_quality, "triangle"));
  const SolveChoices& choices = info.choices;
  return {{"file", info.file.string()},
          {"points", info.points},
          {"triangles", info.triangles},
          {"tetrahedra", info.tets},
          {"lines", info.lines},
          {"ignored_cells", std::move(ignored)},
          {"arrays", std::move(arrays)},
          {"meshes", std::move(meshes)},
          {"choices",
           {{"speed_array", choices.speed_array},
            {"possible_speed_array", choices.possible_speed_array},
            {"tensor_array", choices.tensor_array},
            {"fibers", choices.fibers},
            {"region_array", choices.region_array},
            {"source_tag", choices.source_tag},
            {"source_levelset", choices.source_levelset}}},
          {"warnings", info.warnings}};
}

/// What a kind of element and its boundary are called.
struct ElementWords {
  const char *element, *elements, *facet, *facets;
};
constexpr ElementWords tet_words{"tetrahedron", "tetrahedra", "face", "faces"};
constexpr ElementWords triangle_words{"triangle", "triangles", "edge", "edges"};

void append_counts(std::string& text, const MeshReport& report, const ElementWords& words) {
  std::vector<std::string> faults;
  const auto fault = [&](std::size_t count, const std::string& one, const std::string& many) {
    if (count > 0) faults.push_back(counted(count, one, many));
  };
  fault(report.degenerate, "degenerate", "degenerate");
  fault(report.duplicate_elements, "duplicate", "duplicate");
  fault(report.inverted, "inverted (harmless)", "inverted (harmless)");
  fault(report.non_manifold_facets, fmt::format("non-manifold {}", words.facet),
        fmt::format("non-manifold {}", words.facets));
  fault(report.unmatched_facets, fmt::format("unmatched {}", words.facet), fmt::format("unmatched {}", words.facets));
  fault(report.duplicate_points, "point in the place of another", "points in the place of another");
  fault(report.unreferenced_vertices, "point without an element", "points without an element");
  text += fmt::format("    checks       {}\n",
                      faults.empty() ? "nothing wrong" : fmt::format("{}", fmt::join(faults, ", ")));
}

void append_report(std::string& text, const MeshReport& report, const MeshQuality& quality, Histograms histograms,
                   const ElementWords& words) {
  text += fmt::format("  {}\n", counted(report.elements, words.element, words.elements));
  text += fmt::format("    box          {:.6g} … {:.6g},  {:.6g} … {:.6g},  {:.6g} … {:.6g}\n", report.low.x,
                      report.high.x, report.low.y, report.high.y, report.low.z, report.high.z);
  text += fmt::format("    edges        {:.4g} … {:.4g}, mean {:.4g}\n", report.min_edge, report.max_edge,
                      report.mean_edge);
  text += fmt::format("    quality      worst {:.3g}, mean {:.3g} (1 is equilateral)\n", report.min_quality,
                      report.mean_quality);
  text += fmt::format("    parts        {}, the largest with {}; at most {} at a vertex\n", grouped(report.components),
                      counted(report.largest_component, "vertex", "vertices"), report.max_valence);
  text += fmt::format("    boundary     {}\n", counted(report.boundary_facets, words.facet, words.facets));
  append_counts(text, report, words);
  text += fmt::format(
      "    obtuse       {:.1f} % of the elements{}\n", 100 * report.obtuse_share,
      report.obtuse_share == 0 ? ": --method fmm is safe with any speed" : ": --method fmm needs --hand-over");
  append_quality(text, quality, histograms);
}

/// "1 (5,000 times), 2 (3,000), and 8 more".
std::string values_of(const ArraySummary& array) {
  std::vector<std::string> parts;
  for (const auto& [value, count] : array.values)
    parts.push_back(
        fmt::format("{:g} ({}{})", value, grouped(count), parts.empty() ? (count == 1 ? " time" : " times") : ""));
  if (array.distinct > array.values.size())
    parts.push_back(fmt::format("and {} more", grouped(array.distinct - array.values.size())));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void append_choices(std::string& text, const FileInfo& info) {
  if (!info.tet_report && !info.triangle_report) {
    text += "  nothing can be solved here: there are no triangles and no tetrahedra\n";
    return;
  }
  const auto line = [&](const char* option, const std::vector<std::string>& names) {
    if (!names.empty()) text += fmt::format("    {:<46} {}\n", option, fmt::join(names, ", "));
  };
  text += "  isochron solve can use\n    --speed S\n";
  line("--speed-array", info.choices.speed_array);
  line("--speed-array, if it is a speed:", info.choices.possible_speed_array);
  line("--metric-array, --velocity-tensor-array", info.choices.tensor_array);
  line("--fibers, --sheets", info.choices.fibers);
  line("--region-array", info.choices.region_array);
  line("--source-tag NAME=VALUE", info.choices.source_tag);
  line("--source-levelset", info.choices.source_levelset);
  if (info.tet_report && info.triangle_report) text += "    --elements tet (default) or triangle\n";
}

std::string text_of(const FileInfo& info) {
  std::string text = fmt::format("{}: {}", info.file.string(), counted(info.points, "point", "points"));
  if (info.lines > 0) text += ", " + counted(info.lines, "line", "lines");
  text += "\n";
  const Histograms histograms = info.full_report ? Histograms::show : Histograms::hide;
  if (info.tet_report) append_report(text, *info.tet_report, *info.tet_quality, histograms, tet_words);
  if (info.triangle_report)
    append_report(text, *info.triangle_report, *info.triangle_quality, histograms, triangle_words);
  for (const auto& [name, count] : info.ignored_cells)
    text += fmt::format("  left out: {} of kind {}\n", grouped(count), name);
  append_arrays(text, info.arrays);
  append_choices(text, info);
  return text;
}

}  // namespace

Json json_of(const ArraySummary& array) {
  Json values = Json::array();
  for (const auto& [value, count] : array.values) values.push_back({{"value", value}, {"count", count}});
  return {{"name", array.name},
          {"on", array.on},
          {"type", array.type},
          {"components", array.components},
          {"tuples", array.tuples},
          {"min", finite_or_null(array.low)},
          {"max", finite_or_null(array.high)},
          {"not_finite", array.not_finite},
          {"distinct", array.distinct > 0 ? Json(array.distinct) : Json(nullptr)},
          {"values", std::move(values)}};
}

void append_arrays(std::string& text, const std::vector<ArraySummary>& arrays) {
  if (arrays.empty()) {
    text += "  no arrays\n";
    return;
  }
  text += "  arrays\n";
  std::size_t width = 0;
  for (const ArraySummary& array : arrays) width = std::max(width, array.name.size());
  for (const ArraySummary& array : arrays) {
    const std::string type = array.components > 1 ? fmt::format("{} × {}", array.type, array.components) : array.type;
    text += fmt::format("    {:<{}}  {:<10}  {:<11}  ", array.name, width, array.on, type);
    text += array.low <= array.high ? fmt::format("{:.6g} … {:.6g}", array.low, array.high) : "no finite value";
    if (array.not_finite > 0) text += fmt::format(", {} not finite", grouped(array.not_finite));
    text += "\n";
    if (!array.values.empty()) text += fmt::format("    {:<{}}  values {}\n", "", width, values_of(array));
  }
}

void print_infos(const std::vector<std::variant<FileInfo, ImageInfo>>& infos, const Console& console) {
  if (console.options.json) {
    Json files = Json::array();
    for (const auto& info : infos) files.push_back(std::visit([](const auto& i) { return json_of(i); }, info));
    print_json({{"files", std::move(files)}}, console);
    return;
  }
  for (const auto& info : infos) console.say(std::visit([](const auto& i) { return text_of(i); }, info));
}

void print_formats(const std::vector<Format>& meshes, const std::vector<ImageFormat>& images, const Console& console) {
  if (console.options.json) {
    Json list = Json::array();
    for (const Format& format : meshes) {
      list.push_back({{"name", format.name},
                      {"extensions", format.extensions},
                      {"reads", format.reads},
                      {"writes", format.writes},
                      {"keeps_arrays", format.keeps_arrays},
                      {"some_arrays", format.some_arrays}});
    }
    Json image_list = Json::array();
    for (const ImageFormat& format : images) {
      image_list.push_back({{"name", format.name},
                            {"extensions", format.extensions},
                            {"reads", format.reads},
                            {"writes", format.writes},
                            {"many_arrays", format.many_arrays}});
    }
    print_json({{"formats", std::move(list)}, {"image_formats", std::move(image_list)}}, console);
    return;
  }
  const auto line = [&](const auto& format, const std::string& limits) {
    console.say(fmt::format("{:<24} {}{}  {}{}\n", format.name, format.reads ? "read " : "     ",
                            format.writes ? "write" : "     ", fmt::join(format.extensions, " "), limits));
  };
  for (const Format& format : meshes) {
    const std::string kept = format.some_arrays.empty()
                                 ? "  (arrays are not kept)"
                                 : fmt::format("  (arrays kept: {})", fmt::join(format.some_arrays, ", "));
    line(format, format.keeps_arrays ? "" : kept);
  }
  console.say("images\n");
  for (const ImageFormat& format : images) line(format, format.many_arrays ? "" : "  (one array)");
}

}  // namespace isochron::cli
