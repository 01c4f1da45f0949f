// isochron info: what is in a file, how good it is, and what can be solved on it.
#include "apps/isochron/info.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <type_traits>

#include "apps/isochron/commands.h"
#include "apps/isochron/info_report.h"
#include "apps/isochron/result_arrays.h"
#include "isochron/io/io.h"

namespace isochron::cli {
namespace {

template <class T>
std::string type_name() {
  return fmt::format("{}{}", std::is_floating_point_v<T> ? "float" : (std::is_signed_v<T> ? "int" : "uint"),
                     8 * sizeof(T));
}

/// Counts the values of what may be regions.
void count_values(const DataArray& array, ArraySummary& summary) {
  constexpr std::size_t max_regions = 1000;  // more are ids or measurements
  if (array.components != 1 || !summary.whole || summary.not_finite > 0) return;
  std::map<double, std::size_t> counts;
  for (std::size_t i = 0; i < summary.tuples; ++i) {
    ++counts[array.at(i)];
    if (counts.size() > max_regions) return;
  }
  summary.distinct = counts.size();
  for (const auto& value : counts)
    if (summary.values.size() < ArraySummary::max_values) summary.values.push_back(value);
}

void summarize_all(const DataArrays& arrays, const std::string& on, std::vector<ArraySummary>& result) {
  for (const DataArray& array : arrays.all()) result.push_back(summarize(array, on));
}

template <int Corners>
void report_on(Dataset& dataset, InfoDepth depth, int threads, std::optional<MeshReport>& report,
               std::optional<MeshQuality>& quality) {
  if (dataset.block<Corners>().cells.empty()) return;
  auto mesh = take_mesh<Corners>(dataset);
  report = validate(mesh, {}, threads);
  quality =
      examine_quality(mesh, depth == InfoDepth::full ? CrossingTest::always : CrossingTest::small_meshes, threads);
  restore_mesh<Corners>(dataset, std::move(mesh));
}

/// Whether an array's name says that it is a speed; any positive number could be one.
bool named_like_a_speed(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "f" || name == "v" || name == "vp" || name == "vs" || name == "c") return true;
  for (const char* word : {"speed", "veloc", "vel", "cv", "conduction"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

struct InfoRequest {
  std::vector<std::filesystem::path> files;
  TensorLayout tensors;
  RawRequest raw;
  bool formats = false;
  bool report = false;
};

int run_info(const InfoRequest& request, Console& console) {
  if (request.formats) {
    print_formats(formats(), image_formats(), console);
    return 0;
  }
  if (request.files.empty()) throw UsageError("no file given; name one or more, or say --formats");
  check_raw(request.files, request.raw, console);
  const bool meshes = std::none_of(request.files.begin(), request.files.end(),
                                   [&](const auto& file) { return is_image(file, request.raw); });
  refuse_on_mesh(meshes && request.tensors.order, "--tensor-order");
  refuse_on_mesh(meshes && request.tensors.frame, "--tensor-frame");
  std::vector<std::variant<FileInfo, ImageInfo>> infos;
  for (const auto& file : request.files) {
    const Activity activity(console, "examining " + file.string());
    if (is_image(file, request.raw))
      infos.push_back(examine_image(file, load_image(file, request.raw), request.tensors));
    else infos.push_back(examine(file, request.report ? InfoDepth::full : InfoDepth::quick, console.threads()));
  }
  for (const auto& one : infos) {
    const auto warn = [&](const auto& info) {
      for (const std::string& warning : info.warnings) console.warn(fmt::format("{}: {}", info.file.string(), warning));
    };
    std::visit(warn, one);
  }
  print_infos(infos, console);
  return 0;
}

}  // namespace

ArraySummary summarize(const DataArray& array, const std::string& on) {
  ArraySummary summary;
  summary.name = array.name;
  summary.on = on;
  summary.components = array.components;
  summary.tuples = array.tuple_count();
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        summary.type = type_name<T>();
        summary.integer_type = std::is_integral_v<T>;
        for (const T value : values) {
          const auto number = static_cast<double>(value);
          if (!std::isfinite(number)) {
            ++summary.not_finite;
            continue;
          }
          if (number != std::trunc(number)) summary.whole = false;
          low = std::min(low, number);
          high = std::max(high, number);
        }
      },
      array.values);
  summary.low = low;
  summary.high = high;
  count_values(array, summary);
  return summary;
}

SolveChoices choices_among(const std::vector<ArraySummary>& arrays) {
  SolveChoices choices;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const ArraySummary& array : arrays) {
    if (array.on == "lines" || array.tuples == 0) continue;
    const bool on_points = array.on == "points";
    if (on_points && made_by_solve(array.name)) continue;
    const bool good = array.not_finite == 0;
    if (array.components == 1) {
      if (good && array.low > 0 && !array.integer_type)
        add(named_like_a_speed(array.name) ? choices.speed_array : choices.possible_speed_array, array.name);
      if (good && array.whole) add(choices.source_tag, array.name);
      if (good && array.whole && !on_points) add(choices.region_array, array.name);
      if (good && on_points && array.low < 0 && array.high > 0) add(choices.source_levelset, array.name);
    } else if (good && !array.integer_type) {
      if (array.components == 3) add(choices.fibers, array.name);
      if (array.components == 6 || array.components == 9) add(choices.tensor_array, array.name);
    }
  }
  return choices;
}

FileInfo examine(const std::filesystem::path& file, InfoDepth depth, int threads) {
  Dataset dataset = read_dataset(file);
  FileInfo info;
  info.file = file;
  info.points = dataset.points.size();
  info.triangles = dataset.triangles.cells.size();
  info.tets = dataset.tets.cells.size();
  info.lines = dataset.lines.size();
  info.ignored_cells = dataset.ignored_cells;
  info.warnings = dataset.warnings;
  summarize_all(dataset.point_data, "points", info.arrays);
  summarize_all(dataset.triangles.data, "triangles", info.arrays);
  summarize_all(dataset.tets.data, "tetrahedra", info.arrays);
  summarize_all(dataset.line_data, "lines", info.arrays);
  info.full_report = depth == InfoDepth::full;
  report_on<3>(dataset, depth, threads, info.triangle_report, info.triangle_quality);
  report_on<4>(dataset, depth, threads, info.tet_report, info.tet_quality);
  info.choices = choices_among(info.arrays);
  const std::size_t unmatched = info.tet_report ? info.tet_report->unmatched_facets : 0;
  if (unmatched > 0)
    info.warnings.push_back(fmt::format(
        "{} inside the mesh that no neighbour shares (it is not conforming, or parts of it touch, overlap or "
        "are cut open there); the front crosses only at shared vertices, and times are less exact",
        counted(unmatched, "face lies", "faces lie")));
  return info;
}

void declare_info(Command& root, Console& console) {
  Command command = root.subcommand("info", "Show what is in a file, how good it is, what can be solved on it",
                                    "isochron info heart.vtu");
  const auto request = std::make_shared<InfoRequest>();
  command.positionals("FILE", "Meshes and images", append_to(request->files), Need::optional);
  command.flag("--report", "Show histograms of shape and angles; look for crossing triangles in meshes of any size",
               request->report);
  command.flag("--formats", "Show the formats this build reads and writes", request->formats);
  command.group("Images");
  declare_tensor_layout(command, request->tensors);
  declare_raw(command, request->raw);
  declare_common(command, console);
  command.action([request, &console] { return run_info(*request, console); });
}

}  // namespace isochron::cli
