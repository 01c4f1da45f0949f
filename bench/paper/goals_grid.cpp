// Our aims on image grids: errors against exact distances, and CPU seconds.
#include <cmath>

#include <fmt/format.h>

#include "bench/paper/grid_accuracy.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"

namespace isochron::bench {
namespace {

/// Speed 1 at the bottom and 2 at the top.
GridCase linear_case(std::uint32_t n) {
  const ImageGrid grid = unit_cube(n);
  const Vec3d s = middle(grid);
  SpeedMetric speeds;
  for (std::size_t v = 0; v < grid.voxel_count(); ++v) speeds.speed.push_back(1 + grid.position(VertexId(v)).z);
  return {fmt::format("linear speed, {}^3", n), grid, Metric(std::move(speeds)),
          [s](const Vec3d& x) { return std::acosh(1 + dot(x - s, x - s) / (2 * (1 + x.z) * (1 + s.z))); }};
}

std::string column_of(const SolveOptions& options) {
  return fmt::format("{}, {}", scheme_label(options), name_of(options.source_init));
}

}  // namespace

bool goals_grid(const BenchOptions& options) {
  Report report("goals-grid", "Errors and CPU seconds on image grids, one thread, source in the middle", options);
  report.note_on_paper(paper_is_the_aim);
  report.note("Errors in % are means of |u - exact| / exact beyond five voxels from the source.");
  const bool paper = options.size == BenchSize::paper;
  const std::uint32_t small = paper ? 64 : 24, large = paper ? 128 : 32;
  const int repeats = paper ? 5 : 1;
  const auto accuracy = [&](const GridCase& problem, const SolveOptions& wanted, std::optional<double> aim) {
    const GridResult result = measured(problem, wanted, 0);
    report.add(entry(problem, column_of(wanted), aim, result, 100 * result.mean_relative, "%"));
  };
  const auto speed = [&](const GridCase& problem, const SolveOptions& wanted, std::optional<double> most,
                         std::optional<double> largest) {
    const GridResult result = measured(problem, wanted, repeats);
    report.add(entry(problem, column_of(wanted), most, result, result.cpu_seconds, "s"));
    report.add(entry(problem, column_of(wanted) + ", largest error", largest, result, result.largest, "sides"));
    report.add(
        entry(problem, column_of(wanted) + ", updates", {}, result, result.arrival.solves_per_vertex(), "per voxel"));
  };
  const GridCase one = constant_case("Example 1", small, example_one_tensor());
  const GridCase ten = constant_case("10:1 at an angle", small, fiber_tensor(10, {1, 0.37, 0.61}));
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
