// Surfaces and tetrahedra from images.
#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "isochron/error.h"
#include "isochron/surface.h"
#include "isochron/surface/option_tables.h"
#include "isochron/tetrahedra.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/option_reader.h"
#include "python/src/problem.h"
#include "python/src/work.h"

namespace isochron::python {
namespace {

/// What `extract_surface` can be asked for.
struct SurfaceOptions {
  FieldOptions field;
  ExtractOptions extract;
};

struct SurfaceReader : OptionReader {
  using OptionReader::OptionReader, OptionReader::operator();

  void operator()(const OptionText& text, SizeRange into) {
    std::array<double, 2> range{into.smallest, into.largest};
    take(text.name, range);
    into.smallest = range[0];
    into.largest = range[1];
  }
};

SurfaceOptions make_surface_options(const py::kwargs& given) {
  SurfaceOptions options;
  ExtractOptions& extract = options.extract;
  SurfaceReader read(given);
  each_level_option(options.field, read);
  each_option(options.field, read);
  each_option(extract.sizing, read);
  each_particle_option(extract, read);
  read({"most_particles", "N", "Refuse to make more vertices than about N"}, extract.max_particles);
  read({"threads", "N", "Threads to use; 0: all cores"}, extract.threads);
  read.check_all_taken();
  options.field.threads = extract.threads;
  options.field.backend = extract.backend;
  return options;
}

FieldOptions field_options(const SurfaceOptions& given, const ImageGrid& grid) {
  FieldOptions options = given.field;
  options.reach = needed_reach(grid, given.extract.sizing, options.reach);
  return options;
}

ExtractOptions extract_options(const SurfaceOptions& given, const Progress& progress) {
  ExtractOptions options = given.extract;
  options.begin_stage = [progress](const std::string&) { return progress; };
  return options;
}

/// Points and cells on the mesh's own memory.
template <int Corners>
void put_mesh(py::dict& result, SimplexMesh<Corners>&& mesh) {
  result["points"] = array_on_rows<double>(std::vector<Vec3d>(std::move(mesh.points)));
  result["cells"] =
      array_on_rows<std::int32_t>(std::vector<typename SimplexMesh<Corners>::Element>(std::move(mesh.elements)));
}

py::dict times_of(const ExtractTimes& times) {
  py::dict result;
  result["sizing_seconds"] = times.sizing;
  result["seeding_seconds"] = times.seeding;
  result["relaxing_seconds"] = times.relaxing;
  result["triangulating_seconds"] = times.triangulating;
  return result;
}

py::dict packed(ExtractedSurface&& surface) {
  py::dict result, stats = times_of(surface.times);
  stats["particles"] = surface.particles;
  stats["iterations"] = surface.iterations.size();
  stats["converged"] = surface.converged;
  stats["backend"] = name_of(surface.backend);
  if (surface.isovalue) stats["isovalue"] = *surface.isovalue;
  if (surface.voxel_volume) stats["voxel_volume"] = *surface.voxel_volume;
  result["stats"] = stats;
  put_mesh(result, std::move(surface.mesh));
  result["sizes"] = array_on(std::move(surface.sizes));
  result["notes"] = surface.notes;
  return result;
}

std::vector<std::int32_t> labels_of(const py::array& labels, const ImageGrid& grid) {
  Conversions unseen;
  return rows_of<std::int32_t>(labels, "labels", static_cast<py::ssize_t>(grid.voxel_count()), unseen);
}

py::dict surface_of_values(const GridArguments& where, const py::array& values, double isovalue,
                           const SurfaceOptions& given, const py::object& callback) {
  const ImageGrid grid = grid_of(where);
  Conversions unseen;
  const auto field = rows_of<float>(values, "volume", static_cast<py::ssize_t>(grid.voxel_count()), unseen);
  return packed(run_work(callback, [&](const Progress& progress) {
    const ImplicitSurface surface = from_isovalue(grid, field, isovalue, field_options(given, grid), progress);
    return extract_surface(surface, extract_options(given, progress));
  }));
}

py::dict surface_of_labels(const GridArguments& where, const py::array& labels, const std::set<std::int32_t>& wanted,
                           const SurfaceOptions& given, const py::object& callback) {
  const ImageGrid grid = grid_of(where);
  const auto values = labels_of(labels, grid);
  return packed(run_work(callback, [&](const Progress& progress) {
    const ImplicitSurface surface = from_labels(grid, values, wanted, field_options(given, grid), progress);
    return extract_surface(surface, extract_options(given, progress));
  }));
}

py::dict surface_of_materials(const GridArguments& where, const py::array& labels, const std::set<std::int32_t>& wanted,
                              const SurfaceOptions& given, const py::object& callback) {
  const ImageGrid grid = grid_of(where);
  const auto values = labels_of(labels, grid);
  ExtractedMaterials surface = run_work(callback, [&](const Progress& progress) {
    return extract_materials(grid, values, wanted, field_options(given, grid), extract_options(given, progress));
  });
  std::vector<std::int32_t> behind, before;
  for (const RegionSides& sides : surface.sides) {
    behind.push_back(sides.behind);
    before.push_back(sides.before);
  }
  py::dict result;
  result["stats"] = times_of(surface.times);
  put_mesh(result, std::move(surface.mesh));
  result["sizes"] = array_on(std::move(surface.sizes));
  result["behind"] = array_on(std::move(behind));
  result["before"] = array_on(std::move(before));
  result["materials"] = array_on(std::move(surface.materials));
  result["notes"] = surface.notes;
  return result;
}

py::dict fill_surface(const py::array& points, const py::array& cells, const py::object& behind,
                      const py::object& before, const std::string& program, const std::filesystem::path& executable,
                      double largest, double grading, double time_limit, const py::object& callback) {
  Conversions unseen;
  TriangleMesh surface;
  surface.points = rows_of<Vec3d>(points, "points", -1, unseen);
  surface.elements = ids_of<TriangleMesh::Element>(cells, "cells", surface.points.size(), unseen);
  std::vector<RegionSides> sides;
  if (!behind.is_none()) {
    const auto count = static_cast<py::ssize_t>(surface.elements.size());
    const auto back = rows_of<std::int32_t>(behind, "behind", count, unseen);
    const auto front = rows_of<std::int32_t>(before, "before", count, unseen);
    for (std::size_t i = 0; i < back.size(); ++i) sides.push_back({back[i], front[i]});
  }
  TetOptions options;
  options.program = tet_program_of(program);
  options.executable = executable;
  if (largest > 0) options.largest = largest;
  options.grading = grading;
  options.time_limit = time_limit;
  FilledSurface filled = run_work(callback, [&](const Progress& progress) {
    return sides.empty() ? tetrahedralize(surface, options, progress)
                         : tetrahedralize_regions(surface, sides, options, progress);
  });
  py::dict result;
  put_mesh(result, std::move(filled.mesh));
  result["region"] = array_on(std::move(filled.region));
  return result;
}

}  // namespace

void bind_surfaces(py::module_& module) {
  using namespace py::literals;
  py::class_<SurfaceOptions>(module, "SurfaceOptions", "How a surface is meshed.").def(py::init(&make_surface_options));
  module.def("surface_of_values", &surface_of_values, "grid"_a, "values"_a, "isovalue"_a, "options"_a,
             "progress"_a = py::none(), "The surface where a volume crosses a value.");
  module.def("surface_of_labels", &surface_of_labels, "grid"_a, "labels"_a, "wanted"_a, "options"_a,
             "progress"_a = py::none(), "The surface of some labels together.");
  module.def("surface_of_materials", &surface_of_materials, "grid"_a, "labels"_a, "wanted"_a, "options"_a,
             "progress"_a = py::none(), "The surfaces between labels, shared.");
  module.def("fill_surface", &fill_surface, "points"_a, "cells"_a, "behind"_a, "before"_a, "program"_a, "executable"_a,
             "largest"_a, "grading"_a, "time_limit"_a, "progress"_a = py::none(), "Tetrahedra inside a surface.");
}

}  // namespace isochron::python
