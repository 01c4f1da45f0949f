// isochron convert: a mesh or an image in another format, with its arrays.
#include <algorithm>
#include <memory>

#include "apps/isochron/array_choice.h"
#include "apps/isochron/commands.h"
#include "apps/isochron/image_input.h"
#include "apps/isochron/problem.h"
#include "apps/isochron/report.h"
#include "isochron/core/join_text.h"
#include "isochron/core/timer.h"
#include "isochron/io.h"

namespace isochron::cli {
namespace {

struct ConvertRequest {
  std::filesystem::path input;
  std::filesystem::path output;
  RawRequest raw;
  ArrayNames arrays;  ///< those that are written
  Overwrite overwrite = Overwrite::no;
};

template <class Write>
double timed_write(const ConvertRequest& request, const Console& console, Write&& write) {
  const Timer timer;
  const InterruptGuard guard;
  const Activity activity(console, "writing " + request.output.string());
  write();
  return timer.seconds();
}

void warn_dropped_cells(const std::filesystem::path& file, std::size_t count, const char* one, const char* many,
                        Console& console) {
  if (count > 0)
    console.warn("{}: left out {} (the format has no place for them); write .vtu, .vtk or .msh to keep everything",
                 file.string(), counted(count, one, many));
}

/// Reads the arrays that are written.
MeshToKeep read_chosen(const ConvertRequest& request) {
  const ArrayUse use{std::vector<std::string>(), request.arrays};
  MeshToKeep mesh = read_arrays(request.input, request.output, use,
                                [&](const MeshToKeep& read) { return has_arrays(request.arrays, read.array_names()); });
  about_file(request.input, [&] { check_array_names(request.arrays, mesh.array_names()); });
  keep_arrays(request.arrays, mesh.dataset);
  return mesh;
}

void write_chosen(const ConvertRequest& request, const MeshToKeep& mesh) {
  check_writable(request.output, request.overwrite);
  OutputFiles files(request.overwrite);
  write_kept(files, request.output, mesh.dataset, mesh.stored.get());
  files.commit();
}

/// What becomes of the arrays in the output, which holds all those that it takes over.
KeptArrays arrays_written(const ConvertRequest& request, const MeshToKeep& mesh) {
  if (mesh.stored != nullptr) return {mesh.array_names(), {}};
  return kept_arrays(request.output, mesh.dataset);
}

int convert_mesh(const ConvertRequest& request, Console& console) {
  check_writable(request.output, request.overwrite);
  Timer timer;
  const MeshToKeep mesh = [&] {
    const Activity activity(console, "reading " + request.input.string());
    return read_chosen(request);
  }();
  const Dataset& dataset = mesh.dataset;
  const double read_seconds = timer.seconds();
  warn_of_reading(request.input, dataset.warnings, dataset.ignored_cells, console);
  const double write_seconds = timed_write(request, console, [&] { write_chosen(request, mesh); });

  const KeptArrays arrays = arrays_written(request, mesh);
  warn_dropped_arrays(request.output, arrays.dropped, ".vtu, .vtk or .msh", console);
  const std::size_t lost_lines = dropped_lines(request.output, dataset);
  const std::size_t lost_triangles = dropped_triangles(request.output, dataset);
  warn_dropped_cells(request.output, lost_lines, "line", "lines", console);
  warn_dropped_cells(request.output, lost_triangles, "triangle", "triangles", console);
  if (is_carp_file(request.output) != is_carp_file(request.input))
    console.warn("{}: the numbers are written as they are, but CARP files are in µm; scale them if yours differ",
                 request.output.string());

  Report report(9);
  const std::size_t triangles = dataset.triangles.cells.size() - lost_triangles;
  const std::size_t tets = dataset.tets.cells.size(), lines = dataset.lines.size() - lost_lines;
  std::string cells;
  const auto add_cells = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) cells += ", " + counted(count, one, many);
  };
  add_cells(triangles, "triangle", "triangles");
  add_cells(tets, "tetrahedron", "tetrahedra");
  add_cells(lines, "line", "lines");
  report.title("file", request.output.string(), counted(dataset.points.size(), "vertex", "vertices") + cells);
  report.add({{"input", request.input.string()},
              {"vertices", dataset.points.size()},
              {"triangles", triangles},
              {"tetrahedra", tets},
              {"lines", lines},
              {"arrays", arrays.kept},
              {"dropped", arrays.dropped},
              {"cut_cells", json_of(dataset.cut_cells)}});
  for (const CutCells& cut : dataset.cut_cells) report.row("cut", "{}", text_of(cut));
  if (!arrays.kept.empty()) report.row("arrays", "{}", join_text(arrays.kept, ", "));
  report.times({{"read", read_seconds}, {"write", write_seconds}});
  report.print(console);
  return 0;
}

/// Leaves the arrays that are asked for, else the first where the format holds one. Gives the names of the others.
std::vector<std::string> drop_other_arrays(const ConvertRequest& request, Image& image) {
  std::vector<std::string> names = image.data.names();
  check_array_names(request.arrays, names);
  ArrayNames kept = request.arrays;
  if (!kept && !holds_many_arrays(request.output) && names.size() > 1) kept.emplace({names.front()});
  keep_arrays(kept, image.data);
  if (!names.empty() && image.data.find(names.front()) == nullptr) image.tensor_order.reset();  // that of the first
  std::erase_if(names, [&](const std::string& name) { return image.data.find(name) != nullptr; });
  return names;
}

int convert_image(const ConvertRequest& request, Console& console) {
  check_image_writable(request.output, request.overwrite);
  Timer timer;
  Image image = read_reported(request.input, request.raw, console);
  const double read_seconds = timer.seconds();
  const std::vector<std::string> dropped = about_file(request.input, [&] { return drop_other_arrays(request, image); });
  const double write_seconds =
      timed_write(request, console, [&] { write_image(request.output, image, request.overwrite); });
  if (!request.arrays) warn_dropped_arrays(request.output, dropped, ".vti", console);

  Report report(9);
  report.title("file", request.output.string(), fmt::format("{} voxels", join_text(image.grid.shape, " x ")));
  report.add({{"input", request.input.string()},
              {"shape", image.grid.shape},
              {"arrays", image.data.names()},
              {"dropped", dropped}});
  report.row("arrays", "{}", join_text(image.data.names(), ", "));
  report.times({{"read", read_seconds}, {"write", write_seconds}});
  report.print(console);
  return 0;
}

int run_convert(const ConvertRequest& request, Console& console) {
  check_raw({request.input}, request.raw, console);
  const bool image = is_image(request.input, request.raw);
  if (image != is_image_file(request.output) && (image ? is_mesh_file(request.output) : is_image_file(request.output)))
    throw usage_error("{} is {} and {} {} (they hold different things); choose another extension",
                      request.input.string(), image ? "an image" : "a mesh", request.output.string(),
                      image ? "a mesh" : "an image");
  if (image) return convert_image(request, console);
  return convert_mesh(request, console);
}

}  // namespace

void declare_convert(Command& root, Console& console) {
  Command command = root.subcommand("convert", "Write a mesh or an image in another format, with its arrays",
                                    "isochron convert heart.pts heart.vtu");
  const auto request = std::make_shared<ConvertRequest>();
  command.positional("INPUT", "A mesh or an image", into(request->input));
  command.positional("OUTPUT", "Where it goes; the extension picks the format", into(request->output));
  declare_arrays(command, "Write these arrays alone, or none (all; of an image the first where the format holds one)",
                 request->arrays);
  command.old_name("--array", [request](const std::string& name) {
    if (!request->arrays) request->arrays.emplace();
    request->arrays->push_back(name);
  });
  command.flag("--force", "Replace existing files", request->overwrite, Overwrite::yes);
  declare_raw(command, request->raw);
  declare_common(command, console);
  command.action([request, &console] { return run_convert(*request, console); });
}

}  // namespace isochron::cli
