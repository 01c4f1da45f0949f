// What inversions find, and how long they take.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"
#include "isochron/invert.h"
#include "isochron/path.h"

namespace isochron::bench {
namespace {

class Inversions {
 public:
  explicit Inversions(const BenchOptions& options)
      : options_(options),
        quick_(options.size == BenchSize::quick),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-invert", "Speeds, velocities and sources from arrival times", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note("Times are computed on the same mesh or image from the true values, without noise.");
    report_.note("Seconds are those of the whole inversion. Rows fail where the misfit does not decrease tenfold.");
  }

  bool run() {
    ventricle();
    checkerboard();
    return report_.finish(options_);
  }

 private:
  /// Four regions, each with velocities along and across its fibres, and three stimuli; one beat, 60 electrodes.
  void ventricle() {
    const Ventricle model = generate_ventricle({.elements = quick_ ? std::size_t{6000} : std::size_t{500'000}});
    const TetMesh& mesh = model.mesh;
    FiberMetric fibers{model.fiber, {}, {}, {{0.6, 0.3, 0.3}, {0.75, 0.3, 0.3}, {0.5, 0.25, 0.25}, {0.65, 0.4, 0.4}}};
    std::vector<std::uint16_t> region(mesh.element_count());
    for (std::size_t e = 0; e < region.size(); ++e) {
      const Vec3d at = mesh.point(mesh.elements[e][0]);
      region[e] = static_cast<std::uint16_t>((at.x > 0 ? 1 : 0) + (at.y > 0 ? 2 : 0));
    }
    fibers.region = region;
    const Metric truth(fibers);
    const std::vector<Velocities> velocities = fibers.velocities;
    const std::vector<PointSource> stimuli{{{20.1, 3.2, -5.3}, 0}, {{-13.4, 15.1, -21.7}, 4}, {{2.3, -22.6, 4.4}, 9}};
    Measurements measured;
    Random random(3);
    while (measured.receivers.size() < 60) {
      const std::size_t v = random.below(mesh.vertex_count());
      if (model.transmural[v] > 0.999F) measured.receivers.push_back(mesh.point(VertexId(v)));
    }
    Sources sources;
    sources.points = stimuli;
    measured.shots = {{sources, {}}};
    const Arrival arrival = solve(mesh, truth, sources, solve_options());
    const auto probed = probe_times(mesh, arrival.times, measured.receivers, 1e-6, threads_);
    for (std::uint32_t r = 0; r < probed.size(); ++r) measured.shots[0].picks.push_back({r, *probed[r].time, 1});

    const double off = quick_ ? 0.1 : 0.3;  // of the velocities at the start
    for (Velocities& v : fibers.velocities) {
      const double side = random.uniform() < 0.5 ? -1 : 1;
      const double along = 1 + off * side * random.uniform(), across = 1 - off * side * random.uniform();
      v = {v.fiber * along, v.sheet * across, v.sheet * across};
    }
    const std::vector<PointSource> true_points = sources.points;
    double furthest = 0;
    for (PointSource& source : measured.shots[0].sources.points) {
      Vec3d step{random.normal(), random.normal(), random.normal()};
      source.position += (quick_ ? random.uniform(0, 5) : random.uniform(8, 20)) / norm(step) * step;
      if (!quick_) source.time = 3;
    }
    const Metric start(fibers);
    const std::string row = fmt::format("ventricle, {} tets, 60 electrodes", mesh.element_count());
    InversionOptions options;
    options.unknowns = {Unknown::region_velocities, Unknown::source_positions, Unknown::onsets};
    options.max_iterations = 60;
    const auto [found, seconds] = timed(Domain(mesh, start), measured, options);
    const Remark fault = fault_of(found);
    double worst_velocity = 0, worst_onset = 0;
    const auto& after = std::get<FiberMetric>(found.metric.kind()).velocities;
    for (std::size_t k = 0; k < after.size(); ++k)
      worst_velocity = std::max({worst_velocity, std::abs(after[k].fiber / velocities[k].fiber - 1),
                                 std::abs(after[k].sheet / velocities[k].sheet - 1)});
    for (std::size_t s = 0; s < true_points.size(); ++s) {
      const PointSource& source = found.sources[0].points[s];
      furthest = std::max(furthest, norm(source.position - true_points[s].position));
      worst_onset = std::max(worst_onset, std::abs(source.time - true_points[s].time));
    }
    entry(row, "worst velocity", 2, 100 * worst_velocity, "%", fault);
    entry(row, "worst place", 1, furthest / mean_edge(mesh), "edges", fault);
    entry(row, "worst onset", 1, worst_onset, "ms", fault);
    entry(row, "misfit", {}, found.steps.back().misfit, "ms", fault);
    entry(row, "steps", {}, static_cast<double>(found.steps.size() - 1), "", fault);
    entry(row, "time", 30, seconds, "s", fault);
  }

  /// Cubes of ±10 %, sources and receivers on opposite sides.
  void checkerboard() {
    const std::uint32_t n = quick_ ? 16 : 64, size = n / 4;
    const ImageGrid grid = image_grid({{n, n, n}, 1.0});
    std::vector<double> speed(grid.voxel_count());
    for (std::size_t v = 0; v < speed.size(); ++v) {
      const auto at = grid.index(VertexId(v));
      speed[v] = (at[0] / size + at[1] / size + at[2] / size) % 2 == 0 ? 1.1 : 0.9;
    }
    const int sources = quick_ ? 4 : 10, receivers = quick_ ? 8 : 20;
    const auto on_side = [&](double x, int count, int i) {
      const double step = (n - 1.0) / count;
      return Vec3d{x, step * (i % count + 0.53), step * (i / count + 0.47)};
    };
    Measurements measured;
    for (int r = 0; r < receivers * receivers; ++r) measured.receivers.push_back(on_side(n - 1.0, receivers, r));
    const Metric truth(SpeedMetric{speed});
    Solver solver(Domain(grid, truth), solve_options());
    std::vector<Sources> sets;
    for (int k = 0; k < sources * sources; ++k) {
      Sources set;
      set.points.push_back({on_side(0, sources, k), 0});
      sets.push_back(std::move(set));
    }
    solver.solve_many(sets, [&](std::size_t k, Arrival&& arrival) {
      const auto probed = probe_times(grid, {}, arrival.times, measured.receivers, 1e-6);
      Shot shot{sets[k], {}};
      for (std::uint32_t r = 0; r < probed.size(); ++r) shot.picks.push_back({r, *probed[r].time, 1});
      measured.shots.push_back(std::move(shot));
    });
    const Metric start(SpeedMetric{std::vector<double>(speed.size(), 1.0)});
    InversionOptions options;
    options.unknowns = {Unknown::speed};
    options.smoothing = 1;
    options.max_iterations = 5;
    options.max_bytes = std::size_t{8} << 30;
    const auto [found, seconds] = timed(Domain(grid, start), measured, options);
    const std::string row =
        fmt::format("checkerboard {}³, {} shots, {} receivers", n, sets.size(), measured.receivers.size());
    const Remark fault = fault_of(found);
    entry(row, "correlation", 0.9, correlation(std::get<SpeedMetric>(found.metric.kind()).speed, speed), "", fault);
    entry(row, "misfit over start", {}, found.steps.back().misfit / found.steps.front().misfit, "", fault);
    entry(row, "steps", {}, static_cast<double>(found.steps.size() - 1), "", fault);
    entry(row, "time", 120, seconds, "s", fault);
  }

  [[nodiscard]] SolveOptions solve_options() const {
    SolveOptions options;
    options.threads = threads_;
    options.tolerance = 1e-9;
    options.precision = Precision::double_;
    options.source_init = SourceInit::plain;
    options.progress.cancel = options_.progress.cancel;
    return options;
  }

  std::pair<Inversion, double> timed(const Domain& domain, const Measurements& measured, InversionOptions& options) {
    options.solve = solve_options();
    options.receiver_tolerance = 1e-6;
    const Timer timer;
    Inversion found = invert(domain, measured, options);
    return {std::move(found), timer.seconds()};
  }

  static Remark fault_of(const Inversion& found) {
    const bool fits = found.steps.back().misfit <= 0.1 * found.steps.front().misfit;
    return fits ? Remark() : Remark("the misfit did not decrease tenfold", true);
  }

  void entry(const std::string& row, const char* column, std::optional<double> aim, double value, const char* unit,
             const Remark& fault) {
    report_.add({row, column, aim, value, unit, fault});
  }

  static double mean_edge(const TetMesh& mesh) {
    double sum = 0;
    for (const auto& element : mesh.elements) sum += norm(mesh.point(element[1]) - mesh.point(element[0]));
    return sum / static_cast<double>(mesh.element_count());
  }

  static double correlation(std::span<const double> a, std::span<const double> b) {
    const auto count = static_cast<double>(a.size());
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i] / count, mean_b += b[i] / count;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double x = a[i] - mean_a, y = b[i] - mean_b;
      aa += x * x, bb += y * y, ab += x * y;
    }
    return ab / std::sqrt(aa * bb);
  }

  const BenchOptions& options_;
  bool quick_;
  int threads_;
  Report report_;
};

}  // namespace

bool goals_invert(const BenchOptions& options) { return Inversions(options).run(); }

}  // namespace isochron::bench
