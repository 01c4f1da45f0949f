// From what size of mesh on the GPU pays: one solve with its set-up on all cores and on the GPU.
#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

/// Preparing, solving once and having the times, in milliseconds: the median of five after one that is not counted.
template <int Corners>
Measured whole_solve(const SimplexMesh<Corners>& mesh, const Metric& metric, const SolveOptions& options) {
  const Sources sources = middle_source(mesh);
  std::vector<double> times;
  Solver check({mesh, metric}, options);
  Measured result;
  for (int i = 0; i < 6; ++i) {
    const Timer timer;
    Arrival arrival = solve(mesh, metric, sources, options);
    if (i > 0) times.push_back(timer.seconds());
    arrival.residual = check.residual(arrival, sources);
    result = checked(std::move(arrival));
    if (!result.valid) return result;
  }
  result.arrival.solve_seconds = median(std::move(times));
  return result;
}

template <int Corners>
void compare(Report& report, const std::string& row, const SimplexMesh<Corners>& mesh, const Metric& metric) {
  SolveOptions options;
  options.backend = Backend::threads;
  const Measured cores = whole_solve(mesh, metric, options);
  options.backend = Backend::cuda;
  const Measured gpu = has_gpu() ? on_gpu([&] { return whole_solve(mesh, metric, options); }) : without_gpu();
  report.add(entry_of(row, "all cores", {}, cores, "ms", milliseconds));
  report.add(entry_of(row, "GPU", {}, gpu, "ms", milliseconds));
}

}  // namespace

bool tuning_backends(const BenchOptions& options) {
  Report report("tuning-backends", "Set-up and one solve on all cores and on the GPU", options);
  report.note("A program's first use of the GPU takes some tenths of a second more.");
  note_gpu(report);
  const Metric isotropic = Metric::isotropic(1), stretched = Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  const bool quick = options.size == BenchSize::quick;
  for (const std::size_t n : quick ? std::vector<std::size_t>{9} : std::vector<std::size_t>{17, 25, 33, 49, 65}) {
    const TetMesh mesh = unit_cell_cube(n, 0.2);
    const std::string row = fmt::format("{}^3 cube, {} tets", n, mesh.element_count());
    compare(report, row, mesh, isotropic);
    compare(report, row + ", diag(1,4,9)", mesh, stretched);
  }
  for (const std::size_t n : quick ? std::vector<std::size_t>{17} : std::vector<std::size_t>{129, 257, 513, 1025}) {
    const TriangleMesh mesh = generate_square({.n = n, .extent = static_cast<double>(n - 1)});
    compare(report, fmt::format("{} x {} square, {} triangles", n, n, mesh.element_count()), mesh, isotropic);
  }
  return report.finish(options);
}

}  // namespace isochron::bench
