// The papers' pictures of meshes and arrival times, drawn anew.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/page/field_picture.h"
#include "bench/page/scene_picture.h"
#include "bench/paper/brain.h"
#include "bench/paper/cases.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "bench/paper/tracts.h"
#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/generate.h"
#include "isochron/path.h"

namespace isochron::bench {
namespace {

int threads_of(const BenchOptions& options) { return options.threads > 0 ? options.threads : hardware_threads(); }

/// Checked times, and the sources in the time's ball where the solver can.
SolveOptions figure_options(const BenchOptions& options) {
  SolveOptions result;
  result.threads = threads_of(options);
  result.backend = result.threads > 1 ? Backend::threads : Backend::serial;
  result.unordered = Unordered::run;
  result.sources = Keep::no;
  result.verify = Keep::yes;
  result.progress.cancel = options.progress.cancel;
  return result;
}

/// The largest time, as the entry of a picture; false when the times failed their check: then there is no picture.
bool add_checked(Report& report, const std::string& row, const Arrival& arrival,
                 const char* column = "largest time (ours)") {
  const bool passed = is_right(arrival);
  report.add(
      {row, column, {}, passed ? std::optional(arrival.max_time) : std::nullopt, "", passed ? Remark() : failed_check});
  return passed;
}

Vec3d middle_of(std::span<const Vec3d> points) {
  Vec3d low = points.front(), high = points.front();
  for (const Vec3d& p : points)
    for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], p[a]), high[a] = std::max(high[a], p[a]);
  return 0.5 * (low + high);
}

/// The vertex that is farthest along a direction.
Sources farthest_vertex(std::span<const Vec3d> points, const Vec3d& direction) {
  const auto found = std::max_element(points.begin(), points.end(), [&](const Vec3d& a, const Vec3d& b) {
    return dot(a, direction) < dot(b, direction);
  });
  Sources sources;
  sources.vertices.push_back({VertexId(static_cast<std::size_t>(found - points.begin())), 0});
  return sources;
}

/// A model of two regions with the wave of the paper's Figures 4.3 and 4.4, which starts on the side x = 0.
bool region_figure(Report report, const std::string& name, const RegionModel& model, const BenchOptions& options) {
  Sources sources;
  for (std::size_t v = 0; v < model.mesh.vertex_count(); ++v)
    if (model.mesh.points[v].x <= 1e-9) sources.vertices.push_back({VertexId(v), 0});
  const Arrival arrival = solve(model.mesh, Metric(SpeedMetric{model.speed}), sources, figure_options(options));
  const std::string row = fmt::format("{} ({} tets)", name, model.mesh.element_count());
  if (!add_checked(report, row, arrival)) return report.finish(options);
  const CutPlane cut{middle_of(model.mesh.points), {0, -1, 0}};
  report.picture(volume_picture(report.result().name, row + ", wave from the left side, cut open in the middle",
                                "arrival time", model.mesh, arrival.times, cut, {.to_eye = {0.3, -0.9, 0.3}}));
  return report.finish(options);
}

}  // namespace

bool figure_000_3_1(const BenchOptions& options) {
  Report report("000-figure-3.1", "Paper 000 Figure 3.1: the sphere and the dragon, with distances on them", options);
  const bool full = options.size == BenchSize::paper;
  const auto add = [&](const char* file, const std::string& row, const TriangleMesh& mesh, const Sources& sources,
                       const Vec3d& to_eye) {
    const Arrival arrival = solve(mesh, Metric::isotropic(1), sources, figure_options(options));
    if (add_checked(report, row, arrival))
      report.picture(surface_picture(file, row, "distance", mesh, arrival.times, {.to_eye = to_eye}));
  };
  const TriangleMesh sphere = generate_sphere({.frequency = full ? 320U : 64U, .radius = 100});
  add("000-figure-3.1-sphere", surface_label(3, sphere), sphere, farthest_vertex(sphere.points, {0.4, -0.6, 0.7}),
      {0.5, -0.8, 0.45});
  if (const auto dragon = surface_mesh(4, BenchSize::paper)) {
    // The scan's y is up: seen along −z, which keeps it so.
    add("000-figure-3.1-dragon", surface_label(4, *dragon), *dragon, middle_source(*dragon), {0, 0, 1});
  } else {
    report.note("The dragon is not drawn: it needs surf/dragon_vrip.ply.gz in the folder ISOCHRON_DATA.");
  }
  return report.finish(options);
}

Picture two_circles_picture(const TriangleMesh& mesh, const std::vector<double>& times) {
  return surface_picture("000-figure-3.3-a", "(a) Distance from two circles of radius 3 in a square with sides of 16",
                         "distance", mesh, times, {.to_eye = {0, 0, 1}});
}

bool figure_001_2(const BenchOptions& options) {
  Report report("001-figure-2", "Paper 001 Figure 2: arrival time on the ventricle, from its lowest point", options);
  const Heart h = heart(options.size == BenchSize::paper ? 3073529 : 150000, 0.6, 0.3, threads_of(options));
  const Arrival arrival = solve(h.mesh, h.metric, farthest_vertex(h.mesh.points, {0, 0, -1}), figure_options(options));
  const std::string row = fmt::format("ventricle ({} tets)", h.mesh.element_count());
  if (!add_checked(report, row, arrival)) return report.finish(options);
  std::vector<double> shares = arrival.times;
  for (double& t : shares) t /= arrival.max_time;
  report.picture(volume_picture("001-figure-2", row, "arrival time / latest", h.mesh, shares, {}));
  report.picture(volume_picture("001-figure-2-cut", row + ", cut open", "arrival time / latest", h.mesh, shares,
                                CutPlane{middle_of(h.mesh.points), {0, -1, 0}}));
  return report.finish(options);
}

bool figure_003_4_2(const BenchOptions& options) {
  Report report("003-figure-4.2",
                "Paper 003 Figure 4.2: level curves on the cube (Speed 2) and the ventricle (Speed 1)", options);
  const bool full = options.size == BenchSize::paper;
  const auto add = [&](const char* file, const std::string& row, const TetMesh& mesh, int speed, const Sources& sources,
                       const std::optional<CutPlane>& cut) {
    const Arrival arrival = solve(mesh, volume_metric(mesh, speed), sources, figure_options(options));
    if (add_checked(report, row, arrival))
      report.picture(volume_picture(file, row, "arrival time", mesh, arrival.times, cut));
  };
  const TetMesh cube = unit_cell_cube(full ? 64 : 33);
  add("003-figure-4.2-cube", fmt::format("cube ({} tets), Speed 2", cube.element_count()), cube, 2, middle_source(cube),
      CutPlane{middle_of(cube.points), {0, -1, 0}});
  VentricleOptions ventricle;
  ventricle.elements = full ? 2306717 : 150000;
  ventricle.threads = threads_of(options);
  const TetMesh mesh = generate_ventricle(ventricle).mesh;
  add("003-figure-4.2-ventricle", fmt::format("ventricle ({} tets), Speed 1", mesh.element_count()), mesh, 1,
      farthest_vertex(mesh.points, {0.5, -0.8, 0.3}), {});
  return report.finish(options);
}

bool figure_003_4_3(const BenchOptions& options) {
  LensOptions lens;
  if (options.size == BenchSize::quick) lens.n = 32;
  return region_figure({"003-figure-4.3", "Paper 003 Figure 4.3: level curves on the lens (index 2.419)", options},
                       "lens", generate_lens(lens), options);
}

bool figure_003_4_4(const BenchOptions& options) {
  BlobsOptions blobs;
  if (options.size == BenchSize::quick) blobs.n = 32;
  return region_figure({"003-figure-4.4", "Paper 003 Figure 4.4: level curves on the blobs (speeds 1 and 10)", options},
                       "blobs", generate_blobs(blobs), options);
}

namespace {

/// The largest finite value of a picture that shows near places well: the share of the voxels with smaller ones.
double quantile(std::vector<double> values, double share) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) return 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The axis of voxels that runs most nearly up and down the world: slices across it show left and right.
int upward_axis(const ImageGrid& grid) {
  const auto upward = [&](int axis) {
    return std::abs(grid.axes[static_cast<std::size_t>(axis)].z) / grid.spacing(axis);
  };
  int best = 2;
  for (const int axis : {1, 0})
    if (upward(axis) > upward(best)) best = axis;
  return best;
}

/// Times on a tensor image: the slice across an axis that the source is in. Nothing where they failed their check.
std::optional<Arrival> add_example(Report& report, char letter, const std::string& row, const GridModel& model,
                                   int axis, const BenchOptions& options) {
  Arrival arrival = solve(model.grid, model.metric, model.sources(), figure_options(options), model.mask);
  if (!add_checked(report, row, arrival)) return std::nullopt;
  const std::uint32_t slice = model.grid.index(model.source)[static_cast<std::size_t>(axis)];
  FieldView view;
  view.range = {0, quantile(arrival.times, 0.99)};
  const std::string caption = fmt::format("({}) {}, slice {} across {}", letter, row, slice, "xyz"[axis]);
  report.picture(slice_picture(fmt::format("004-figure-8-{}", letter), caption, "arrival time", model.grid,
                               arrival.times, model.mask, {axis, slice}, view));
  return arrival;
}

/// The edges of the box around an image.
Shape box_edges(const ImageGrid& grid, double radius) {
  const auto corner = [&](unsigned bits) {
    Vec3d index;
    for (int a = 0; a < 3; ++a) index[a] = (bits >> a & 1U) != 0 ? grid.shape[static_cast<std::size_t>(a)] - 0.5 : -0.5;
    return grid.position(index);
  };
  Shape shape;
  for (unsigned from = 0; from < 8; ++from)
    for (const unsigned axis : {1U, 2U, 4U}) {
      if ((from & axis) != 0) continue;
      const auto first = static_cast<std::uint32_t>(shape.mesh.points.size());
      const Tube tube = make_tube(std::array{corner(from), corner(from | axis)}, {.radius = radius, .sides = 4});
      shape.mesh.points.insert(shape.mesh.points.end(), tube.mesh.points.begin(), tube.mesh.points.end());
      for (auto element : tube.mesh.elements) {
        for (VertexId& v : element) v = VertexId(v.value + first);
        shape.mesh.elements.push_back(element);
      }
    }
  shape.colors = {{120, 120, 120}};
  return shape;
}

/// Figure 8 (b): the paths from random places to the seed, coloured by the time at which the front passes.
void add_characteristic_paths(Report& report, const std::string& row, const GridModel& model, const Arrival& arrival) {
  constexpr int count = 150;
  const GridPathTracer tracer(model.grid, model.metric, model.mask, arrival.times, model.sources());
  const double voxel = model.grid.spacing(0);
  const std::vector<Color> map = color_map(256);
  const auto color_at = [&](double time) {
    return map[static_cast<std::size_t>(255 * std::clamp(time / arrival.max_time, 0.0, 1.0))];
  };
  Scene scene;
  scene.add(box_edges(model.grid, 0.2 * voxel));
  Random random(1);
  int reaching = 0;
  std::string why;
  for (int i = 0; i < count; ++i) {
    Vec3d start;
    for (int a = 0; a < 3; ++a)
      start[a] = random.uniform(0, static_cast<double>(model.grid.shape[static_cast<std::size_t>(a)] - 1));
    const Path path = tracer.from(model.grid.position(start));
    if (path.end == PathEnd::source) ++reaching;
    else why = path.why;
    Tube tube = make_tube(path.points, {.radius = 0.25 * voxel, .sides = 6});
    for (const std::uint32_t point : tube.point_of) tube.colors.push_back(color_at(path.times[point]));
    scene.add(shape_of(std::move(tube)));
  }
  Entry entry{row, "paths to the seed (ours)", {}, {}, fmt::format("of {}", count), ""};
  if (reaching == count) entry.ours = reaching;
  else entry.remark = failed_run(fmt::format("{} of {} paths end early: {}", count - reaching, count, why));
  report.add(std::move(entry));
  report.picture(
      picture_of("004-figure-8-b-paths", fmt::format("(b) {}: paths from {} random places to the seed", row, count),
                 scene.drawn({.to_eye = {0.55, -0.75, 0.3}}), {"arrival time along the paths", 0, arrival.max_time}));
}

}  // namespace

bool figure_004_8(const BenchOptions& options) {
  Report report("004-figure-8",
                "Paper 004 Figure 8: distance from a seed in the examples: slices, and paths in the helix", options);
  const auto [small, brain, thickness] = example_sizes(options.size);
  const std::uint32_t n = std::max<std::uint32_t>(small, 64);
  add_example(report, 'a', fmt::format("Example 1, diagonal tensors, {}^3", n), example_one(n), 2, options);
  const GridModel helix = example_two(n);
  const std::string helix_row = fmt::format("Example 2, helix, {}^3", n);
  if (const auto arrival = add_example(report, 'b', helix_row, helix, 1, options))
    add_characteristic_paths(report, helix_row, helix, *arrival);
  const std::optional<Brain> real = real_brain(threads_of(options));
  const GridModel third = real ? brain_model(*real) : folded_shell(brain, thickness);
  add_example(
      report, 'c',
      fmt::format("Example 3, {}, {} of {} voxels", real ? "stored brain" : "a folded shell in place of a brain",
                  third.cells, third.grid.voxel_count()),
      third, real ? upward_axis(third.grid) : 2, options);
  return report.finish(options);
}

bool figure_004_2(const BenchOptions& options) {
  const Brain brain = real_or_phantom_brain(options.size, threads_of(options));
  Report report("004-figure-2", "Paper 004 Figure 2: costs u1 and u2 from the ends of the genu, and their sum", options,
                brain.quick_run());
  note_tracts(report, brain);
  const std::string_view name = brain.is_real() ? "corpus callosum genu" : "arch";
  const std::optional<Tract> tract = tract_named(brain, name);
  if (!tract) {
    report.add({fmt::format("{}, {}", brain.name, name),
                "costs",
                {},
                {},
                "",
                failed_run("bench/paper/tracts.csv does not have it")});
    return report.finish(options);
  }
  const ConnectQuery query = query_of(brain, *tract, 0);
  std::array<std::vector<double>, 3> costs;
  for (const int side : {0, 1}) {
    Sources sources;
    for (const VertexId v : (side == 0 ? query.from : query.to).voxels) sources.vertices.push_back({v, 0});
    const Arrival arrival =
        solve(brain.grid, brain.metric.metric, sources, figure_options(options), brain.metric.usable);
    const std::string row = fmt::format("{}, u{}, {} voxels", brain.name, side + 1, brain.metric.counts.usable);
    if (!add_checked(report, row, arrival, "largest cost (ours)")) return report.finish(options);
    costs[static_cast<std::size_t>(side)] = arrival.times;
  }
  for (std::size_t v = 0; v < costs[0].size(); ++v) costs[2].push_back(costs[0][v] + costs[1][v]);
  const Vec3d at = brain.grid.index_of(0.5 * (tract->from.center + tract->to.center));
  const int axis = upward_axis(brain.grid);
  const auto last = static_cast<long>(brain.grid.shape[static_cast<std::size_t>(axis)]) - 1;
  const auto slice = static_cast<std::uint32_t>(std::clamp(std::lround(at[axis]), 0L, last));
  constexpr std::array captions{"(a) cost u1", "(b) cost u2", "(c) total cost u1 + u2"};
  for (std::size_t i = 0; i < 3; ++i) {
    FieldView view{.size = 360};
    const double least = *std::min_element(costs[i].begin(), costs[i].end());
    view.range = {least, quantile(costs[i], 0.98)};
    report.picture(slice_picture(
        fmt::format("004-figure-2-{}", "abc"[i]),
        fmt::format("{} of the {}, {}, slice {} across {}", captions[i], name, brain.name, slice, "xyz"[axis]), "cost",
        brain.grid, costs[i], brain.metric.usable, {axis, slice}, view));
  }
  return report.finish(options);
}

}  // namespace isochron::bench
