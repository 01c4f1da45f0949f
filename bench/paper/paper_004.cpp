// Paper 004, "Interactive Visualization of Volumetric White Matter Connectivity in DT-MRI Using a Parallel-Hardware
// Hamilton-Jacobi Solver".
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/brain.h"
#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// The paper's seconds on one image.
struct PaperSeconds {
  std::optional<double> gpu, godunov, lax_friedrichs;
};

/// The paper's Example 3 has 196 thousand voxels. Times by voxel can be compared with those of a brain of fewer.
constexpr double voxels_of_example_three = 196e3;

class TableOne {
 public:
  explicit TableOne(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("004-table-1", "Paper 004 Table 1: seconds on tensor images, single precision", options) {
    report_.note_on_paper("The paper's are of a Core 2 Duo at 2.4 GHz and an 8800 GTX.");
    report_.note("The paper's schemes start from one voxel, ours from the exact times around it.");
    note_gpu(report_);
  }

  bool run() {
    const std::uint32_t n = example_sizes(options_.size).cube;
    add(fmt::format("Example 1, {}^3", n), example_one(n), {1, 54, 142});
    add(fmt::format("Example 2, helix, {}^3", n), example_two(n), {1.5, 76, 220});
    std::optional<Brain> brain;
    if (options_.size == BenchSize::paper) brain = real_brain(threads_);
    if (brain) add_brain(*brain);
    else add_shell();
    return report_.finish(options_);
  }

 private:
  /// The paper solved in a white matter mask of 256 x 256 x 100 voxels; the stored brain has another image and mask.
  void add_brain(const Brain& brain) {
    const GridModel model = brain_model(brain);
    const auto& shape = brain.grid.shape;
    add(fmt::format("Example 3, brain, {} of {}x{}x{}", model.cells, shape[0], shape[1], shape[2]), model, {});
    report_.note_on_paper(
        "Example 3: the paper's brain has 196 thousand voxels in a white matter mask (2.8 s on its GPU, 301 s by "
        "sweeping). Here it is the stored brain, all of it, from the middle of its white matter: times by voxel are "
        "compared.");
    for (const auto& [column, measured] : by_voxel_)
      report_.add(entry_of("Example 3, by voxel", column.first, column.second, measured, "us",
                           [&](const Arrival& a) { return 1e6 * a.solve_seconds / static_cast<double>(model.cells); }));
    report_.note("Lax-Friedrichs is left out on the brain, as in the paper.");
  }

  void add_shell() {
    const ExampleSizes sizes = example_sizes(options_.size);
    const GridModel shell = folded_shell(sizes.brain, sizes.thickness);
    add(fmt::format("In place of Example 3, {} of {}x{}x{}", shell.cells, sizes.brain[0], sizes.brain[1],
                    sizes.brain[2]),
        shell, {});
    if (options_.size == BenchSize::quick) return;
    report_.note("Example 3, a brain, is missing: " + missing_brain() + ".");
    report_.note(
        "A folded shell of as many voxels as the paper's brain is in its place; the paper's 2.8 and 301 s are not of "
        "it.");
  }

  void add(const std::string& row, const GridModel& model, const PaperSeconds& paper) {
    by_voxel_.clear();
    const bool in_brain = !model.mask.empty() && row.starts_with("Example 3");
    on_cpu(row, "FS, Godunov", model, GridScheme::godunov, Method::fsm, 1, paper.godunov);
    if (in_brain) keep("FS, Godunov", 301 / voxels_of_example_three);
    if (!in_brain)
      on_cpu(row, "FS, Lax-Friedrichs", model, GridScheme::lax_friedrichs, Method::fsm, 1, paper.lax_friedrichs);
    on_cpu(row, "FIM, Godunov", model, GridScheme::godunov, Method::fim, 1, {});
    on_cpu(row, "adaptive (ours), 1 thread", model, GridScheme::adaptive, Method::automatic, 1, {});
    if (in_brain) keep("adaptive (ours), 1 thread", {});
    if (threads_ > 1)
      on_cpu(row, fmt::format("adaptive (ours), {} threads", threads_), model, GridScheme::adaptive, Method::automatic,
             threads_, {});
    on_device(row, "FIM in blocks, GPU", model, GridScheme::godunov, paper.gpu);
    if (in_brain) keep("FIM in blocks, GPU", 2.8 / voxels_of_example_three);
    on_device(row, "adaptive (ours), GPU", model, GridScheme::adaptive, {});
    if (in_brain) keep("adaptive (ours), GPU", {});
  }

  /// The last measurement for the row by voxel, with the paper's seconds for one.
  void keep(const std::string& column, std::optional<double> paper) {
    if (paper) *paper *= 1e6;
    by_voxel_.push_back({{column, paper}, last_});
  }

  /// Adds what was measured, and says how many voxels the scheme gave no time.
  void show(const std::string& row, const std::string& column, const GridModel& model, std::optional<double> paper,
            Measured measured) {
    last_ = measured;
    if (measured.valid && measured.arrival.reached < model.cells)
      measured.remark += fmt::format("{}{} voxels without a time", measured.remark.text.empty() ? "" : "; ",
                                     model.cells - measured.arrival.reached);
    report_.add(entry_of(row, column, paper, measured, "s", seconds));
  }

  void on_cpu(const std::string& row, const std::string& column, const GridModel& model, GridScheme scheme,
              Method method, int threads, std::optional<double> paper) {
    SolveOptions options;
    options.scheme = scheme;
    options.method = method;
    options.backend = threads > 1 ? Backend::threads : Backend::serial;
    options.threads = threads;
    options.precision = Precision::single_;
    options.source_init = source_init_of(scheme);
    options.sources = Keep::no;
    options.progress.cancel = options_.progress.cancel;
    const Measured measured = options_.columns == BenchColumns::gpu ? Measured{false, "left out", {}}
                                                                    : quickest_solve(model, options, options_);
    show(row, column, model, paper, measured);
  }

  void on_device(const std::string& row, const std::string& column, const GridModel& model, GridScheme scheme,
                 std::optional<double> paper) {
    double whole_seconds = 0;
    SolveOptions options = gpu_grid_options(scheme, options_);
    options.source_init = source_init_of(scheme);
    show(row, column, model, paper,
         on_gpu([&] { return median_solve(model, {model.sources()}, options, options_, whole_seconds); }));
  }

  static SourceInit source_init_of(GridScheme scheme) {
    return scheme == GridScheme::adaptive ? SourceInit::ball : SourceInit::plain;
  }

  const BenchOptions& options_;
  int threads_;
  Report report_;
  Measured last_;
  std::vector<std::pair<std::pair<std::string, std::optional<double>>, Measured>> by_voxel_;
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
