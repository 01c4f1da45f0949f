// isochron info: what is in a file, how good it is, and what can be solved on it.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <type_traits>

#include "apps/isochron/commands.h"
#include "apps/isochron/mesh_quality.h"
#include "apps/isochron/solve.h"
#include "isochron/core/join_text.h"
#include "isochron/diffusion.h"
#include "isochron/io.h"
#include "isochron/io/image/values.h"
#include "isochron/mesh.h"
#include "isochron/metric/option_tables.h"

namespace isochron::cli {
namespace {

/// One array, summed up.
struct ArraySummary {
  std::string name;
  std::string on;    ///< "points", "triangles", "tetrahedra", "lines"
  std::string type;  ///< "float32", "int64", …
  int components = 1;
  std::size_t tuples = 0;
  double low = 0, high = 0;    ///< of the finite values
  std::size_t not_finite = 0;  ///< NaN or infinite values
  bool integer_type = false;
  bool whole = true;  ///< all values are whole numbers, whatever the type: regions and tags
  /// Of arrays of one whole number: the smallest values and how often each occurs, at most `max_values`. `distinct` is
  /// the number of all of them, or 0 where there are too many to be regions.
  std::vector<std::pair<double, std::size_t>> values;
  std::size_t distinct = 0;
  static constexpr std::size_t max_values = 20;
};

/// What is in a file; the report has its own warnings.
struct FileReport {
  std::filesystem::path file;
  Report report{13, 4};
  std::vector<std::string> warnings{};
};

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

/// Sums up an array that sits on `on`.
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

/// "1 (5,000 times), 2 (3,000), and 8 more".
std::string values_of(const ArraySummary& array) {
  std::vector<std::string> parts;
  for (const auto& [value, count] : array.values)
    parts.push_back(
        fmt::format("{:g} ({}{})", value, grouped(count), parts.empty() ? (count == 1 ? " time" : " times") : ""));
  if (array.distinct > array.values.size())
    parts.push_back(fmt::format("and {} more", grouped(array.distinct - array.values.size())));
  return join_text(parts, ", ");
}

/// Sums up all arrays as rows of the text; `arrays` of the object are the summaries.
void report_arrays(Report& report, const std::vector<ArraySummary>& arrays) {
  Json& list = report.object()["arrays"] = Json::array();
  report.line(arrays.empty() ? "  no arrays" : "  arrays");
  std::size_t width = 0;
  for (const ArraySummary& array : arrays) width = std::max(width, array.name.size());
  for (const ArraySummary& array : arrays) {
    Json values = Json::array();
    for (const auto& [value, count] : array.values) values.push_back({{"value", value}, {"count", count}});
    list.push_back({{"name", array.name},
                    {"on", array.on},
                    {"type", array.type},
                    {"components", array.components},
                    {"tuples", array.tuples},
                    {"min", array.low},
                    {"max", array.high},
                    {"not_finite", array.not_finite},
                    {"distinct", array.distinct > 0 ? Json(array.distinct) : Json(nullptr)},
                    {"values", std::move(values)}});
    const std::string type = array.components > 1 ? fmt::format("{} × {}", array.type, array.components) : array.type;
    const std::string range =
        array.low <= array.high ? fmt::format("{:.6g} … {:.6g}", array.low, array.high) : "no finite value";
    const std::string missing = array.not_finite > 0 ? fmt::format(", {} not finite", grouped(array.not_finite)) : "";
    report.line(fmt::format("    {:<{}}  {:<10}  {:<11}  {}{}", array.name, width, array.on, type, range, missing));
    if (!array.values.empty()) report.line(fmt::format("    {:<{}}  values {}", "", width, values_of(array)));
  }
}

// ---- meshes

/// Whether an array's name says that it is a speed; any positive number could be one.
bool named_like_a_speed(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name == "f" || name == "v" || name == "vp" || name == "vs" || name == "c") return true;
  for (const char* word : {"speed", "veloc", "vel", "cv", "conduction"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

/// Arrays whose shape and values fit an option of `isochron solve`.
struct SolveChoices {
  std::vector<std::string> speed_array;           ///< by their names too
  std::vector<std::string> possible_speed_array;  ///< positive numbers that may be anything
  std::vector<std::string> tensor_array, fibers, region_array, source_tag, source_levelset;
};

/// What could be given to `isochron solve`, judged by shape and range; what `solve` itself wrote is not offered.
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

/// What a kind of element and its boundary are called.
struct ElementWords {
  const char *kind, *element, *elements, *facet, *facets;
};
constexpr ElementWords tet_words{"tet", "tetrahedron", "tetrahedra", "face", "faces"};
constexpr ElementWords triangle_words{"triangle", "triangle", "triangles", "edge", "edges"};

/// What is wrong with a mesh, or may be.
std::string faults_of(const MeshReport& found, const ElementWords& words) {
  std::vector<std::string> faults;
  const auto fault = [&](std::size_t count, const std::string& one, const std::string& many) {
    if (count > 0) faults.push_back(counted(count, one, many));
  };
  fault(found.degenerate, "degenerate", "degenerate");
  fault(found.duplicate_elements, "duplicate", "duplicate");
  fault(found.inverted, "inverted (harmless)", "inverted (harmless)");
  fault(found.non_manifold_facets, fmt::format("non-manifold {}", words.facet),
        fmt::format("non-manifold {}", words.facets));
  fault(found.unmatched_facets, fmt::format("unmatched {}", words.facet), fmt::format("unmatched {}", words.facets));
  fault(found.duplicate_points, "point in the place of another", "points in the place of another");
  fault(found.unreferenced_vertices, "point without an element", "points without an element");
  return faults.empty() ? "nothing wrong" : join_text(faults, ", ");
}

Report report_on(const MeshReport& found, const ElementWords& words) {
  Report report = mesh_report();
  report.add({{"elements", words.kind},
              {"element_count", found.elements},
              {"inverted", found.inverted},
              {"degenerate", found.degenerate},
              {"duplicate_elements", found.duplicate_elements},
              {"unreferenced_vertices", found.unreferenced_vertices},
              {"duplicate_points", found.duplicate_points},
              {"boundary_facets", found.boundary_facets},
              {"non_manifold_facets", found.non_manifold_facets},
              {"unmatched_facets", found.unmatched_facets},
              {"components", found.components},
              {"largest_component", found.largest_component},
              {"max_valence", found.max_valence},
              {"min_edge", found.min_edge},
              {"mean_edge", found.mean_edge},
              {"max_edge", found.max_edge},
              {"min_quality", found.min_quality},
              {"mean_quality", found.mean_quality},
              {"obtuse_share", found.obtuse_share},
              {"sound", found.sound()},
              {"fmm_safe", found.obtuse_share == 0},
              {"low", json_of(found.low)},
              {"high", json_of(found.high)}});
  report.line("  " + counted(found.elements, words.element, words.elements));
  report.row("box", "{:.6g} … {:.6g},  {:.6g} … {:.6g},  {:.6g} … {:.6g}", found.low.x, found.high.x, found.low.y,
             found.high.y, found.low.z, found.high.z);
  report.row("edges", "{:.4g} … {:.4g}, mean {:.4g}", found.min_edge, found.max_edge, found.mean_edge);
  report.row("quality", "worst {:.3g}, mean {:.3g} (1 is equilateral)", found.min_quality, found.mean_quality);
  report.row("parts", "{}, the largest with {}; at most {} at a vertex", grouped(found.components),
             counted(found.largest_component, "vertex", "vertices"), found.max_valence);
  report.row("boundary", "{}", counted(found.boundary_facets, words.facet, words.facets));
  report.row("checks", "{}", faults_of(found, words));
  report.row("obtuse", "{:.1f} % of the elements{}", 100 * found.obtuse_share,
             found.obtuse_share == 0 ? ": --method fmm is safe with any speed" : ": --method fmm needs --hand-over");
  return report;
}

/// Whether to look closer than is quick: histograms, and crossings of any number of triangles.
enum class InfoDepth { quick, full };

/// Adds a mesh of one kind of elements to `meshes`, if there are any.
template <int Corners>
void examine_mesh(Dataset& dataset, InfoDepth depth, int threads, FileReport& info) {
  if (dataset.block<Corners>().cells.empty()) return;
  auto mesh = take_mesh<Corners>(dataset);
  const MeshReport found = validate(mesh, {}, threads);
  const bool full = depth == InfoDepth::full;
  Report report = report_on(found, Corners == 4 ? tet_words : triangle_words);
  report_quality(report, examine_quality(mesh, full ? CrossingTest::always : CrossingTest::small_meshes, threads),
                 full ? Histograms::show : Histograms::hide);
  info.report.object()["meshes"].push_back(report.object());
  info.report.text() += report.text();
  if (Corners == 4 && found.unmatched_facets > 0)
    info.warnings.push_back(fmt::format(
        "{} inside the mesh that no neighbour shares (it is not conforming, or parts of it touch, overlap or "
        "are cut open there); the front crosses only at shared vertices, and times are less exact",
        counted(found.unmatched_facets, "face lies", "faces lie")));
  restore_mesh<Corners>(dataset, std::move(mesh));
}

void report_choices(Report& report, const SolveChoices& choices, bool triangles, bool tets) {
  const bool any = triangles || tets;
  report.line(any ? "  isochron solve can use\n    --speed S"
                  : "  nothing can be solved here: there are no triangles and no tetrahedra");
  Json& object = report.object()["choices"];
  const auto choice = [&](const char* key, const char* option, const std::vector<std::string>& names) {
    object[key] = names;
    if (any && !names.empty()) report.line(fmt::format("    {:<46} {}", option, join_text(names, ", ")));
  };
  choice("speed_array", "--speed-array", choices.speed_array);
  choice("possible_speed_array", "--speed-array, if it is a speed:", choices.possible_speed_array);
  choice("tensor_array", "--metric-array, --velocity-tensor-array", choices.tensor_array);
  choice("fibers", "--fibers, --sheets", choices.fibers);
  choice("region_array", "--region-array", choices.region_array);
  choice("source_tag", "--source-tag NAME=VALUE", choices.source_tag);
  choice("source_levelset", "--source-levelset", choices.source_levelset);
  if (triangles && tets) report.line("    --elements tet (default) or triangle");
}

/// Reads and examines a file. Throws InputError.
FileReport examine(const std::filesystem::path& file, InfoDepth depth, int threads) {
  Dataset dataset = read_dataset(file);
  FileReport info{.file = file, .warnings = dataset.warnings};
  Report& report = info.report;
  const bool triangles = !dataset.triangles.cells.empty(), tets = !dataset.tets.cells.empty();
  report.title("file", file.string(),
               counted(dataset.points.size(), "point", "points") +
                   (dataset.lines.empty() ? "" : ", " + counted(dataset.lines.size(), "line", "lines")));
  report.add({{"points", dataset.points.size()},
              {"triangles", dataset.triangles.cells.size()},
              {"tetrahedra", dataset.tets.cells.size()},
              {"lines", dataset.lines.size()},
              {"cut_cells", json_of(dataset.cut_cells)},
              {"ignored_cells", Json::object()},
              {"meshes", Json::array()}});
  std::vector<ArraySummary> arrays;
  const auto add = [&](const DataArrays& on, const char* name) {
    for (const DataArray& array : on.all()) arrays.push_back(summarize(array, name));
  };
  add(dataset.point_data, "points");
  add(dataset.triangles.data, "triangles");
  add(dataset.tets.data, "tetrahedra");
  add(dataset.line_data, "lines");
  examine_mesh<4>(dataset, depth, threads, info);
  examine_mesh<3>(dataset, depth, threads, info);
  for (const CutCells& cut : dataset.cut_cells) report.line("  cut: " + text_of(cut));
  for (const auto& [name, count] : dataset.ignored_cells) {
    report.object()["ignored_cells"][name] = count;
    report.line(fmt::format("  left out: {} of kind {}", grouped(count), name));
  }
  report_arrays(report, arrays);
  report_choices(report, choices_among(arrays), triangles, tets);
  return info;
}

// ---- images

/// The tensors of an image, summed up over the voxels that have one.
struct TensorSummary {
  std::string array;
  std::string order;  ///< "row", "mrtrix", …; "matrix" of nine components
  std::string frame;  ///< "world", "voxel", "fsl"
  std::size_t voxels = 0;
  std::size_t empty = 0;                  ///< all components zero: background
  std::size_t not_finite = 0;             ///< voxels with NaN or infinity
  std::size_t not_positive_definite = 0;  ///< of `voxels`
  std::size_t fa_above_one = 0;
  double min_fa = 0, mean_fa = 0, largest_fa = 0;
  FiberCoherence coherence;
};

/// What the components are taken to be, where they are no tensor of known order.
std::string meaning_of(const ArraySummary& array) {
  if (array.components == 1) {
    if (array.distinct == 0 || !array.whole) return "scalar";
    const bool mask = array.distinct <= 2 && array.low == 0 && array.high <= 1;
    return mask ? "mask" : array.low >= 0 ? "labels" : "scalar";
  }
  if (array.components == 3) return "vector";
  if (array.components == 7 && !array.integer_type) return "series of 7 volumes, or a tensor behind a confidence";
  if (array.components == 6 && !array.integer_type) return "tensor of unknown order: give --tensor-order";
  return fmt::format("series of {} volumes, no tensor", array.components);
}

void count(const SymTensor3d& t, TensorSummary& summary) {
  const double all[] = {t.xx, t.xy, t.xz, t.yy, t.yz, t.zz};
  if (!std::all_of(std::begin(all), std::end(all), [](double v) { return std::isfinite(v); })) {
    ++summary.not_finite;
    return;
  }
  if (largest_component(t) == 0) {
    ++summary.empty;
    return;
  }
  const double fa = fractional_anisotropy(t);
  ++summary.voxels;
  summary.not_positive_definite += positive_definite(t) ? 0 : 1;
  summary.fa_above_one += fa > 1 ? 1 : 0;
  summary.min_fa = std::min(summary.min_fa, fa);
  summary.largest_fa = std::max(summary.largest_fa, fa);
  summary.mean_fa += fa;
}

TensorSummary sum_up_tensors(const Image& image, const DataArray& array, TensorOrder order, TensorFrame frame) {
  TensorSummary summary;
  summary.array = array.name;
  summary.order = array.components == 9 ? "matrix" : choice_name(order);
  summary.frame = choice_name(frame);
  std::vector<SymTensor3d> tensors = world_tensors(array, order, image.grid, frame, array.name);
  leave_out_masked(image, tensors);
  summary.min_fa = std::numeric_limits<double>::infinity();
  for (const SymTensor3d& t : tensors) count(t, summary);
  if (summary.voxels > 0) summary.mean_fa /= static_cast<double>(summary.voxels);
  else summary.min_fa = 0;
  summary.coherence = fiber_coherence(image.grid, tensors, frame);
  return summary;
}

/// The array that holds tensors: the file's own, one of nine components, or one of six when the user gives an order.
const DataArray* find_tensors(const Image& image, const TensorLayout& layout) {
  const auto& arrays = image.data.all();
  if (image.tensor_order && !arrays.empty()) return &arrays.front();
  const auto found = std::find_if(arrays.begin(), arrays.end(), [&](const DataArray& a) {
    return a.components == 9 || (a.components == 6 && layout.order.has_value());
  });
  return found == arrays.end() ? nullptr : &*found;
}

void warn_about(const TensorSummary& tensors, std::vector<std::string>& warnings) {
  if (const AxesCandidate* better = tensors.coherence.better()) {
    warnings.push_back(fmt::format(
        "the fibres hang together better with {} (coherence {:.3f} instead of {:.3f}); the tensors' axes may have been "
        "mixed up, check --tensor-order and --tensor-frame",
        better->name, better->coherence, tensors.coherence.candidates.front().coherence));
  }
  if (mostly_wrong(tensors.not_positive_definite, tensors.voxels))
    warnings.emplace_back("most tensors are not positive definite; the order of their components is probably another");
  if (tensors.not_finite > 0)
    warnings.push_back(
        fmt::format("{} with tensors that are not finite", counted(tensors.not_finite, "voxel", "voxels")));
}

void report_tensors(Report& report, const TensorSummary& tensors) {
  const AxesCandidate* better = tensors.coherence.better();
  Json coherence = Json::object();
  std::vector<std::string> shown;
  for (const AxesCandidate& candidate : tensors.coherence.candidates) {
    coherence[candidate.name] = candidate.coherence;
    shown.push_back(fmt::format("{:.3f} {}", candidate.coherence, candidate.name));
  }
  report.object()["tensors"] = {{"array", tensors.array},
                                {"order", tensors.order},
                                {"frame", tensors.frame},
                                {"voxels", tensors.voxels},
                                {"empty", tensors.empty},
                                {"not_finite", tensors.not_finite},
                                {"not_positive_definite", tensors.not_positive_definite},
                                {"fa_above_one", tensors.fa_above_one},
                                {"min_fa", tensors.min_fa},
                                {"mean_fa", tensors.mean_fa},
                                {"max_fa", tensors.largest_fa},
                                {"coherence", std::move(coherence)},
                                {"better_axes", better != nullptr ? Json(better->name) : Json(nullptr)}};
  report.line(fmt::format("  tensors ({}, order {}, {} frame)", tensors.array, tensors.order, tensors.frame));
  report.row("voxels", "{} with a tensor, {} empty, {} not finite", grouped(tensors.voxels), grouped(tensors.empty),
             grouped(tensors.not_finite));
  report.row("anisotropy", "FA {:.3g} … {:.3g}, mean {:.3g}; {} above 1", tensors.min_fa, tensors.largest_fa,
             tensors.mean_fa, grouped(tensors.fa_above_one));
  const double share = tensors.voxels == 0
                           ? 0
                           : static_cast<double>(tensors.not_positive_definite) / static_cast<double>(tensors.voxels);
  report.row("checks", "{} not positive definite ({})", percent(share),
             counted(tensors.not_positive_definite, "voxel", "voxels"));
  if (tensors.coherence.voxels > 0) report.row("coherence", "{}", join_text(shown, ", "));
}

void report_grid(Report& report, const ImageGrid& grid) {
  const Vec3d spacing{grid.spacing(0), grid.spacing(1), grid.spacing(2)};
  const std::string axes = axis_letters(grid);
  report.add({{"shape", grid.shape},
              {"voxels", grid.voxel_count()},
              {"spacing", json_of(spacing)},
              {"axes", axes},
              {"affine", Json::array()}});
  report.row("spacing", "{:.6g} {:.6g} {:.6g}", spacing.x, spacing.y, spacing.z);
  report.row("axes", "{}", axes);
  for (int d = 0; d < 3; ++d) {
    const double x = grid.axes[0][d], y = grid.axes[1][d], z = grid.axes[2][d], origin = grid.origin[d];
    report.object()["affine"].push_back({x, y, z, origin});
    report.row(d == 0 ? "affine" : "", "{:>10.5g} {:>10.5g} {:>10.5g}  {:>10.6g}", x, y, z, origin);
  }
  report.object()["affine"].push_back({0, 0, 0, 1});
}

/// Examines an image. Throws InputError when an order of tensors is given and there are none.
FileReport examine_image(const std::filesystem::path& file, const Image& image, const TensorLayout& layout) {
  FileReport info{.file = file, .warnings = image.warnings};
  Report& report = info.report;
  const DataArray* tensors = find_tensors(image, layout);
  if (tensors == nullptr && layout.order) {
    throw InputError(
        "there are no tensors (arrays have 1 component or another number than 6 and 9); leave out --tensor-order, or "
        "fit tensors first",
        file.string());
  }
  std::optional<TensorSummary> found;
  std::vector<ArraySummary> arrays;
  std::vector<std::string> meanings;
  for (const DataArray& array : image.data.all()) {
    arrays.push_back(summarize(array, "voxels"));
    if (&array != tensors) {
      meanings.push_back(meaning_of(arrays.back()));
      continue;
    }
    // The user knows better than the file; nine components have one order.
    const TensorOrder order = layout.order.value_or(image.tensor_order.value_or(TensorOrder::row));
    found = sum_up_tensors(image, array, order, layout.axes());
    meanings.push_back(fmt::format("tensor, order {}, {} frame", found->order, found->frame));
    warn_about(*found, info.warnings);
  }
  const auto& shape = image.grid.shape;
  report.title("file", file.string(), fmt::format("image of {} × {} × {} voxels", shape[0], shape[1], shape[2]));
  report_grid(report, image.grid);
  report_arrays(report, arrays);
  report.line("  taken to be");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    report.object()["arrays"][i]["meaning"] = meanings[i];
    report.line(fmt::format("    {}: {}", arrays[i].name, meanings[i]));
  }
  report.object()["tensors"] = nullptr;
  if (found) report_tensors(report, *found);
  return info;
}

// ---- the command

/// A format of meshes or images; `limits` says what it does not hold.
Json report_format(Report& report, const auto& format, const std::string& limits) {
  report.line(fmt::format("{:<24} {}{}  {}{}", format.name, format.reads ? "read " : "     ",
                          format.writes ? "write" : "     ", join_text(format.extensions, " "), limits));
  return {{"name", format.name}, {"extensions", format.extensions}, {"reads", format.reads}, {"writes", format.writes}};
}

void print_formats(const Console& console) {
  Report report;
  report.add({{"formats", Json::array()}, {"image_formats", Json::array()}});
  for (const Format& format : formats()) {
    const std::string kept = format.some_arrays.empty()
                                 ? "  (arrays are not kept)"
                                 : fmt::format("  (arrays kept: {})", join_text(format.some_arrays, ", "));
    Json one = report_format(report, format, format.keeps_arrays ? "" : kept);
    one.update({{"keeps_arrays", format.keeps_arrays}, {"some_arrays", format.some_arrays}});
    report.object()["formats"].push_back(std::move(one));
  }
  report.line("images");
  for (const ImageFormat& format : image_formats()) {
    Json one = report_format(report, format, format.many_arrays ? "" : "  (one array)");
    one["many_arrays"] = format.many_arrays;
    report.object()["image_formats"].push_back(std::move(one));
  }
  if (console.options.json) console.print(json_line(report.object()));
  else console.say(report.text());
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
    print_formats(console);
    return 0;
  }
  if (request.files.empty()) throw UsageError("no file given; name one or more, or say --formats");
  check_raw(request.files, request.raw, console);
  const bool meshes = std::none_of(request.files.begin(), request.files.end(),
                                   [&](const auto& file) { return is_image(file, request.raw); });
  refuse_on_mesh(meshes && request.tensors.order, "--tensor-order");
  refuse_on_mesh(meshes && request.tensors.frame, "--tensor-frame");
  std::vector<FileReport> infos;
  for (const auto& file : request.files) {
    const Activity activity(console, "examining " + file.string());
    if (is_image(file, request.raw))
      infos.push_back(examine_image(file, load_image(file, request.raw), request.tensors));
    else infos.push_back(examine(file, request.report ? InfoDepth::full : InfoDepth::quick, console.threads()));
  }
  Json files = Json::array();
  std::string text;
  for (FileReport& info : infos) {
    for (const std::string& warning : info.warnings) console.warn("{}: {}", info.file.string(), warning);
    info.report.object()["warnings"] = info.warnings;
    files.push_back(info.report.object());
    text += info.report.text();
  }
  if (console.options.json) console.print(json_line({{"files", std::move(files)}}));
  else console.say(text);
  return 0;
}

}  // namespace

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
