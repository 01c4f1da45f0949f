// Paper 004, Figures 6 and 9: pathways of named tracts, beside streamlines between the same ends.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "bench/page/tract_pictures.h"
#include "bench/paper/tables.h"
#include "bench/paper/tracts.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// Where streamlines join the ends, the best path has to be of their bundle: the mean distance, in voxels.
constexpr double max_voxels_apart = 3;
/// Fewer streamlines are no bundle.
constexpr std::size_t min_bundle = 20;

class FigureNine {
 public:
  explicit FigureNine(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        brain_(the_brain(options, threads_)),
        report_("004-figure-9", "Paper 004 Figures 6 and 9: pathways of tracts beside streamlines", options) {
    report_.note("Ends are spheres, in bench/paper/tracts.csv. Distances are means of closest distances.");
    report_.note(fmt::format(
        "A row fails where the path or the pathway misses an end or leaves the mask, or where {} streamlines or more "
        "join the ends and are more than {:g} voxels from the path.",
        min_bundle, max_voxels_apart));
    report_.note("In the paper's Figure 9 none of many thousands of streamlines joins the ends of the arcuate.");
    if (!brain_.is_real() && options.size == BenchSize::paper)
      report_.note("A generated phantom is in place of the brain: " + missing_brain() + ".");
  }

  bool run() {
    for (const Tract& tract : tracts_of(brain_)) {
      stop_if_cancelled(options_);
      add(brain_.name + ", " + tract.name, compare_tract(brain_, tract, seeds_per_axis(), solve_options()));
    }
    add_pictures();
    return report_.finish(options_);
  }

 private:
  static Brain the_brain(const BenchOptions& options, int threads) {
    return options.size == BenchSize::paper ? real_or_phantom_brain(options.size, threads)
                                            : phantom_brain(options.size, threads);
  }

  [[nodiscard]] int seeds_per_axis() const { return options_.size == BenchSize::paper ? 5 : 2; }

  [[nodiscard]] SolveOptions solve_options() const {
    SolveOptions options;
    options.backend = Backend::threads;
    options.threads = threads_;
    options.verify = Keep::yes;
    options.progress.cancel = options_.progress.cancel;
    return options;
  }

  /// On the real brain in quick runs too, where it is there.
  void add_pictures() {
    const Brain brain = real_or_phantom_brain(options_.size, threads_);
    add_tract_and_streamlines(report_, brain, seeds_per_axis(), solve_options());
  }

  void add(const std::string& row, const TractComparison& tract) {
    Remark remark;
    if (tract.bad) remark = failed_run(*tract.bad);
    else if (tract.reaching >= min_bundle && tract.path_to_lines > max_voxels_apart * brain_.grid.spacing(0))
      remark = failed_run("the path is not in the streamlines' bundle");
    const auto show = [&](const char* column, double value, const char* unit, const std::string& said = {}) {
      Entry entry{row, column, {}, {}, unit, remark};
      if (!remark.failed) {
        entry.ours = value;
        entry.remark = said;
      }
      report_.add(std::move(entry));
    };
    show("path", tract.found.path.length, "mm");
    show("pathway", static_cast<double>(tract.found.pathway_voxels), "voxels",
         fmt::format("epsilon {:.2g}", tract.found.pathway_epsilon));
    show("streamlines that join", static_cast<double>(tract.reaching), "", fmt::format("of {}", tract.seeds));
    if (tract.reaching == 0) return;
    show("from path to streamlines", tract.path_to_lines, "mm");
    show("from streamlines to path", tract.lines_to_path, "mm");
    show("Dice", tract.dice, "");
    show("streamlines in the pathway", 100 * tract.lines_inside, "%");
  }

  const BenchOptions& options_;
  int threads_;
  Brain brain_;
  Report report_;
};

}  // namespace

bool figure_004_9(const BenchOptions& options) { return FigureNine(options).run(); }

}  // namespace isochron::bench
