// isochron surface --materials: one mesh of the surfaces between all materials of a label map.
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/isochron/console.h"
#include "apps/isochron/surface.h"
#include "isochron/core/timer.h"

namespace isochron::cli {
namespace {

ExtractedMaterials make_materials(const SurfaceRequest& request, Image image, Console& console) {
  const std::vector<std::int32_t> labels = as_labels(chosen_array(image, request), request.image.string(), 0, console);
  image.data = {};
  FieldOptions field = request.field;
  ExtractOptions options = request.extract;
  field.threads = options.threads = console.threads();
  if (request.report) options.isosurface = ExtractOptions::Isosurface::fine;
  show_stages(console, options);
  return extract_materials(image.grid, labels, *request.materials, field, options);
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

void fill(const SurfaceRequest& request, MaterialsSummary& summary, Console& console) {
  Activity activity(console, "tetrahedra");
  const Timer timer;
  const ExtractedMaterials& surface = summary.surface;
  const TetOptions options = tet_options(request, surface.mesh, surface.size_field, surface.frame);
  summary.filled = tetrahedralize_regions(surface.mesh, surface.sides, options, activity.progress());
  summary.tetrahedra_seconds = timer.seconds();
}

void examine(const SurfaceRequest& request, MaterialsSummary& summary, Console& console) {
  Activity activity(console, "examining the mesh");
  const ExtractedMaterials& surface = summary.surface;
  summary.quality = examine_quality(surface.mesh, request.report ? CrossingTest::always : CrossingTest::small_meshes,
                                    console.threads(), activity.progress());
  if (request.report)
    summary.quality.distance =
        surface_distance(surface.mesh, surface.isosurface, console.threads(), activity.progress());
  for (const std::int32_t material : surface.materials)
    summary.borders.push_back(surface_topology(border_of(surface.mesh, surface.sides, material)));
  if (summary.filled)
    summary.tet_quality = examine_quality(summary.filled->mesh, CrossingTest::small_meshes, console.threads());
}

Dataset dataset_of(const MaterialsSummary& summary) {
  Dataset dataset;
  if (summary.filled) {
    dataset.points = summary.filled->mesh.points.copy();
    dataset.tets.cells = summary.filled->mesh.elements.copy();
    dataset.tets.data.set({"region", 1, summary.filled->region});
    return dataset;
  }
  const ExtractedMaterials& surface = summary.surface;
  dataset.points = surface.mesh.points.copy();
  dataset.triangles.cells = surface.mesh.elements.copy();
  std::vector<std::int32_t> inside, outside;
  for (const RegionSides& sides : surface.sides) {
    inside.push_back(sides.behind);
    outside.push_back(sides.before);
  }
  dataset.triangles.data.set({"material_inside", 1, std::move(inside)});
  dataset.triangles.data.set({"material_outside", 1, std::move(outside)});
  dataset.point_data.set({"size", 1, std::vector<float>(surface.sizes.begin(), surface.sizes.end())});
  return dataset;
}

void write_mesh(const SurfaceRequest& request, MaterialsSummary& summary, Console& console) {
  const Activity activity(console, "writing " + request.output.string());
  const Timer timer;
  const Dataset dataset = dataset_of(summary);
  check_interrupted();
  write_dataset(request.output, dataset, request.overwrite());
  summary.written = files_written(request.output);
  if (const auto dropped = kept_arrays(request.output, dataset).dropped; !dropped.empty())
    console.warn(
        fmt::format("{}: left out {} (the format has no place for arrays); write .vtu, .vtk or .msh to know "
                    "the materials",
                    request.output.string(), fmt::join(dropped, ", ")));
  if (!request.picture.empty())
    write_quality_picture(request, summary.surface.mesh, summary.filled ? &summary.filled->mesh : nullptr);
  summary.write_seconds = timer.seconds();
}

}  // namespace

int run_materials(const SurfaceRequest& request, Image image, double read_seconds, Console& console) {
  MaterialsSummary summary;
  summary.read_seconds = read_seconds;
  const double voxel_area =
      std::cbrt(std::pow(image.grid.spacing(0) * image.grid.spacing(1) * image.grid.spacing(2), 2.0));
  summary.surface = make_materials(request, std::move(image), console);
  summary.field_seconds = summary.surface.field_seconds;
  for (const std::string& note : summary.surface.notes) console.warn(request.image.string() + ": " + note);
  warn_of_differences(request, large_differences(summary.surface, voxel_area), console);
  if (request.tetrahedra) fill(request, summary, console);
  examine(request, summary, console);
  write_mesh(request, summary, console);
  print_summary(request, summary, console);
  return 0;
}

}  // namespace isochron::cli
