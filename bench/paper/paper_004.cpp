// Paper 004, "Interactive Visualization of Volumetric White Matter Connectivity in DT-MRI Using a Parallel-Hardware
// Hamilton-Jacobi Solver".
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/grid_accuracy.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// The paper's seconds on one image.
struct PaperSeconds {
  std::optional<double> gpu, godunov, lax_friedrichs;
};

class TableOne {
 public:
  explicit TableOne(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("004-table-1", "Paper 004 Table 1: seconds on tensor images, single precision", options) {
    report_.note_on_paper("The paper's are of a Core 2 Duo at 2.4 GHz and an 8800 GTX.");
    report_.note_on_paper(
        "Example 3 is a brain in the paper, with its seed in the middle; here a folded shell of as many voxels, from "
        "its "
        "end.");
    note_gpu(report_);
  }

  bool run() {
    const auto [n, brain, thickness] = example_sizes(options_.size);
    add(fmt::format("Example 1, {}^3", n), example_one(n), {1, 54, 142});
    add(fmt::format("Example 2, helix, {}^3", n), example_two(n), {1.5, 76, 220});
    const GridModel shell = folded_shell(brain, thickness);
    add(fmt::format("Example 3, {} of {}x{}x{}", shell.cells, brain[0], brain[1], brain[2]), shell, {2.8, 301, {}});
    return report_.finish(options_);
  }

 private:
  void add(const std::string& row, const GridModel& model, const PaperSeconds& paper) {
    on_cpu(row, "FS, Godunov", model, GridScheme::godunov, Method::fsm, 1, paper.godunov);
    on_cpu(row, "FS, Lax-Friedrichs", model, GridScheme::lax_friedrichs, Method::fsm, 1, paper.lax_friedrichs);
    on_cpu(row, "FIM, Godunov", model, GridScheme::godunov, Method::fim, 1, {});
    on_cpu(row, "adaptive (ours), 1 thread", model, GridScheme::adaptive, Method::automatic, 1, {});
    if (threads_ > 1)
      on_cpu(row, fmt::format("adaptive (ours), {} threads", threads_), model, GridScheme::adaptive, Method::automatic,
             threads_, {});
    on_device(row, "FIM in blocks, GPU", model, GridScheme::godunov, paper.gpu);
    on_device(row, "adaptive (ours), GPU", model, GridScheme::adaptive, {});
  }

  void on_cpu(const std::string& row, const std::string& column, const GridModel& model, GridScheme scheme,
              Method method, int threads, std::optional<double> paper) {
    SolveOptions options;
    options.scheme = scheme;
    options.method = method;
    options.backend = threads > 1 ? Backend::threads : Backend::serial;
    options.threads = threads;
    options.precision = Precision::single_;
    options.sources = Keep::no;
    options.progress.cancel = options_.progress.cancel;
    const Measured measured = options_.columns == BenchColumns::gpu ? Measured{false, "left out", {}}
                                                                    : quickest_solve(model, options, options_);
    report_.add(entry_of(row, column, paper, measured, "s", seconds));
  }

  void on_device(const std::string& row, const std::string& column, const GridModel& model, GridScheme scheme,
                 std::optional<double> paper) {
    double whole_seconds = 0;
    const Measured measured = on_gpu([&] {
      return median_solve(model, {model.sources()}, gpu_grid_options(scheme, options_), options_, whole_seconds);
    });
    report_.add(entry_of(row, column, paper, measured, "s", seconds));
  }

  const BenchOptions& options_;
  int threads_;
  Report report_;
};

}  // namespace

bool table_004_1(const BenchOptions& options) { return TableOne(options).run(); }

bool anisotropy_004(const BenchOptions& options) {
  Report report("004-anisotropy", "Paper 004's schemes and ours: relative error over the ratio of speeds", options);
  report.note(
      "One tensor at an angle to the axes, source in the middle with exact times in its ball, double precision.");
  report.note("Errors are |u - exact| / exact beyond five voxels from the source.");
  const bool paper = options.size == BenchSize::paper;
  for (const double ratio : {1.0, 2.0, 5.0, 10.0, 30.0}) {
    const GridCase problem =
        constant_case(fmt::format("{}:1", ratio), paper ? 64 : 16, fiber_tensor(ratio, {1, 0.37, 0.61}));
    for (SolveOptions wanted : {options_of(1, SourceInit::ball), options_of(2, SourceInit::ball),
                                options_of(1, SourceInit::ball, GridScheme::godunov),
                                options_of(1, SourceInit::ball, GridScheme::lax_friedrichs)}) {
      wanted.progress.cancel = options.progress.cancel;
      const GridResult result = measured(problem, wanted, 0);
      report.add(entry(problem, scheme_label(wanted) + ", mean", {}, result, 100 * result.mean_relative, "%"));
      report.add(entry(problem, scheme_label(wanted) + ", largest", {}, result, 100 * result.largest_relative, "%"));
    }
  }
  return report.finish(options);
}

}  // namespace isochron::bench
