#include "bench/paper/grid_accuracy.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include <fmt/format.h>

namespace isochron::bench {

ImageGrid unit_cube(std::uint32_t n) {
  ImageGrid grid;
  const double h = 1.0 / (n - 1);
  grid.shape = {n, n, n};
  grid.axes = {Vec3d{h, 0, 0}, Vec3d{0, h, 0}, Vec3d{0, 0, h}};
  return grid;
}

Vec3d middle(const ImageGrid& grid) {
  return grid.position(grid.voxel(grid.shape[0] / 2, grid.shape[1] / 2, grid.shape[2] / 2));
}

GridCase constant_case(const std::string& name, std::uint32_t n, const SymTensor3d& m) {
  const ImageGrid grid = unit_cube(n);
  return {fmt::format("{}, {}^3", name, n), grid, Metric::constant(m),
          [m, s = middle(grid)](const Vec3d& x) { return std::sqrt(squared_length(m, x - s)); }};
}

GridResult measured(const GridCase& problem, const SolveOptions& wanted, int repeats) {
  SolveOptions options = wanted;
  options.verify = Keep::yes;
  Sources sources;
  sources.points.push_back({middle(problem.grid), 0});
  GridResult result;
  result.arrival = Solver({problem.grid, problem.metric, {}}, options).solve(sources);
  result.valid = result.arrival.residual && result.arrival.residual->passed();
  options.verify = Keep::no;
  Solver solver({problem.grid, problem.metric, {}}, options);
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
    result.largest_relative = std::max(result.largest_relative, off / exact);
    ++far;
  }
  result.mean_relative /= static_cast<double>(far);
  return result;
}

SolveOptions options_of(int order, SourceInit init, GridScheme scheme) {
  SolveOptions options;
  options.backend = Backend::serial;
  options.source_init = init;
  options.sources = Keep::no;
  options.order = order;
  options.scheme = scheme;
  return options;
}

std::string scheme_label(const SolveOptions& options) {
  if (options.scheme == GridScheme::adaptive) return fmt::format("order {}", options.order);
  return std::string(name_of(options.scheme));
}

Entry entry(const GridCase& problem, const std::string& column, std::optional<double> aim, const GridResult& result,
            double value, const std::string& unit) {
  if (!result.valid) return {problem.name, column, aim, {}, unit, failed_check};
  return {problem.name, column, aim, value, unit, ""};
}

}  // namespace isochron::bench
