// What solving again after a small change costs, beside the solve.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

class Updates {
 public:
  explicit Updates(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-update", "Solving again after a change, beside the solve from nothing", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note(
        "A ball of 1 % of the elements gets M times 4 (half the speed) or M / 4, at places all over the domain. A "
        "source "
        "of two moves by an edge; the only source moves. Whole calls, without the set-up before them; medians.");
    report_.note("Checked: the times after all changes are those of a solve from nothing.");
  }

  bool run() {
    const bool quick = options_.size == BenchSize::quick;
    const std::size_t side = quick ? 12 : 64;
    const TetMesh cube = generate_cube({.nx = side, .ny = side, .nz = side, .jitter = 0.2});
    add("cube, speed 1", cube, Metric::constant(SymTensor3d::identity()));
    add("cube, random fibres 3:1", cube, fiber_metric(random_fibers(cube, 1), 3, 1));
    const Heart ventricle = heart(quick ? 4000 : 500'000, 3, 1, threads_);
    add("ventricle, fibres 3:1", ventricle.mesh, ventricle.metric);
    const TriangleMesh square = generate_square({.n = quick ? std::size_t{40} : std::size_t{1024}, .jitter = 0.2});
    add("square, speed 1", square, Metric::constant(SymTensor3d::identity()));
    const std::uint32_t voxels = quick ? 16 : 128;
    const ImageGrid grid = image_grid({{voxels, voxels, voxels}, 1.0});
    add("image, speed 1", grid, Metric(SpeedMetric{std::vector<double>(grid.voxel_count(), 1.0)}));
    return report_.finish(options_);
  }

 private:
  static std::size_t count_of(const ImageGrid& grid) { return grid.voxel_count(); }
  template <int Corners>
  static std::size_t count_of(const SimplexMesh<Corners>& mesh) {
    return mesh.element_count();
  }
  static std::size_t vertices_of(const ImageGrid& grid) { return grid.voxel_count(); }
  template <int Corners>
  static std::size_t vertices_of(const SimplexMesh<Corners>& mesh) {
    return mesh.vertex_count();
  }
  static Vec3d middle_of(const ImageGrid& grid, std::size_t e) { return grid.position(VertexId(e)); }
  template <int Corners>
  static Vec3d middle_of(const SimplexMesh<Corners>& mesh, std::size_t e) {
    Vec3d sum{};
    for (const VertexId v : mesh.elements[e]) sum += mesh.point(v);
    return sum / static_cast<double>(Corners);
  }

  /// The hundredth of the elements that is nearest to one of them.
  template <class Shape>
  static std::vector<ElementId> ball(const Shape& shape, std::size_t around) {
    const std::size_t count = count_of(shape), wanted = std::max<std::size_t>(1, count / 100);
    const Vec3d centre = middle_of(shape, around);
    std::vector<std::pair<double, std::uint32_t>> far(count);
    for (std::size_t e = 0; e < count; ++e)
      far[e] = {norm(middle_of(shape, e) - centre), static_cast<std::uint32_t>(e)};
    std::nth_element(far.begin(), far.begin() + static_cast<std::ptrdiff_t>(wanted), far.end());
    std::vector<ElementId> ids;
    for (std::size_t i = 0; i < wanted; ++i) ids.emplace_back(far[i].second);
    return ids;
  }

  /// The metric with M times `factor` there.
  static Metric scaled(const Metric& metric, std::size_t count, const std::vector<ElementId>& there, double factor) {
    if (const auto* given = std::get_if<SpeedMetric>(&metric.kind())) {
      SpeedMetric speed = *given;
      for (const ElementId e : there) speed.speed[e.index()] = given->speed[e.index()] / std::sqrt(factor);
      return Metric(std::move(speed));
    }
    TensorMetric tensors;
    for (std::size_t e = 0; e < count; ++e) tensors.tensor.push_back(narrowed(metric.tensor(ElementId(e))));
    for (const ElementId e : there) tensors.tensor[e.index()] = narrowed(factor * widened(tensors.tensor[e.index()]));
    return Metric(std::move(tensors));
  }

  template <class Work>
  static double seconds_of(Work&& work) {
    const Timer timer;
    work();
    return timer.seconds();
  }

  template <class Shape>
  void add(const std::string& name, const Shape& shape, const Metric& given) {
    const std::size_t count = count_of(shape), vertices = vertices_of(shape);
    const Metric metric = scaled(given, count, {}, 1);
    SolveOptions options;
    options.backend = threads_ > 1 ? Backend::threads : Backend::serial;
    options.threads = threads_;
    options.progress.cancel = options_.progress.cancel;
    Sources sources;
    sources.vertices = {{VertexId(0), 0.0}, {VertexId(vertices - 1), 0.0}};
    Solver solver(Domain(shape, metric), options);
    const Arrival first = solver.solve(sources);
    std::vector<double> solves, slower, faster, reached, moved, alone;
    for (int k = 0; k < 5; ++k) solves.push_back(seconds_of([&] { (void)solver.solve(sources); }));
    const double solve = median(solves);
    bool right = true;
    Random random(3);
    const int places = options_.size == BenchSize::quick ? 3 : 11;
    for (int place = 0; place < places; ++place) {
      ProblemChange change, back;
      change.elements = back.elements = ball(shape, random.below(count));
      back.metric = metric;
      for (const double factor : {4.0, 0.25}) {
        const Metric changed = scaled(metric, count, change.elements, factor);
        change.metric = changed;
        Arrival updated, again;
        const double there = seconds_of([&] { updated = solver.update(first, sources, change); });
        if (place == 0) right = right && same(updated, Solver(Domain(shape, changed), options).solve(sources));
        const double home = seconds_of([&] { again = solver.update(updated, sources, back); });
        right = right && same(again, first);
        reached.push_back(static_cast<double>(updated.changed.value_or(0)) / static_cast<double>(vertices));
        (factor > 1 ? slower : faster).push_back(there / solve);
        (factor > 1 ? faster : slower).push_back(home / solve);
      }
    }
    for (int k = 0; k < 5; ++k) {
      ProblemChange change;
      change.sources = sources;
      change.sources->vertices[1].vertex = VertexId(vertices - 2 - static_cast<std::size_t>(k));
      Arrival updated;
      moved.push_back(seconds_of([&] { updated = solver.update(first, sources, change); }) / solve);
      right = right && same(updated, solver.solve(*change.sources));
      Sources one = sources;
      one.vertices.pop_back();
      const Arrival from_one = solver.solve(one);
      change.sources->vertices.erase(change.sources->vertices.begin());
      Arrival dragged, anew;
      const double update = seconds_of([&] { dragged = solver.update(from_one, one, change); });
      alone.push_back(update / seconds_of([&] { anew = solver.solve(*change.sources); }));
      right = right && same(dragged, anew);
    }

    const std::string row = fmt::format("{} ({} elements)", name, count);
    const Remark fault = right ? Remark() : Remark("the times are not those of a solve", true);
    const auto entry = [&](const char* column, std::optional<double> aim, double value, const char* unit) {
      report_.add({row, column, aim, value, unit, fault});
    };
    entry("solve", {}, solve, "s");
    entry("1 % slower, over solve", 0.15, median(slower), "");
    entry("1 % faster, over solve", 0.15, median(faster), "");
    entry("share of times that change", {}, median(reached), "");
    entry("a source of two moved", {}, median(moved), "");
    entry("the only source moved", 1, median(alone), "");
  }

  static bool same(const Arrival& a, const Arrival& b) {
    if (a.times.size() != b.times.size()) return false;
    for (std::size_t v = 0; v < a.times.size(); ++v)
      if (a.times[v] != b.times[v] && !(std::abs(a.times[v] - b.times[v]) <= 1e-3 * (1 + b.max_time / 100)))
        return false;
    return a.converged && b.converged;
  }

  const BenchOptions& options_;
  int threads_;
  Report report_;
};

}  // namespace

bool goals_update(const BenchOptions& options) { return Updates(options).run(); }

}  // namespace isochron::bench
