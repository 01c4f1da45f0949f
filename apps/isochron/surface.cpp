// isochron surface: a triangle mesh of an object in an image, by a particle system.
#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "apps/isochron/commands.h"
#include "apps/isochron/shared_output.h"
#include "apps/isochron/surface.h"
#include "isochron/core/timer.h"
#include "isochron/surface/field/label_smoothing.h"
#include "isochron/surface/option_tables.h"
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
    if (&field != &request.extract.seeds) return declare(text, field, into(field));
    declare(text, field, [&request = request](const std::string& value) {
      into_positive(request.extract.seeds)(value);
      request.extract.particles.density = DensityControl::delete_only;
    });
  }

 private:
  static Take into_smoothing(double& smoothing) {
    return [&smoothing](const std::string& text) {
      into(smoothing)(text);
      if (!(smoothing >= 0))
        throw UsageError(fmt::format("{} is negative; give 0 for none, or a width in voxels", text));
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
  command.option("--picture", "PNG", "Draw the mesh, coloured by the shapes of its elements, with a histogram",
                 into(request->picture));
  command.flag("--report", "Measure distances to the isosurface and show histograms too", request->report);
  command.flag("--force", "Replace existing files", request->force);
  declare_common(command, console);
  command.action([request, &console] { return run_surface(*request, console); });
}

}  // namespace isochron::cli
