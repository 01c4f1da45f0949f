// Paper 004, Figures 6, 7 and 9: pathways of tracts as surfaces, with tensors in them, and beside streamlines.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/page/scene_picture.h"
#include "bench/page/tract_pictures.h"
#include "bench/paper/tables.h"
#include "bench/paper/tracts.h"
#include "isochron/core/parallel.h"
#include "isochron/diffusion.h"
#include "isochron/draw/image_isosurface.h"

namespace isochron::bench {
namespace {

/// How much dearer than the best what is drawn may be, at least: the voxels of the brain are as wide as its tracts.
constexpr double drawn_epsilon = 0.25;

/// What the paper calls a tract of its Figure 6, and its colour there.
struct DrawnTract {
  std::string_view name, label;
  Color color;
};
constexpr std::array brain_tracts{DrawnTract{"corpus callosum genu", "GCC", {60, 200, 210}},
                                  DrawnTract{"corpus callosum body", "BCC", {235, 205, 60}},
                                  DrawnTract{"corpus callosum splenium", "SCC", {215, 60, 55}},
                                  DrawnTract{"cingulum left", "LCG", {70, 175, 80}},
                                  DrawnTract{"cingulum right", "RCG", {75, 105, 215}}};
/// What the phantom has in their place.
constexpr std::array phantom_tracts{DrawnTract{"arch", "arch", {235, 205, 60}},
                                    DrawnTract{"bundle left", "bundle left", {70, 175, 80}}};
constexpr Color path_color{30, 30, 30}, pathway_color{235, 205, 60}, from_color{225, 120, 40}, to_color{150, 80, 190};

SolveOptions tract_options(const BenchOptions& options) {
  SolveOptions result;
  result.backend = Backend::threads;
  result.threads = options.threads > 0 ? options.threads : hardware_threads();
  result.verify = Keep::yes;
  result.progress.cancel = options.progress.cancel;
  return result;
}

std::vector<double> anisotropies(const Brain& brain) {
  std::vector<double> result;
  for (const SymTensor3d& tensor : brain.tensors) result.push_back(std::min(1.0, fractional_anisotropy(tensor)));
  return result;
}

/// A slice of anisotropy across the voxel axis that runs most nearly along an axis of the world, near a place.
Shape anisotropy_slice(const Brain& brain, int world_axis, const Vec3d& place) {
  const auto along = [&](int axis) {
    return std::abs(brain.grid.axes[static_cast<std::size_t>(axis)][world_axis]) / brain.grid.spacing(axis);
  };
  int axis = 0;
  for (const int other : {1, 2})
    if (along(other) > along(axis)) axis = other;
  const auto last = static_cast<long>(brain.grid.shape[static_cast<std::size_t>(axis)]) - 1;
  const long index = std::clamp(std::lround(brain.grid.index_of(place)[axis]), 0L, last);
  return grey_slice(brain.grid, anisotropies(brain), brain.metric.usable, axis, static_cast<std::uint32_t>(index));
}

Shape tube_shape(std::span<const Vec3d> path, double radius, const std::optional<Color>& color, int sides = 10) {
  return shape_of(make_tube(path, {.radius = radius, .sides = sides}), color);
}

/// The least and the largest coordinate of a path along a world axis.
std::pair<double, double> extent(std::span<const Vec3d> path, int axis) {
  const auto less = [&](const Vec3d& a, const Vec3d& b) { return a[axis] < b[axis]; };
  const auto [low, high] = std::minmax_element(path.begin(), path.end(), less);
  return {(*low)[axis], (*high)[axis]};
}

/// A tract's pathway, and its entry of a table: a failure where there is none.
struct NamedPathway {
  std::optional<FoundTract> tract;
  Entry entry;
};

NamedPathway named_pathway(const Brain& brain, std::string_view name, const SolveOptions& options) {
  NamedPathway result{{}, {fmt::format("{}, {}", brain.name, name), "pathway", {}, {}, "voxels", ""}};
  const auto tract = tract_named(brain, name);
  if (!tract) {
    result.entry.remark = failed_run("bench/paper/tracts.csv does not have it");
    return result;
  }
  FoundTract found = find_tract(brain, *tract, drawn_epsilon, options);
  if (found.bad) {
    result.entry.remark = failed_run(*found.bad);
    return result;
  }
  result.entry.ours = static_cast<double>(found.found.pathway_voxels);
  result.entry.remark = fmt::format("epsilon {:.2g}", found.found.pathway_epsilon);
  result.tract = std::move(found);
  return result;
}

/// A tract of a figure.
struct FigureTract {
  DrawnTract drawn;
  Connection found;
};

std::vector<FigureTract> find_tracts(const Brain& brain, const BenchOptions& options, Report& report) {
  std::vector<FigureTract> result;
  const auto drawn = brain.is_real() ? std::span<const DrawnTract>(brain_tracts) : phantom_tracts;
  for (const DrawnTract& tract : drawn) {
    NamedPathway pathway = named_pathway(brain, tract.name, tract_options(options));
    report.add(std::move(pathway.entry));
    if (pathway.tract) result.push_back({tract, std::move(pathway.tract->found)});
  }
  return result;
}

PictureLegend legend_of(std::span<const FigureTract> tracts) {
  PictureLegend legend;
  for (const FigureTract& t : tracts) legend.entries.push_back({std::string(t.drawn.label), t.drawn.color});
  return legend;
}

const PictureLegend direction_legend{
    "", 0, 1, 0, {}, {{"left to right", {220, 0, 0}}, {"back to front", {0, 200, 0}}, {"up and down", {0, 0, 230}}}};

/// Total costs as shares of the least, for a cloud.
std::vector<double> cost_ratios(const Connection& found) {
  std::vector<double> result = found.cost;
  for (double& u : result) u /= found.least_cost;
  return result;
}

/// Figure 6 (a): the cloud of the total cost, with the ends it is between.
void add_cost_cloud(const Brain& brain, const BenchOptions& options, Report& report) {
  const std::string_view name = brain.is_real() ? "corticospinal tract left" : "arch";
  const NamedPathway pathway = named_pathway(brain, name, tract_options(options));
  report.add(pathway.entry);
  if (!pathway.tract) {
    report.note("(a) is not drawn: it has no pathway.");
    return;
  }
  const Connection& found = pathway.tract->found;
  const double voxel = brain.grid.spacing(0);
  const auto& path = found.path.points;
  Scene scene;
  Vec3d behind = path.front();
  behind.y = extent(path, 1).first - 5 * voxel;
  scene.add(anisotropy_slice(brain, 1, behind));
  const std::vector<double> ratios = cost_ratios(found);
  constexpr double clear_from = 1.6;
  scene.set_cloud({brain.grid, ratios, 1, clear_from, 0.5 / voxel});
  scene.add(tube_shape(path, 0.25 * voxel, path_color));
  PictureLegend legend{"total cost u over the least", 1, clear_from, 0, {}, {{"best path", path_color}}};
  report.picture(picture_of("004-figure-6-a",
                            fmt::format("(a) {} of the {}: total cost u as a cloud, from the front, before a slice of "
                                        "fractional anisotropy",
                                        name, brain.name),
                            scene.drawn({.to_eye = {0, 1, 0.12}, .size = 480}), legend));
}

/// Figure 6 (b) and (c).
void add_surfaces(const Brain& brain, std::span<const FigureTract> tracts, Report& report) {
  if (tracts.empty()) {
    report.note("(b) and (c) are not drawn: they have no pathways.");
    return;
  }
  Scene bare, sliced;
  Vec3d below = brain.grid.position(Vec3d{});
  below.z = std::numeric_limits<double>::infinity();
  for (const FigureTract& t : tracts) {
    const TriangleMesh surface = pathway_surface(brain, t.found);
    below.z = std::min(below.z, extent(t.found.path.points, 2).first);
    bare.add(smooth_shape(surface, t.drawn.color));
    sliced.add(smooth_shape(surface, t.drawn.color));
  }
  below.z -= 0.5 * brain.grid.spacing(0);
  sliced.add(anisotropy_slice(brain, 2, below));
  report.add({brain.name, "surfaces of pathways", {}, static_cast<double>(bare.triangle_count()), "triangles", ""});
  const SceneView view{.to_eye = {-0.55, 0.75, 0.75}, .size = 480};
  const std::string caption =
      fmt::format("surfaces of the pathways of the {}, from the left, front and above", brain.name);
  report.picture(picture_of("004-figure-6-b", "(b) " + caption + ", over a slice of fractional anisotropy",
                            sliced.drawn(view), legend_of(tracts)));
  report.picture(picture_of("004-figure-6-c", "(c) " + caption, bare.drawn(view), legend_of(tracts)));
}

/// The tensors in the voxels of pathways.
std::vector<TensorAt> tensors_in(const Brain& brain, std::span<const FigureTract> tracts) {
  std::vector<TensorAt> result;
  for (std::size_t v = 0; v < brain.tensors.size(); ++v)
    if (std::any_of(tracts.begin(), tracts.end(), [&](const FigureTract& t) { return t.found.pathway[v] != 0; }))
      result.push_back({brain.grid.position(VertexId(v)), brain.tensors[v]});
  return result;
}

}  // namespace

TriangleMesh pathway_surface(const Brain& brain, const Connection& found) {
  std::vector<float> values;
  for (std::size_t v = 0; v < found.cost.size(); ++v) {
    const bool apart = found.pathway[v] == 0 && found.cost[v] <= (1 + found.pathway_epsilon) * found.least_cost;
    values.push_back(apart ? std::numeric_limits<float>::infinity()
                           : static_cast<float>(found.cost[v] / found.least_cost));
  }
  return image_isosurface(brain.grid, values, 1 + found.pathway_epsilon, Enclose::below);
}

bool figure_004_6(const BenchOptions& options) {
  const Brain brain = real_or_phantom_brain(options.size, tract_options(options).threads);
  Report report("004-figure-6", "Paper 004 Figure 6: volumetric pathways of tracts", options, brain.quick_run());
  note_tracts(report, brain);
  report.note(fmt::format(
      "A pathway has all voxels whose total cost u is at most (1 + epsilon) times the least; epsilon is {:g}, or the "
      "smallest that joins the ends. Its surface is where u has that value.",
      drawn_epsilon));
  add_cost_cloud(brain, options, report);
  add_surfaces(brain, find_tracts(brain, options, report), report);
  return report.finish(options);
}

bool figure_004_7(const BenchOptions& options) {
  const Brain brain = real_or_phantom_brain(options.size, tract_options(options).threads);
  Report report("004-figure-7", "Paper 004 Figure 7: superquadric glyphs of the tensors in the pathways", options,
                brain.quick_run());
  note_tracts(report, brain);
  const std::vector<FigureTract> tracts = find_tracts(brain, options, report);
  const std::vector<TensorAt> tensors = tensors_in(brain, tracts);
  const auto body = std::find_if(tracts.begin(), tracts.end(), [](const FigureTract& t) {
    return t.drawn.label == "BCC" || t.drawn.label == "arch";
  });
  if (body == tracts.end()) {
    report.note("Nothing is drawn: the pathway that the view is on is missing.");
    return report.finish(options);
  }
  report.add({brain.name, "glyphs", {}, static_cast<double>(tensors.size()), "", ""});
  const double voxel = brain.grid.spacing(0);
  const ShadedMesh glyphs =
      superquadric_glyphs(tensors, {.size = 0.5 * voxel, .threads = tract_options(options).threads});
  Scene scene;
  scene.add(shape_of(glyphs));
  const auto& path = body->found.path.points;
  const Zoom zoom{path[path.size() / 2], 6 * voxel};
  report.picture(
      picture_of("004-figure-7",
                 fmt::format("Tensors in the pathways of the {}, from the left, front and above, and near the {}",
                             brain.name, body->drawn.name),
                 scene.drawn_with_zoom({.to_eye = {-0.55, 0.75, 0.75}, .size = 480}, zoom), direction_legend));
  return report.finish(options);
}

void add_tract_and_streamlines(Report& report, const Brain& brain, int seeds_per_axis, const SolveOptions& options) {
  const std::string_view name = brain.is_real() ? "arcuate fasciculus left" : "bundle left";
  const NamedPathway drawn = named_pathway(brain, name, options);
  if (!drawn.tract) {
    report.add(drawn.entry);
    report.note("Nothing is drawn: there is no pathway.");
    return;
  }
  const Tract tract = *tract_named(brain, name);
  const FoundTract& found = *drawn.tract;
  const double voxel = brain.grid.spacing(0);
  const auto& path = found.found.path.points;
  Vec3d behind = path.front();
  behind.x = extent(path, 0).second + 3 * voxel;
  const Shape slice = anisotropy_slice(brain, 0, behind);
  const SceneView view{.to_eye = {-1, 0, 0.1}, .size = 480};
  const auto with_ends = [&] {
    Scene scene;
    scene.add(slice);
    for (const auto& [end, color] : {std::pair{&tract.from, from_color}, {&tract.to, to_color}})
      scene.add(tube_shape(std::array{end->center}, end->radius, color, 24));
    return scene;
  };
  Scene pathway = with_ends(), inside = with_ends();
  pathway.add(smooth_shape(pathway_surface(brain, found.found), pathway_color));
  inside.add(tube_shape(path, 0.3 * voxel, path_color));
  const PictureLegend legend{"", 0, 1, 0, {}, {{"front end", from_color}, {"back end", to_color}}};
  PictureLegend pathway_legend = legend;
  pathway_legend.entries.push_back({"pathway", pathway_color});
  pathway_legend.entries.push_back({"best path", path_color});
  const std::string caption = fmt::format("{} of the {}, from the left, over a slice of anisotropy", name, brain.name);
  report.picture(picture_of("004-figure-9-a",
                            fmt::format("Pathway (epsilon {:.2g}): {}", found.found.pathway_epsilon, caption),
                            blended(inside.drawn(view), pathway.drawn(view), 0.6), pathway_legend));

  Scene tracked = with_ends();
  const TensorField field{brain.grid, brain.tensors, brain.metric.usable};
  StreamlineOptions tracking;
  tracking.seeds_per_axis = seeds_per_axis;
  tracking.threads = options.threads;
  std::size_t seeds = 0, reaching = 0;
  for (const bool back : {false, true}) {
    const auto& [from, to] =
        back ? std::pair{found.query.to, found.query.from} : std::pair{found.query.from, found.query.to};
    const Streamlines lines = track_streamlines(field, from, to, tracking);
    seeds += lines.seeds;
    reaching += lines.reaching;
    constexpr std::size_t most = 300;
    const std::size_t every = std::max<std::size_t>(1, lines.lines.size() / most);
    for (std::size_t i = 0; i < lines.lines.size(); i += every)
      tracked.add(tube_shape(lines.lines[i].points, 0.1 * voxel, back ? to_color : from_color, 5));
  }
  report.picture(picture_of("004-figure-9-b",
                            fmt::format("Streamlines ({} of {} join the ends): {}", reaching, seeds, caption),
                            tracked.drawn(view), legend));
}

}  // namespace isochron::bench
