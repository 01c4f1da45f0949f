// From what size of mesh or image on the GPU pays: one solve with its set-up, and later solves, on all cores and on the
// GPU.
#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/timer.h"
#include "isochron/generate.h"

namespace isochron::bench {
namespace {

/// A call and its times on the host, in seconds: the medians of five after one that is not counted.
struct Calls {
  Measured first;  ///< prepares and solves
  Measured later;  ///< solves
};

Calls measured_calls(const Domain& domain, const Sources& sources, const SolveOptions& options) {
  std::vector<double> first, later;
  Calls calls;
  for (int i = 0; i < 6; ++i) {
    const Timer timer;
    Solver solver(domain, options);
    solver.solve(sources);
    const double prepared_and_solved = timer.seconds();
    Arrival arrival = solver.solve(sources);
    if (i > 0) first.push_back(prepared_and_solved);
    if (i > 0) later.push_back(timer.seconds() - prepared_and_solved);
    arrival.residual = solver.residual(arrival, sources);
    calls.first = calls.later = checked(std::move(arrival));
    if (!calls.first.valid) return calls;
  }
  calls.first.arrival.solve_seconds = median(std::move(first));
  calls.later.arrival.solve_seconds = median(std::move(later));
  return calls;
}

void compare(Report& report, const std::string& row, const Domain& domain, const Sources& sources) {
  const auto add = [&](const std::string& column, const Calls& calls) {
    report.add(entry_of(row, column, {}, calls.first, "ms", milliseconds));
    report.add(entry_of(row, column + ", later", {}, calls.later, "ms", milliseconds));
  };
  SolveOptions options;
  options.backend = Backend::threads;
  add("all cores", measured_calls(domain, sources, options));
  options.backend = Backend::cuda;
  Calls calls{without_gpu(), without_gpu()};
  if (has_gpu()) calls.first = on_gpu([&] { return (calls = measured_calls(domain, sources, options)).first; });
  if (!calls.first.valid) calls.later = calls.first;
  add("GPU", calls);
}

}  // namespace

bool tuning_backends(const BenchOptions& options) {
  Report report("tuning-backends", "Set-up and one solve, and a later solve, on all cores and on the GPU", options);
  report.note("A program's first use of the GPU takes some tenths of a second more.");
  note_gpu(report, "medians of whole calls");
  const Metric isotropic = Metric::isotropic(1), stretched = Metric::constant(SymTensor3d::diagonal(1, 4, 9));
  const bool quick = options.size == BenchSize::quick;
  for (const std::size_t n : quick ? std::vector<std::size_t>{9} : std::vector<std::size_t>{17, 25, 33, 49, 65}) {
    const TetMesh mesh = unit_cell_cube(n, 0.2);
    const std::string row = fmt::format("{}^3 cube, {} tets", n, mesh.element_count());
    compare(report, row, {mesh, isotropic}, middle_source(mesh));
    compare(report, row + ", diag(1,4,9)", {mesh, stretched}, middle_source(mesh));
  }
  for (const std::size_t n : quick ? std::vector<std::size_t>{17} : std::vector<std::size_t>{129, 257, 513, 1025}) {
    const TriangleMesh mesh = generate_square({.n = n, .extent = static_cast<double>(n - 1)});
    compare(report, fmt::format("{} x {} square, {} triangles", n, n, mesh.element_count()), {mesh, isotropic},
            middle_source(mesh));
  }
  for (const std::uint32_t n :
       quick ? std::vector<std::uint32_t>{12} : std::vector<std::uint32_t>{24, 32, 40, 48, 64, 80, 100, 128}) {
    const GridModel all = example_one(n), folded = folded_shell({n, n, n * 3 / 4}, 0.1);
    compare(report, fmt::format("{}^3 image, {} voxels", n, all.cells), all.domain(), all.sources());
    compare(report, fmt::format("folded shell, {} voxels", folded.cells), folded.domain(), folded.sources());
  }
  return report.finish(options);
}

}  // namespace isochron::bench
