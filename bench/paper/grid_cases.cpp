#include "bench/paper/grid_cases.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

SymTensor3f in_single(const SymTensor3d& m) {
  return {static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)};
}

}  // namespace

Sources GridModel::sources() const {
  Sources result;
  result.vertices.push_back({source, 0});
  return result;
}

GridModel cube_model(std::uint32_t n, Metric metric) {
  const ImageGrid grid = image_grid({{n, n, n}, 1});
  return {grid, std::move(metric), {}, grid.voxel_count(), grid.voxel(n / 2, n / 2, n / 2)};
}

SymTensor3d example_one_tensor() {
  constexpr double c = 0.9;
  return inverse(SymTensor3d{1, c, c, 1, c, 1});
}

GridModel example_one(std::uint32_t n) { return cube_model(n, Metric::constant(example_one_tensor())); }

GridModel example_two(std::uint32_t n) {
  HelixTensorsOptions options;
  options.size = {{n, n, n}, 1};
  const Image image = generate_helix_tensors(options);
  std::vector<SymTensor3f> tensors;
  const DataArray& d = *image.data.find("velocity_tensor");
  for (std::size_t v = 0; v < image.grid.voxel_count(); ++v) {
    const auto at = [&](int k) { return d.at(v, k); };
    tensors.push_back(in_single(inverse(SymTensor3d{at(0), at(1), at(2), at(3), at(4), at(5)})));
  }
  return {image.grid,
          Metric(TensorMetric{std::move(tensors)}),
          {},
          image.grid.voxel_count(),
          image.grid.voxel(n / 2, n / 2, 0)};
}

GridModel folded_shell(const std::array<std::uint32_t, 3>& shape, double thickness) {
  constexpr double max_ratio = 10;
  GridModel model{image_grid({shape, 1}), {}, {}, 0, {}};
  model.mask.assign(model.grid.voxel_count(), 0);
  std::vector<SymTensor3f> tensors(model.grid.voxel_count(), in_single(SymTensor3d::identity()));
  for (std::size_t v = 0; v < model.mask.size(); ++v) {
    const auto [i, j, k] = model.grid.index(VertexId(v));
    const Vec3d at{2.4 * i / shape[0] - 1.2, 2.3 * j / shape[1] - 1.15, 2.3 * k / shape[2] - 1.15};
    const double around = std::atan2(at.y, at.x), up = std::atan2(at.z, std::hypot(at.x, at.y));
    const double fold = 0.8 + 0.12 * std::sin(9 * around) * std::cos(7 * up);
    if (std::abs(norm(at) - fold) > thickness) continue;
    model.mask[v] = 1;
    const double share = std::sin(3 * around + 2 * up);
    const Vec3d along{-at.y + 0.2 * std::sin(5 * at.z), at.x, 0.5 * std::cos(9 * at.x)};
    tensors[v] = in_single(fiber_tensor(1 + (max_ratio - 1) * share * share, along));
    if (++model.cells == 1) model.source = VertexId(v);
  }
  model.metric = Metric(TensorMetric{std::move(tensors)});
  return model;
}

ExampleSizes example_sizes(BenchSize size) {
  if (size == BenchSize::paper) return {64, {256, 256, 100}, 0.024};
  return {16, {32, 32, 16}, 0.15};
}

SymTensor3d fiber_tensor(double ratio, Vec3d along) {
  along = along / norm(along);
  return SymTensor3d::identity() + SymTensor3d::outer(along, 1 / (ratio * ratio) - 1);
}

SolveOptions gpu_grid_options(GridScheme scheme, const BenchOptions& options) {
  SolveOptions result;
  result.scheme = scheme;
  result.backend = Backend::cuda;
  result.precision = Precision::single_;
  result.sources = Keep::no;
  result.threads = options.threads;
  result.progress.cancel = options.progress.cancel;
  return result;
}

Measured median_solve(const GridModel& model, const std::vector<Sources>& sets, const SolveOptions& options,
                      const BenchOptions& bench, double& whole_seconds) {
  Solver solver(model.domain(), options);
  return median_of_sets(solver, sets, bench, whole_seconds);
}

Measured quickest_solve(const GridModel& model, const SolveOptions& options, const BenchOptions& bench) {
  constexpr int most = 3;
  constexpr double patience = 2;  // seconds; a scheme that needs them is timed well enough by fewer runs
  const Sources sources = model.sources();
  Solver solver(model.domain(), options);
  Measured result;
  const Timer timer;
  for (int i = 0; i < most && (i == 0 || timer.seconds() < patience); ++i) {
    stop_if_cancelled(bench);
    Arrival arrival = solver.solve(sources);
    result.valid = arrival.reached > 0 && arrival.converged && solver.residual(arrival, sources).passed();
    if (!result.valid) {
      result.remark = failed_check;
      return result;
    }
    if (i == 0 || arrival.solve_seconds < result.arrival.solve_seconds) result.arrival = std::move(arrival);
  }
  return result;
}

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
