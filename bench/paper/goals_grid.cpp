// Our aims on image grids: errors against exact distances, and CPU seconds.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/grid_solver.h"

namespace isochron::bench {
namespace {

/// A cube of voxels with unit sides.
ImageGrid unit_cube(std::uint32_t n) {
  ImageGrid grid;
  const double h = 1.0 / (n - 1);
  grid.shape = {n, n, n};
  grid.axes = {Vec3d{h, 0, 0}, Vec3d{0, h, 0}, Vec3d{0, 0, h}};
  return grid;
}

/// Exact times at world positions.
using Exact = std::function<double(const Vec3d&)>;

struct GridCase {
  std::string name;
  ImageGrid grid;
  Metric metric;
  Exact exact;
};

Vec3d middle(const ImageGrid& grid) {
  return grid.position(grid.voxel(grid.shape[0] / 2, grid.shape[1] / 2, grid.shape[2] / 2));
}

GridCase constant_case(const std::string& name, std::uint32_t n, const SymTensor3d& m) {
  const ImageGrid grid = unit_cube(n);
  return {fmt::format("{}, {}^3", name, n), grid, Metric::constant(m),
          [m, s = middle(grid)](const Vec3d& x) { return std::sqrt(squared_length(m, x - s)); }};
}

SymTensor3d example_one() { return inverse(SymTensor3d{1, 0.9, 0.9, 1, 0.9, 1}); }

SymTensor3d fibers(double ratio, Vec3d along) {
  along = along / norm(along);
  return SymTensor3d::identity() + SymTensor3d::outer(along, 1 / (ratio * ratio) - 1);
}

/// Speed 1 at the bottom and 2 at the top.
GridCase linear_case(std::uint32_t n) {
  const ImageGrid grid = unit_cube(n);
  const Vec3d s = middle(grid);
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(1 + grid.position(VertexId(v)).z);
  return {fmt::format("linear speed, {}^3", n), grid, Metric(std::move(speeds)),
          [s](const Vec3d& x) { return std::acosh(1 + dot(x - s, x - s) / (2 * (1 + x.z) * (1 + s.z))); }};
}

struct GridResult {
  Arrival arrival;
  double cpu_seconds = 0;    ///< of a whole solve, the best of a few; set-up is not in it
  double mean_relative = 0;  ///< beyond five voxels
  double largest = 0;        ///< in sides of the cube
  bool valid = false;
};

GridResult measured(const GridCase& problem, const GridOptions& wanted, int repeats) {
  GridOptions options = wanted;
  options.common.verify = Keep::yes;
  Sources sources;
  sources.points.push_back({middle(problem.grid), 0});
  GridResult result;
  result.arrival = GridSolver({problem.grid, problem.metric, {}}, options).solve(sources);
  result.valid = result.arrival.residual && result.arrival.residual->passed();
  options.common.verify = Keep::no;
  GridSolver solver({problem.grid, problem.metric, {}}, options);
  result.cpu_seconds = std::numeric_limits<double>::infinity();
  for (int k = 0; k < repeats; ++k) {
    const std::clock_t begin = std::clock();
    (void)solver.solve(sources);
    result.cpu_seconds = std::min(result.cpu_seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  std::size_t far = 0;
  const Vec3d at = problem.grid.index_of(middle(problem.grid));
  for (std::size_t v = 0; v < problem.grid.voxel_count(); ++v) {
    const Vec3d x = problem.grid.position(VertexId(v));
    const double exact = problem.exact(x), off = std::abs(result.arrival.times[v] - exact);
    result.largest = std::max(result.largest, off);
    if (norm(problem.grid.index_of(x) - at) <= 5) continue;
    result.mean_relative += off / exact;
    ++far;
  }
  result.mean_relative /= static_cast<double>(far);
  return result;
}

GridOptions options_of(int order, SourceInit init, GridScheme scheme = GridScheme::adaptive) {
  GridOptions options;
  options.common.backend = Backend::serial;
  options.common.source_init = init;
  options.common.sources = Keep::no;
  options.order = order;
  options.scheme = scheme;
  return options;
}

std::string column_of(const GridOptions& options) {
  const bool adaptive = options.scheme == GridScheme::adaptive;
  return fmt::format("{}, {}", adaptive ? fmt::format("order {}", options.order) : std::string(name_of(options.scheme)),
                     name_of(options.common.source_init));
}

Entry entry(const GridCase& problem, const std::string& column, std::optional<double> aim, const GridResult& result,
            double value, const std::string& unit) {
  if (!result.valid) return {problem.name, column, aim, {}, unit, failed_check};
  return {problem.name, column, aim, value, unit, ""};
}

}  // namespace

int goals_grid(const BenchOptions& options) {
  Report report("goals-grid", "Errors and CPU seconds on image grids, one thread, source in the middle", options);
  report.note_on_paper(paper_is_the_aim);
  report.note("Errors in % are means of |u - exact| / exact beyond five voxels from the source.");
  const bool paper = options.size == BenchSize::paper;
  const std::uint32_t small = paper ? 64 : 24, large = paper ? 128 : 32;
  const int repeats = paper ? 5 : 1;
  const auto accuracy = [&](const GridCase& problem, const GridOptions& wanted, std::optional<double> aim) {
    const GridResult result = measured(problem, wanted, 1);
    report.add(entry(problem, column_of(wanted), aim, result, 100 * result.mean_relative, "%"));
  };
  const auto speed = [&](const GridCase& problem, const GridOptions& wanted, std::optional<double> most,
                         std::optional<double> largest) {
    const GridResult result = measured(problem, wanted, repeats);
    report.add(entry(problem, column_of(wanted), most, result, result.cpu_seconds, "s"));
    report.add(entry(problem, column_of(wanted) + ", largest error", largest, result, result.largest, "sides"));
    report.add(
        entry(problem, column_of(wanted) + ", updates", {}, result, result.arrival.solves_per_vertex(), "per voxel"));
  };
  const GridCase one = constant_case("Example 1", small, example_one());
  const GridCase ten = constant_case("10:1 at an angle", small, fibers(10, {1, 0.37, 0.61}));
  for (const auto& [problem, first, second] : {std::tuple{&one, 2.0, 0.5}, std::tuple{&ten, 3.0, 1.0}}) {
    accuracy(*problem, options_of(1, SourceInit::plain), {});
    accuracy(*problem, options_of(1, SourceInit::ball), first);
    accuracy(*problem, options_of(2, SourceInit::ball), second);
    accuracy(*problem, options_of(2, SourceInit::factored), {});
    accuracy(*problem, options_of(1, SourceInit::ball, GridScheme::godunov), {});
    accuracy(*problem, options_of(1, SourceInit::ball, GridScheme::lax_friedrichs), {});
  }
  accuracy(linear_case(small), options_of(1, SourceInit::ball), {});
  accuracy(linear_case(small), options_of(2, SourceInit::factored), 0.1);

  const GridCase isotropic = constant_case("isotropic", large, SymTensor3d::identity());
  speed(isotropic, options_of(1, SourceInit::ball), 0.4, {});
  speed(isotropic, options_of(2, SourceInit::ball), {}, {});
  speed(isotropic, options_of(2, SourceInit::factored), 0.8, 1e-6);
  speed(constant_case("M = diag(1,4,9)", large, SymTensor3d::diagonal(1, 4, 9)), options_of(2, SourceInit::ball), 1.2,
        5e-3);
  speed(constant_case("D = diag(1,4,9)", large, inverse(SymTensor3d::diagonal(1, 4, 9))),
        options_of(2, SourceInit::ball), 1.2, 5e-3);
  speed(one, options_of(1, SourceInit::ball), 1.0, {});
  return report.finish(options);
}

}  // namespace isochron::bench
