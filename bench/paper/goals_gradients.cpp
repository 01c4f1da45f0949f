// What derivatives of a solution cost, beside the solve.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

class Gradients {
 public:
  explicit Gradients(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-gradients", "Derivatives of arrival times by the metric of each element, beside the solve",
                options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note("Linearise: the weights of all vertices, found from their times, and the order to solve in.");
    report_.note("Gradient: one adjoint product; tangent: one product with the derivative. Double precision.");
    report_.note(
        "Checked: the products are transposes of each other, and times scale with slowness, to 1e-12 (images: 1e-6, as "
        "their weights are in single precision).");
  }

  bool run() {
    const bool quick = options_.size == BenchSize::quick;
    const std::size_t side = quick ? 12 : 64;
    const TetMesh cube = generate_cube({.nx = side, .ny = side, .nz = side, .jitter = 0.2});
    add("cube, speed 1", cube, Metric::isotropic(1), 1e-12);
    add("cube, diag(1,4,9)", cube, Metric::constant(SymTensor3d::diagonal(1, 4, 9)), 1e-12);
    add("cube, random fibres 3:1", cube, fiber_metric(random_fibers(cube, 1), 3, 1), 1e-12);
    const Heart ventricle = heart(quick ? 2000 : 3'000'000, 3, 1, threads_);
    add("ventricle, fibres 3:1", ventricle.mesh, ventricle.metric, 1e-12);
    const TriangleMesh square = generate_square({.n = quick ? std::size_t{40} : std::size_t{1024}, .jitter = 0.2});
    add("square, speed 1", square, Metric::isotropic(1), 1e-12);
    const ImageGrid grid = image_grid({{quick ? 16U : 128U, quick ? 16U : 128U, quick ? 16U : 128U}, 1.0});
    std::vector<double> speed(grid.voxel_count());
    for (std::size_t v = 0; v < speed.size(); ++v) speed[v] = 1 + 0.2 * std::sin(0.01 * static_cast<double>(v));
    add("image, speeds", grid, Metric(SpeedMetric{speed}), 1e-6);
    return report_.finish(options_);
  }

 private:
  static std::size_t count_of(const ImageGrid& grid) { return grid.voxel_count(); }
  template <int Corners>
  static std::size_t count_of(const SimplexMesh<Corners>& mesh) {
    return mesh.element_count();
  }

  template <class Shape>
  void add(const std::string& name, const Shape& shape, const Metric& metric, double limit) {
    const std::string row = fmt::format("{} ({} elements)", name, count_of(shape));
    SolveOptions options;
    options.precision = Precision::double_;
    options.tolerance = 1e-13;
    options.backend = threads_ > 1 ? Backend::threads : Backend::serial;
    options.threads = threads_;
    options.sources = Keep::no;
    options.progress.cancel = options_.progress.cancel;
    Sources sources;
    sources.vertices.push_back({VertexId(0), 0.0});
    Solver solver(Domain(shape, metric), options);
    Arrival arrival = solver.solve(sources);
    double solve = arrival.solve_seconds;
    for (int k = 0; k < 2; ++k) solve = std::min(solve, solver.solve(sources).solve_seconds);

    const auto timed = [](double& seconds, auto&& work) {
      const Timer timer;
      auto result = work();
      seconds = timer.seconds();
      return result;
    };
    double linearise = 0, gradient = 0, tangent = 0;
    const Linearization linear = timed(linearise, [&] { return solver.linearize(arrival, sources); });
    std::mt19937 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> cotangent(arrival.times.size());
    for (std::size_t v = 0; v < cotangent.size(); ++v)
      if (std::isfinite(arrival.times[v])) cotangent[v] = uniform(engine);
    const InputValues found = timed(gradient, [&] { return linear.vjp(cotangent); });
    InputValues slower;
    slower.metric.reserve(count_of(shape));
    for (std::size_t e = 0; e < count_of(shape); ++e) slower.metric.push_back(2.0 * metric.tensor(ElementId(e)));
    const std::vector<double> change = timed(tangent, [&] { return linear.jvp(slower); });

    const Remark fault = consistent(arrival, cotangent, found, slower, change, limit)
                             ? Remark()
                             : Remark("the products do not agree", true);
    const auto entry = [&](const char* column, std::optional<double> aim, double value, const char* unit) {
      report_.add({row, column, aim, value, unit, fault});
    };
    entry("solve", {}, solve, "s");
    entry("linearise over solve", {}, linearise / solve, "");
    entry("gradient over solve", 0.5, gradient / solve, "");
    entry("tangent over solve", {}, tangent / solve, "");
  }

  static bool consistent(const Arrival& arrival, const std::vector<double>& cotangent, const InputValues& gradient,
                         const InputValues& slower, const std::vector<double>& change, double limit) {
    double forwards = 0, backwards = 0, scale = 0;
    for (std::size_t v = 0; v < cotangent.size(); ++v) {
      forwards += cotangent[v] * change[v];
      scale += std::abs(cotangent[v] * change[v]);
      if (std::isfinite(arrival.times[v]) && !(std::abs(change[v] - arrival.times[v]) <= limit * arrival.max_time))
        return false;
    }
    for (std::size_t e = 0; e < slower.metric.size(); ++e)
      backwards += contraction(gradient.metric[e], slower.metric[e]);
    return scale > 0 && std::abs(forwards - backwards) <= 1e-12 * scale;
  }

  const BenchOptions& options_;
  int threads_;
  Report report_;
};

}  // namespace

bool goals_gradients(const BenchOptions& options) { return Gradients(options).run(); }

}  // namespace isochron::bench
