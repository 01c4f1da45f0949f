// isochron surface: a triangle mesh of an object in an image by a particle system, or of the surfaces between all
// materials of a label map.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "apps/isochron/commands.h"
#include "apps/isochron/mesh_quality.h"
#include "apps/isochron/shared_output.h"
#include "isochron/core/delimited_text.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/surface.h"
#include "isochron/surface/field/label_smoothing.h"
#include "isochron/surface/option_tables.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/tetrahedra.h"
#if defined(ISOCHRON_WITH_VTK)
#include "isochron/draw.h"
#endif

namespace isochron::cli {
namespace {

struct SurfaceRequest {
  std::filesystem::path image;
  RawRequest raw;
  std::string array;  ///< of an image with several; empty: the first
  std::optional<double> isovalue;
  std::vector<std::int32_t> labels;
  std::optional<std::set<std::int32_t>> materials;  ///< for a mesh of them all; empty set: all there are
  std::vector<std::string> of_varying_sizes;        ///< options given that say how edge lengths vary
  std::filesystem::path output;
  std::filesystem::path picture;
  FieldOptions field;
  ExtractOptions extract;
  std::optional<std::vector<double>> size_range;
  std::optional<TetProgram> tetrahedra;
  bool boundary = false;  ///< triangles beside the tetrahedra
  bool report = false;
  Overwrite overwrite = Overwrite::no;
};

/// The array with one value a voxel that the surface is taken from.
const DataArray& chosen_array(const Image& image, const SurfaceRequest& request) {
  const std::string file = request.image.string();
  if (image.data.empty()) throw InputError("holds no values; give an image that does", file);
  const DataArray* array = &image.data.all().front();
  if (!request.array.empty()) {
    array = image.data.find(request.array);
    if (array == nullptr)
      throw InputError(
          fmt::format("there is no array '{}'; there are: {}", request.array, join_text(image.data.names(), ", ")),
          file);
  }
  if (array->components != 1)
    throw InputError(
        fmt::format("{} values a voxel, but a surface needs one; take one volume out of it first", array->components),
        file);
  return *array;
}

/// Its values as labels; `no_number` for those that are not finite, with a warning.
std::vector<std::int32_t> as_labels(const DataArray& array, const std::string& file, std::int32_t no_number,
                                    Console& console) {
  std::vector<std::int32_t> labels(array.tuple_count());
  std::size_t not_finite = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double value = array.at(i);
    const bool whole = value == std::round(value) && std::abs(value) <= std::numeric_limits<std::int32_t>::max();
    if (!whole && std::isfinite(value))
      throw InputError(fmt::format("is no label map (voxel {} is {}); use --isovalue", i, value), file);
    labels[i] = whole ? static_cast<std::int32_t>(value) : no_number;
    not_finite += whole ? 0 : 1;
  }
  if (not_finite > 0) console.warn("{}: {} voxels are not finite: they count as outside", file, not_finite);
  return labels;
}

/// "the component of area … is lost", for a warning.
std::string described(const SurfaceDifference& d) {
  using Kind = SurfaceDifference::Kind;
  const std::string what = d.kind == Kind::lost     ? "is lost"
                           : d.kind == Kind::merged ? "is joined to another"
                           : d.kind == Kind::divided
                               ? "fell into several"
                               : fmt::format("has another number of handles (Euler characteristic {}, was {})",
                                             d.found_euler, d.expected_euler);
  return fmt::format("the component of area {:.3g} at {:.4g},{:.4g},{:.4g} {}", d.area, d.place.x, d.place.y, d.place.z,
                     what);
}

/// Warns of the first few of some lines about what the mesh does not show as the image does.
void warn_of_differences(const SurfaceRequest& request, const std::vector<std::string>& lines, Console& console) {
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    console.warn("{}: {}; smaller triangles may keep it", request.image.string(), lines[i]);
  if (lines.size() > most)
    console.warn("{}: {} more differ from the image like this (--json has all)", request.image.string(),
                 counted(lines.size() - most, "component", "components"));
}

/// Which part of the time a stage takes, measured on real images; of others nothing is known.
PartOfWork part_of_stage(const std::string& name, bool materials, double seconds) {
  struct Stage {
    const char* name;
    double end;
  };
  static constexpr Stage of_materials[] = {{"fields", 0.06}, {"sizes", 0.17},     {"estimate", 0.19},
                                           {"points", 0.26}, {"particles", 0.62}, {"triangles", 0.94},
                                           {"comparison", 1}};
  static constexpr Stage of_one_object[] = {{"sizes", 0.07}, {"particles", 0.58}, {"triangles", 1}};
  double begin = 0;
  for (const Stage& stage : materials ? std::span<const Stage>(of_materials) : std::span<const Stage>(of_one_object)) {
    if (stage.name == name) return {begin, stage.end, seconds};
    begin = stage.end;
  }
  return {};
}

/// Shows the name of each stage while it runs, and when all of them may be done.
void show_stages(const Console& console, bool materials, ExtractOptions& options) {
  const auto activity = std::make_shared<std::unique_ptr<Activity>>();
  options.begin_stage = [activity, materials, &console, timer = Timer()](const std::string& stage) {
    activity->reset();
    *activity = std::make_unique<Activity>(console, stage, part_of_stage(stage, materials, timer.seconds()));
    return (*activity)->progress();
  };
  options.particles.watch = [activity, count = 0](const RelaxIteration& iteration) mutable {
    (*activity)->detail(fmt::format(
        "iteration {}, {}, energy {:.4f}", ++count,
        counted(iteration.particles + iteration.added - iteration.deleted, "particle", "particles"), iteration.energy));
  };
}

ImplicitSurface make_field(const SurfaceRequest& request, const Image& image, Console& console) {
  Activity activity(console, "distances");
  const DataArray& array = chosen_array(image, request);
  FieldOptions options = request.field;
  options.threads = console.threads();
  options.backend = request.extract.backend;
  options.reach = needed_reach(image.grid, request.extract.sizing, options.reach);
  if (!request.labels.empty())
    return from_labels(image.grid, as_labels(array, request.image.string(), no_label, console),
                       std::set<std::int32_t>(request.labels.begin(), request.labels.end()), options,
                       activity.progress());
  std::vector<float> values(array.tuple_count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(array.at(i));
  return from_isovalue(image.grid, values, *request.isovalue, options, activity.progress());
}

/// The options of the command for the stages of the work.
ExtractOptions extract_options(const SurfaceRequest& request, const Console& console) {
  ExtractOptions options = request.extract;
  options.threads = console.threads();
  if (request.report) options.isosurface = ExtractOptions::Isosurface::fine;
  show_stages(console, request.materials.has_value(), options);
  return options;
}

/// The sizes of a surface in the world for the tetrahedra inside it too.
TetOptions tet_options(const SurfaceRequest& request, const TriangleMesh& surface, const SizeField& sizes,
                       const LatticeFrame& frame) {
  const auto [low, high] = box_of(surface.points);
  TetOptions options;
  options.program = *request.tetrahedra;
  options.sizes = sample_sizes(low, high, [&, view = sizes.view()](Vec3d p) { return view.size(frame.to_lattice(p)); });
  return options;
}

/// Tetrahedra inside the surface, when they are asked for. `sides` are those of materials, else empty.
std::optional<FilledSurface> fill(const SurfaceRequest& request, const auto& surface, const LatticeFrame& frame,
                                  const std::vector<RegionSides>& sides, const Console& console) {
  if (!request.tetrahedra) return std::nullopt;
  Activity activity(console, "tetrahedra");
  const TetOptions options = tet_options(request, surface.mesh, surface.size_field, frame);
  return sides.empty() ? tetrahedralize(surface.mesh, options, activity.progress())
                       : tetrahedralize_regions(surface.mesh, sides, options, activity.progress());
}

MeshQuality examine(const SurfaceRequest& request, const TriangleMesh& mesh, const TriangleMesh& isosurface,
                    const Console& console) {
  Activity activity(console, "examining the mesh");
  MeshQuality quality = examine_quality(mesh, request.report ? CrossingTest::always : CrossingTest::small_meshes,
                                        console.threads(), activity.progress());
  if (request.report) quality.distance = surface_distance(mesh, isosurface, console.threads(), activity.progress());
  return quality;
}

Dataset dataset_of(const auto& surface, const std::optional<FilledSurface>& filled,
                   const std::optional<RegionBoundary>& boundary) {
  constexpr bool materials = std::is_same_v<std::decay_t<decltype(surface)>, ExtractedMaterials>;
  Dataset dataset;
  if (filled) {
    dataset.points = filled->mesh.points.copy();
    dataset.tets.cells = filled->mesh.elements.copy();
    if (materials || boundary) dataset.tets.data.set({"region", 1, filled->region});
    if (boundary) {
      dataset.triangles.cells = boundary->triangles;
      // The number that Gmsh, CARP and Medit files have of each cell.
      dataset.triangles.data.set({"region", 1, boundary->tag});
      dataset.triangles.data.set({"region_a", 1, boundary->region_a});
      dataset.triangles.data.set({"region_b", 1, boundary->region_b});
    }
    return dataset;
  }
  dataset.points = surface.mesh.points.copy();
  dataset.triangles.cells = surface.mesh.elements.copy();
  if constexpr (materials) {
    std::vector<std::int32_t> inside, outside;
    for (const RegionSides& sides : surface.sides) {
      inside.push_back(sides.behind);
      outside.push_back(sides.before);
    }
    dataset.triangles.data.set({"material_inside", 1, std::move(inside)});
    dataset.triangles.data.set({"material_outside", 1, std::move(outside)});
  }
  dataset.point_data.set({"size", 1, std::vector<float>(surface.sizes.begin(), surface.sizes.end())});
  return dataset;
}

const char* name_of(SurfaceDifference::Kind kind) {
  switch (kind) {
    case SurfaceDifference::Kind::lost: return "lost";
    case SurfaceDifference::Kind::merged: return "merged";
    case SurfaceDifference::Kind::divided: return "divided";
    default: return "handles";
  }
}

Json difference_json(const SurfaceDifference& d) {
  return {{"kind", name_of(d.kind)},
          {"area", d.area},
          {"place", json_of(d.place)},
          {"expected_euler", d.expected_euler},
          {"found_euler", d.found_euler}};
}

void write_quality_picture(const SurfaceRequest& request, const TriangleMesh& surface, const FilledSurface* filled) {
#if defined(ISOCHRON_WITH_VTK)
  PictureOptions options;
  options.title = request.output.filename().string();
  options.overwrite = request.overwrite;
  if (filled != nullptr) draw_quality(request.picture, filled->mesh, options, interruptible());
  else draw_quality(request.picture, surface, options, interruptible());
#else
  static_cast<void>(request), static_cast<void>(surface), static_cast<void>(filled);
#endif
}

/// Shapes, topology and distances of the triangles and, where there are some, tetrahedra.
void report_shapes(Report& report, const SurfaceRequest& request, const MeshQuality& quality,
                   const std::optional<FilledSurface>& filled, double tetrahedra_seconds, const Console& console) {
  const Histograms histograms = request.report ? Histograms::show : Histograms::hide;
  Report triangles = mesh_report();
  report_quality(triangles, quality, histograms);
  report.append(triangles);
  if (!filled) return;
  const TetMesh& mesh = filled->mesh;
  Report tets = mesh_report();
  tets.add({{"vertices", mesh.vertex_count()}, {"elements", mesh.element_count()}, {"seconds", tetrahedra_seconds}});
  tets.line(fmt::format("  tetrahedra {} with {}, {:.2f} s", grouped(mesh.element_count()),
                        counted(mesh.vertex_count(), "vertex", "vertices"), tetrahedra_seconds));
  report_quality(tets, examine_quality(mesh, CrossingTest::small_meshes, console.threads()), histograms);
  report.object()["tetrahedra"] = tets.object();
  report.text() += tets.text();
}

/// What only the mesh of one object has to say.
void report_own(Report& report, const ExtractedSurface& s) {
  if (s.isovalue) report.add({{"isovalue", *s.isovalue}});
  if (s.voxel_volume) report.add({{"voxel_volume", *s.voxel_volume}});
  report.add({{"seeds", s.seeds},
              {"particles", s.particles},
              {"iterations", s.iterations.size()},
              {"converged", s.converged},
              {"energy", s.iterations.empty() ? Json(nullptr) : Json(s.iterations.back().energy)},
              {"backend", name_of(s.backend)},
              {"differences", Json::array()}});
  for (const SurfaceDifference& one : s.triangulation.differences)
    report.object()["differences"].push_back(difference_json(one));
  report.row("particles", "{} from {} in {}{}", grouped(s.particles), counted(s.seeds, "seed", "seeds"),
             counted(s.iterations.size(), "iteration", "iterations"), s.converged ? "" : " (not settled)");
  if (s.voxel_volume) report.row("voxels", "volume {:.6g}", *s.voxel_volume);
  report.row("repair", "{} added, {} removed, {} moved", grouped(s.triangulation.added),
             grouped(s.triangulation.removed), grouped(s.triangulation.moved));
}

/// Triangles between two labels.
struct Interface {
  std::size_t triangles = 0;
  double area = 0;

  void add(const TriangleMesh& mesh, const TriangleMesh::Element& triangle) {
    const Vec3d first = mesh.point(triangle[0]);
    area += 0.5 * norm(cross(mesh.point(triangle[1]) - first, mesh.point(triangle[2]) - first));
    ++triangles;
  }
};

/// By pairs of labels, the smaller first.
std::map<std::pair<std::int32_t, std::int32_t>, Interface> interfaces(const ExtractedMaterials& surface) {
  std::map<std::pair<std::int32_t, std::int32_t>, Interface> result;
  for (std::size_t t = 0; t < surface.sides.size(); ++t)
    result[std::minmax(surface.sides[t].behind, surface.sides[t].before)].add(surface.mesh, surface.mesh.elements[t]);
  return result;
}

/// The tags of the triangles that are written beside tetrahedra.
void report_boundary(Report& report, const TriangleMesh& mesh, const RegionBoundary& boundary) {
  struct Tagged : Interface {
    std::int32_t a = 0, b = 0;
  };
  std::map<std::int32_t, Tagged> tags;
  for (std::size_t t = 0; t < boundary.triangles.size(); ++t) {
    Tagged& one = tags[boundary.tag[t]];
    one.add(mesh, boundary.triangles[t]);
    one.a = boundary.region_a[t];
    one.b = boundary.region_b[t];
  }
  report.object()["boundary"] = Json::array();
  for (const auto& [tag, one] : tags) {
    report.object()["boundary"].push_back(
        {{"tag", tag}, {"region_a", one.a}, {"region_b", one.b}, {"triangles", one.triangles}, {"area", one.area}});
    report.row("boundary", "tag {}: {} between {} and {}, area {:.6g}", tag,
               counted(one.triangles, "triangle", "triangles"), one.a, one.b == 0 ? "outside" : std::to_string(one.b),
               one.area);
  }
}

/// What only the mesh of materials has to say.
void report_own(Report& report, const ExtractedMaterials& s) {
  report.add({{"samples", s.samples},
              {"junction_samples", s.junction_samples},
              {"comparing_seconds", s.times.comparing},
              {"differences", Json::array()},
              {"interfaces", Json::array()}});
  for (const MaterialDifference& one : s.differences) {
    report.object()["differences"].push_back(difference_json(one.border));
    report.object()["differences"].back()["label"] = one.material;
  }
  for (const auto& [pair, one] : interfaces(s))
    report.object()["interfaces"].push_back(
        {{"labels", {pair.first, pair.second}}, {"triangles", one.triangles}, {"area", one.area}});
  report.row("points", "{}, {} of them on junctions; repair: {} added, {} removed, {} moved", grouped(s.samples),
             grouped(s.junction_samples), grouped(s.triangulation.added), grouped(s.triangulation.removed),
             grouped(s.triangulation.moved));
}

void report_materials(Report& report, const ExtractedMaterials& s) {
  report.object()["materials"] = Json::array();
  for (std::size_t i = 0; i < s.materials.size(); ++i) {
    const std::int32_t material = s.materials[i];
    const SurfaceTopology border = surface_topology(border_of(s.mesh, s.sides, material));
    report.object()["materials"].push_back({{"label", material},
                                            {"closed", border.closed()},
                                            {"manifold", border.manifold()},
                                            {"oriented", border.oriented()},
                                            {"components", border.components.size()},
                                            {"genus", value_or_null(border.genus())},
                                            {"area", border.area},
                                            {"volume", border.volume},
                                            {"voxel_volume", s.voxel_volumes[i]}});
    report.row("material", "{}: {}{}, area {:.6g}, volume {:.6g} (voxels: {:.6g})", material,
               counted(border.components.size(), "component", "components"),
               border.closed() && border.manifold() ? "" : " (not closed)", border.area, border.volume,
               s.voxel_volumes[i]);
  }
}

std::string title_of(const ExtractedSurface& s, std::size_t vertices, const std::string& tets) {
  return fmt::format("{}, {}{}{}", counted(vertices, "vertex", "vertices"),
                     counted(s.mesh.element_count(), "triangle", "triangles"), tets.empty() ? "" : ", ", tets);
}

std::string title_of(const ExtractedMaterials& s, std::size_t vertices, const std::string& tets) {
  return fmt::format("{}, {}{}{} between {} and outside", counted(vertices, "vertex", "vertices"), tets,
                     tets.empty() ? "" : ", ", counted(s.mesh.element_count(), "triangle", "triangles"),
                     counted(s.materials.size(), "material", "materials"));
}

/// The materials are lost in a format that has no place for arrays; sizes are easily done without.
void warn_of_dropped(const SurfaceRequest& request, const Dataset& dataset, Console& console) {
  if (const auto dropped = kept_arrays(request.output, dataset).dropped; request.materials && !dropped.empty())
    console.warn("{}: left out {} (the format has no place for arrays); write .vtu, .vtk or .msh to know the materials",
                 request.output.string(), join_text(dropped, ", "));
}

/// Seconds of the steps that come before the triangles.
struct Before {
  double reading, field;
};

/// The steps after the triangles: tetrahedra, examination, files, report. `differences` are lines about the mesh.
template <class Surface>
int finish(const SurfaceRequest& request, const Surface& s, const LatticeFrame& frame,
           const std::vector<RegionSides>& sides, const std::vector<std::string>& differences, const Before& before,
           Console& console) {
  constexpr bool materials = std::is_same_v<Surface, ExtractedMaterials>;
  for (const std::string& note : s.notes) console.warn(request.image.string() + ": " + note);
  warn_of_differences(request, differences, console);
  Timer timer;
  const std::optional<FilledSurface> filled = fill(request, s, frame, sides, console);
  const double tetrahedra_seconds = timer.seconds();
  std::optional<RegionBoundary> boundary;
  if (request.boundary)
    boundary = region_boundary(
        s.mesh, sides.empty() ? std::vector<RegionSides>(s.mesh.elements.size(), RegionSides{1, 0}) : sides);
  const MeshQuality quality = examine(request, s.mesh, s.isosurface, console);
  Report shapes(10);  // what takes long comes before the files: an interrupt leaves none
  if constexpr (materials) report_materials(shapes, s);
  if (boundary) report_boundary(shapes, s.mesh, *boundary);
  report_shapes(shapes, request, quality, filled, tetrahedra_seconds, console);
  timer.restart();
  {
    const Activity activity(console, "writing " + request.output.string());
    const Dataset dataset = dataset_of(s, filled, boundary);
    check_interrupted();
    write_dataset(request.output, dataset, request.overwrite);
    warn_of_dropped(request, dataset, console);
    if (!request.picture.empty()) write_quality_picture(request, s.mesh, filled ? &*filled : nullptr);
  }
  const double write_seconds = timer.seconds();

  const TriangulateReport& t = s.triangulation;
  Report report(10);
  report.line(request.output.string() + ": " +
              title_of(s, filled ? filled->mesh.vertex_count() : s.mesh.vertex_count(),
                       filled ? counted(filled->mesh.element_count(), "tetrahedron", "tetrahedra") : ""));
  report.add({{"file", request.image.string()},
              {"vertices", s.mesh.vertex_count()},
              {"elements", s.mesh.element_count()},
              {"repair", {{"added", t.added}, {"removed", t.removed}, {"moved", t.moved}, {"rounds", t.rounds}}},
              {"threads", console.threads()},
              {"peak_bytes", peak_resident_bytes()},
              {"expected_particles", s.expected_particles},
              {"written", file_names(files_written(request.output))}});
  if constexpr (!materials) report.add({{"scheme", choice_name(request.extract.particles.scheme)}});
  report_own(report, s);
  const Step reading{"read", before.reading}, field{"field", before.field, materials ? "fields" : "distances"};
  const Step relaxing{"relaxing", s.times.relaxing, "particles"}, writing{"write", write_seconds};
  const Step triangulating{"triangulating", s.times.triangulating, "triangles"};
  if (materials)
    report.times({reading,
                  field,
                  {"sizing", s.times.sizing, "sizes"},
                  {"seeding", s.times.seeding, "points"},
                  relaxing,
                  triangulating,
                  writing});
  else
    report.times(
        {reading, field, {"sizing", s.times.sizing + s.times.seeding, "sizes"}, relaxing, triangulating, writing});
  report.add({{"sizing_seconds", s.times.sizing}, {"seeding_seconds", s.times.seeding}});
  report.append(shapes);
  report.print(console);
  return 0;
}

/// About components that are more than specks.
std::vector<std::string> large_differences(const ExtractedMaterials& surface, double voxel_area) {
  constexpr double speck = 10;  // faces of voxels
  std::vector<std::string> lines;
  for (const MaterialDifference& one : surface.differences)
    if (one.border.area >= speck * voxel_area)
      lines.push_back(fmt::format("label {}: {}", one.material, described(one.border)));
  return lines;
}

int make_materials(const SurfaceRequest& request, Image image, double read_seconds, Console& console) {
  const ImageGrid& grid = image.grid;
  const double voxel_area = std::cbrt(std::pow(grid.spacing(0) * grid.spacing(1) * grid.spacing(2), 2.0));
  FieldOptions field = request.field;
  field.threads = console.threads();
  const ExtractedMaterials surface = [&] {  // the labels are freed when it is made
    const std::vector<std::int32_t> labels =
        as_labels(chosen_array(image, request), request.image.string(), 0, console);
    image.data = {};
    return extract_materials(grid, labels, *request.materials, field, extract_options(request, console));
  }();
  return finish(request, surface, surface.frame, surface.sides, large_differences(surface, voxel_area),
                {read_seconds, surface.field_seconds}, console);
}

/// Makes the mesh of an image, writes it and reports on it; gives the exit code.
int make_surface(const SurfaceRequest& request, Image image, double read_seconds, Console& console) {
  if (request.materials) return make_materials(request, std::move(image), read_seconds, console);
  const Timer timer;
  const ImplicitSurface field = make_field(request, image, console);
  image = {};
  const double field_seconds = timer.seconds();
  const ExtractedSurface surface = extract_surface(field, extract_options(request, console));
  std::vector<std::string> differences;
  for (const SurfaceDifference& one : surface.triangulation.differences) differences.push_back(described(one));
  return finish(request, surface, field.frame, {}, differences, {read_seconds, field_seconds}, console);
}

// ---- the options

void check_request(SurfaceRequest& request) {
  std::vector<std::string> chosen;
  if (request.isovalue) chosen.emplace_back("--isovalue");
  if (!request.labels.empty()) chosen.emplace_back("--label");
  if (request.materials) chosen.emplace_back("--materials");
  if (chosen.empty())
    throw UsageError("no surface is chosen; give --isovalue V, or --label L or --materials all for label maps");
  if (chosen.size() > 1) throw usage_error("{} exclude each other; give one of them", join_text(chosen, " and "));
  if (!request.isovalue && request.field.inside == InsideIs::below)
    throw UsageError("--inside is for --isovalue (labels have no order); leave it out");
  if (request.materials && request.extract.seeds > 0)
    throw UsageError("--seeds is not for --materials (whose borders are sampled one by one); leave it out");
  if (request.boundary && !request.tetrahedra)
    throw UsageError("--boundary is for --tetrahedra (without them all that is written is the boundary); leave it out");
  if (request.extract.particles.scheme == ParticleScheme::published &&
      request.extract.particles.bins == BinKind::uniform)
    throw UsageError("--bins uniform is for --scheme ours (the published scheme has bins of its own); leave it out");
  SizingOptions& sizing = request.extract.sizing;
  if (sizing.uniform > 0 && !request.of_varying_sizes.empty())
    throw usage_error("{}: nothing to do beside --uniform (which makes all edges equally long); leave it out",
                      join_text(request.of_varying_sizes, " and "));
  if (request.size_range) {
    const std::vector<double>& range = *request.size_range;
    if (range.size() != 2 || !(range[0] > 0) || !(range[0] <= range[1]))
      throw UsageError("--size-range: two positive lengths are needed, the smaller first; give --size-range 0.5,4");
    if (sizing.uniform > 0) throw UsageError("--uniform and --size-range exclude each other; give one of them");
    sizing.smallest = range[0];
    sizing.largest = range[1];
  }
}

std::set<std::int32_t> parse_materials(const std::string& text) {
  std::set<std::int32_t> result;
  if (text == "all") return result;
  for (const std::string_view part : split_text(text, ",")) result.insert(parse_label(part));
  return result;
}

/// Asks with one cell of the kind that will be there, so that no work is done in vain.
void check_holds_cells(const SurfaceRequest& request) {
  Dataset one;
  if (request.tetrahedra) one.tets.cells.resize(1);
  if (!request.tetrahedra || request.boundary) one.triangles.cells.resize(1);
  check_holds(request.output, one);
}

int run_surface(SurfaceRequest& request, Console& console) {
  check_request(request);
  require_delaunay();
  if (request.tetrahedra && !has_tet_program(*request.tetrahedra))
    throw RuntimeError(
        fmt::format("--tetrahedra: {} is not there; install it, or take another of netgen, tetgen and gmsh",
                    name_of(*request.tetrahedra)));
  if (!request.picture.empty()) check_picture({request.picture, {}}, request.overwrite);
  check_writable(request.output, request.overwrite);
  check_holds_cells(request);
  check_output_files(files_written(request.output), {request.image}, request.overwrite);
  check_raw({request.image}, request.raw, console);
  const Timer timer;
  Image image = read_reported(request.image, request.raw, console);
  const double read_seconds = timer.seconds();
  const InterruptGuard guard;
  return make_surface(request, std::move(image), read_seconds, console);
}

/// Takes an option of the tables; some have limits, and some shut others out.
struct DeclareSurface : DeclareOptions {
  using DeclareOptions::operator();
  SurfaceRequest& request;

  void operator()(const OptionText& text, double& field) const {
    SizingOptions& sizing = request.extract.sizing;
    if (&field == &sizing.uniform) declare(text, field, into_positive(field));
    else if (&field == &request.field.smoothing) declare(text, usual_label_smoothing, into_smoothing(field));
    else declare(text, field, noted(flag_name(text.name), request.of_varying_sizes, into(field)));
  }
  void operator()(const OptionText& text, int& field) const { declare(text, field, into_positive(field)); }
  void operator()(const OptionText& text, SizeRange) const { (*this)(text, request.size_range); }
  void operator()(const OptionText& text, std::size_t& field) const {
    declare(text, field, &field == &request.extract.seeds ? into_positive(field) : into(field));
  }

 private:
  static Take into_smoothing(double& smoothing) {
    return [&smoothing](const std::string& text) {
      into(smoothing)(text);
      if (!(smoothing >= 0)) throw usage_error("{} is negative; give 0 for none, or a width in voxels", text);
    };
  }
};

}  // namespace

void declare_surface(Command& root, Console& console) {
  Command command = root.subcommand("surface", "Mesh the surface of an object in an image volume",
                                    "isochron surface heart.nii.gz --label 1 -o heart.ply\n"
                                    "  isochron surface ct.nii.gz --isovalue 300 --tetrahedra netgen -o bone.vtu");
  const auto request = std::make_shared<SurfaceRequest>();
  const DeclareSurface visit{{command}, *request};
  command.positional("VOLUME", "Image: NIfTI, NRRD, VTI, MGZ, .npy or raw", into(request->image));
  command.group("What is inside");
  command.option("--isovalue", "V", "The object is where values are at least V", into(request->isovalue));
  each_level_option(request->field, visit);
  command.repeated("--label", "L", "The object is the voxels labelled L; several labels make one object",
                   [request](const std::string& text) { request->labels.push_back(parse_label(text)); });
  command.option("--materials", "all | L[,L]",
                 "These labels in one mesh whose surfaces they share, with all else outside (all: all but 0)",
                 [request](const std::string& text) { request->materials = parse_materials(text); });
  command.option("--array", "NAME", "Which array of an image that has several (default: the first)",
                 into(request->array));
  each_option(request->field, visit);
  declare_raw(command, request->raw);
  command.group("Sizes");
  each_option(request->extract.sizing, visit);
  command.option("--most-particles", "N", "Refuse to make more vertices than about N (default: what memory holds)",
                 into_positive(request->extract.max_particles));
  command.group("Particles");
  each_particle_option(request->extract, visit);
  command.group("Output");
  command.option("-o,--output", "FILE", "Mesh to write; the extension picks the format", into(request->output),
                 Need::required);
  command.option("--tetrahedra", "PROGRAM", "Fill the surface by netgen, tetgen or gmsh, and write tetrahedra instead",
                 [request](const std::string& text) { request->tetrahedra = tet_program_of(text); });
  command.flag("--boundary", "Write the triangles around and between regions beside tetrahedra, with tags",
               request->boundary);
  command.option("--picture", "PNG", "Draw the mesh, coloured by the shapes of its elements, with a histogram",
                 into(request->picture));
  command.flag("--report", "Measure distances to the isosurface and show histograms too", request->report);
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_common(command, console);
  command.action([request, &console] { return run_surface(*request, console); });
}

}  // namespace isochron::cli
