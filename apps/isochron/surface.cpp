// isochron surface: a triangle mesh of an object in an image, by a particle system.
#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "apps/isochron/commands.h"
#include "apps/isochron/mesh_input.h"
#include "apps/isochron/output_files.h"
#include "apps/isochron/problem_options.h"
#include "apps/isochron/surface.h"
#include "isochron/core/timer.h"
#include "isochron/surface/field/label_smoothing.h"
#include "isochron/surface/triangulate/delaunay.h"

namespace isochron::cli {
namespace {

void check_request(SurfaceRequest& request) {
  std::vector<std::string> chosen;
  if (request.isovalue) chosen.emplace_back("--isovalue");
  if (!request.labels.empty()) chosen.emplace_back("--label");
  if (request.materials) chosen.emplace_back("--materials");
  if (chosen.empty())
    throw UsageError("no surface is chosen; give --isovalue V, or --label L or --materials all for label maps");
  if (chosen.size() > 1)
    throw UsageError(fmt::format("{} exclude each other; give one of them", fmt::join(chosen, " and ")));
  if (!request.isovalue && request.field.inside == InsideIs::below)
    throw UsageError("--inside is for --isovalue (labels have no order); leave it out");
  if (request.materials && request.extract.seeds > 0)
    throw UsageError("--seeds is not for --materials (whose borders are sampled one by one); leave it out");
  SizingOptions& sizing = request.extract.sizing;
  if (sizing.uniform > 0 && !request.of_varying_sizes.empty())
    throw UsageError(
        fmt::format("{}: nothing to do beside --uniform (which makes all edges equally long); leave it out",
                    fmt::join(request.of_varying_sizes, " and ")));
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
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    result.insert(parse_label(text.substr(from, to - from)));
    from = to + 1;
  }
  return result;
}

/// Asks with one cell of the kind that will be there, so that no work is done in vain.
void check_holds_cells(const SurfaceRequest& request) {
  Dataset one;
  if (request.tetrahedra) one.tets.cells.resize(1);
  else one.triangles.cells.resize(1);
  check_holds(request.output, one);
}

ImplicitSurface make_field(const SurfaceRequest& request, const Image& image, Console& console) {
  Activity activity(console, "distances");
  const DataArray& array = chosen_array(image, request);
  FieldOptions options = request.field;
  options.threads = console.threads();
  options.backend = request.extract.backend;
  // Sizes grow with the distance to the medial axis, so long edges need distances that go that far.
  const SizingOptions& sizing = request.extract.sizing;
  const double voxel = std::min({image.grid.spacing(0), image.grid.spacing(1), image.grid.spacing(2)});
  if (voxel > 0 && sizing.epsilon > 0)
    options.reach = std::max(options.reach, sizing.largest / (sizing.epsilon * voxel));
  if (!request.labels.empty())
    return from_labels(image.grid, as_labels(array, request.image.string(), no_label, console),
                       std::set<std::int32_t>(request.labels.begin(), request.labels.end()), options,
                       activity.progress());
  std::vector<float> values(array.tuple_count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(array.at(i));
  return from_isovalue(image.grid, values, *request.isovalue, options, activity.progress());
}

ExtractedSurface make_surface(const SurfaceRequest& request, const ImplicitSurface& field, Console& console) {
  ExtractOptions options = request.extract;
  options.threads = console.threads();
  if (request.report) options.isosurface = ExtractOptions::Isosurface::fine;
  show_stages(console, options);
  return extract_surface(field, options);
}

void write_mesh(const SurfaceRequest& request, SurfaceSummary& summary, Console& console) {
  const Activity activity(console, "writing " + request.output.string());
  Dataset dataset;
  if (summary.tets) {
    dataset.points = summary.tets->points.copy();
    dataset.tets.cells = summary.tets->elements.copy();
  } else {
    dataset.points = summary.surface.mesh.points.copy();
    dataset.triangles.cells = summary.surface.mesh.elements.copy();
    std::vector<float> sizes(summary.surface.sizes.begin(), summary.surface.sizes.end());
    dataset.point_data.set({"size", 1, std::move(sizes)});
  }
  check_interrupted();
  write_dataset(request.output, dataset, request.overwrite());
  summary.written = files_written(request.output);
}

void examine(const SurfaceRequest& request, SurfaceSummary& summary, Console& console) {
  Activity activity(console, "examining the mesh");
  const int threads = console.threads();
  summary.quality =
      examine_quality(summary.surface.mesh, request.report ? CrossingTest::always : CrossingTest::small_meshes, threads,
                      activity.progress());
  if (request.report) {
    const TriangleMesh& isosurface = summary.surface.isosurface;
    summary.quality.distance = surface_distance(summary.surface.mesh, isosurface, threads, activity.progress());
  }
  if (summary.tets) summary.tet_quality = examine_quality(*summary.tets, CrossingTest::small_meshes, threads);
}

int run_surface(SurfaceRequest& request, Console& console) {
  check_request(request);
  require_delaunay();
  if (request.tetrahedra && !has_tet_program(*request.tetrahedra))
    throw RuntimeError(
        fmt::format("--tetrahedra: {} is not there; install it, or take another of netgen, tetgen and gmsh",
                    name_of(*request.tetrahedra)));
  if (!request.picture.empty()) check_quality_picture(request);
  check_writable(request.output, request.overwrite());
  check_holds_cells(request);
  check_output_files(files_written(request.output), {request.image}, request.overwrite());
  SurfaceSummary summary;
  Timer timer;
  check_raw({request.image}, request.raw, console);
  Image image = read_reported(request.image, request.raw, console);
  summary.read_seconds = timer.seconds();

  const InterruptGuard guard;
  if (request.materials) return run_materials(request, std::move(image), summary.read_seconds, console);
  timer.restart();
  const ImplicitSurface field = make_field(request, image, console);
  image = {};
  summary.field_seconds = timer.seconds();
  summary.surface = make_surface(request, field, console);
  for (const std::string& note : summary.surface.notes) console.warn(request.image.string() + ": " + note);
  std::vector<std::string> differences;
  for (const SurfaceDifference& one : summary.surface.triangulation.differences) differences.push_back(described(one));
  warn_of_differences(request, differences, console);
  if (request.tetrahedra) {
    timer.restart();
    Activity activity(console, "tetrahedra");
    const TriangleMesh& mesh = summary.surface.mesh;
    const TetOptions options = tet_options(request, mesh, summary.surface.size_field, field.frame);
    summary.tets = tetrahedralize(mesh, options, activity.progress()).mesh;
    summary.tetrahedra_seconds = timer.seconds();
  }
  examine(request, summary, console);
  timer.restart();
  write_mesh(request, summary, console);
  if (!request.picture.empty())
    write_quality_picture(request, summary.surface.mesh, summary.tets ? &*summary.tets : nullptr);
  summary.write_seconds = timer.seconds();
  print_summary(request, summary, console);
  return 0;
}

}  // namespace

void declare_surface(Command& root, Console& console) {
  Command command = root.subcommand("surface", "Mesh the surface of an object in an image volume",
                                    "isochron surface heart.nii.gz --label 1 -o heart.ply\n"
                                    "  isochron surface ct.nii.gz --isovalue 300 --tetrahedra netgen -o bone.vtu");
  const auto request = std::make_shared<SurfaceRequest>();
  command.positional("VOLUME", "Image: NIfTI, NRRD, VTI, MGZ, .npy or raw", into(request->image));
  command.group("What is inside");
  command.option("--isovalue", "V", "The object is where values are at least V", into(request->isovalue));
  command.option("--inside", "SIDE", "Which values are the object: those above V (default) or below it",
                 one_of(request->field.inside, {{"above", InsideIs::above}, {"below", InsideIs::below}}));
  command.repeated("--label", "L", "The object is the voxels labelled L; several labels make one object",
                   [request](const std::string& text) { request->labels.push_back(parse_label(text)); });
  command.option("--materials", "all | L[,L]",
                 "These labels in one mesh whose surfaces they share, with all else outside (all: all but 0)",
                 [request](const std::string& text) { request->materials = parse_materials(text); });
  command.option("--array", "NAME", "Which array of an image that has several (default: the first)",
                 into(request->array));
  command.option("--smoothing", "W",
                 fmt::format("Smooth over W voxels (default: {} for labels, whose surface is a staircase, else 0)",
                             usual_label_smoothing),
                 [request](const std::string& text) {
                   into(request->field.smoothing)(text);
                   if (!(request->field.smoothing >= 0))
                     throw UsageError(fmt::format("{} is negative; give 0 for none, or a width in voxels", text));
                 });
  command.option("--border", "HOW", "Where the object leaves the image: close it with a flat face (default), or refuse",
                 one_of(request->field.border, {{"close", AtBorder::close}, {"refuse", AtBorder::refuse}}));
  declare_raw(command, request->raw);
  command.group("Sizes");
  SizingOptions& sizing = request->extract.sizing;
  command.option("--epsilon", "E",
                 fmt::format("Edge length per radius of curvature and per half thickness; less: finer (default: {})",
                             sizing.epsilon),
                 noted("--epsilon", request->of_varying_sizes, into(sizing.epsilon)));
  command.option("--delta", "D",
                 fmt::format("Most that edge lengths grow per length; less: more even (default: {})", sizing.delta),
                 noted("--delta", request->of_varying_sizes, into(sizing.delta)));
  command.option("--size-range", "MIN,MAX",
                 "Shortest and longest edge wanted (default: 0.75 to 8 voxels at the default epsilon)",
                 into(request->size_range));
  command.option("--uniform", "H", "The same edge length everywhere, whatever the shape",
                 into_positive(sizing.uniform));
  command.option("--most-particles", "N", "Refuse to make more vertices than about N (default: what memory holds)",
                 into_positive(request->extract.max_particles));
  command.group("Particles");
  ParticleOptions& particles = request->extract.particles;
  command.option("--iterations", "N",
                 fmt::format("Stop after N even when not settled (default: {})", particles.iterations),
                 into_positive(particles.iterations));
  command.option("--bins", "KIND", "How neighbours are found: adaptive (default) or uniform",
                 one_of(particles.bins, {{"adaptive", BinKind::adaptive}, {"uniform", BinKind::uniform}}));
  command.option("--backend", "NAME", "auto, serial, threads, or cuda where there is a GPU",
                 into_backend(request->extract.backend));
  command.option("--seeds", "N", "Start with about N particles and add none while they spread",
                 [request](const std::string& text) {
                   into_positive(request->extract.seeds)(text);
                   request->extract.particles.density = DensityControl::delete_only;
                 });
  command.option("--seed", "S", "Of the random numbers; another S gives another mesh as good (default: 1)",
                 into(particles.seed));
  command.group("Output");
  command.option("-o,--output", "FILE", "Mesh to write; the extension picks the format", into(request->output),
                 Need::required);
  command.option("--tetrahedra", "PROGRAM", "Fill the surface by netgen, tetgen or gmsh, and write tetrahedra instead",
                 [request](const std::string& text) { request->tetrahedra = tet_program_of(text); });
  command.option("--picture", "PNG", "Draw the mesh, coloured by the shapes of its elements, with a histogram",
                 into(request->picture));
  command.flag("--report", "Measure distances to the isosurface and show histograms too", request->report);
  command.flag("--force", "Replace existing files", request->force);
  declare_common(command, console);
  command.action([request, &console] { return run_surface(*request, console); });
}

}  // namespace isochron::cli
