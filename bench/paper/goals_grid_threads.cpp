// What threads gain on image grids: one against all of them, in one run.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "bench/paper/grid_cases.h"
#include "bench/paper/tables.h"
#include "isochron/core/parallel.h"

namespace isochron::bench {
namespace {

/// Times of two schedules agree: tolerances (of a step each) over the hops from the source.
bool agree(const Arrival& a, const Arrival& b) {
  constexpr double max_difference = 1e-3;
  return std::equal(a.times.begin(), a.times.end(), b.times.begin(), b.times.end(), [](double x, double y) {
    return x == y || std::abs(x - y) <= max_difference * (1 + std::min(x, y));
  });
}

class GridThreads {
 public:
  explicit GridThreads(const BenchOptions& options)
      : options_(options),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        report_("goals-grid-threads", "Seconds on images: one thread against all, double precision", options) {
    report_.note("The quickest of three solves each, or of fewer where they take long.");
    if (threads_ == 1) report_.note("There is one thread only; give --threads for more.");
  }

  bool run() {
    const ExampleSizes sizes = example_sizes(options_.size);
    const std::uint32_t large = options_.size == BenchSize::paper ? 128 : 24;
    for (const int order : {1, 2})
      add(fmt::format("{}^3 isotropic, order {}", large, order), cube_model(large, Metric::isotropic(1)), order);
    add(fmt::format("{}^3 Example 1", sizes.cube), example_one(sizes.cube), 1);
    add("folded shell", folded_shell(sizes.brain, sizes.thickness), 1);
    return report_.finish(options_);
  }

 private:
  void add(const std::string& name, const GridModel& model, int order) {
    const std::string row = fmt::format("{} ({} voxels)", name, model.cells);
    const Measured one = solved(model, order, 1);
    Measured all = solved(model, order, threads_);
    if (one.valid && all.valid && !agree(one.arrival, all.arrival)) all = {false, failed_run(wrong_times), {}};
    report_.add(entry_of(row, "1 thread", {}, one, "s", seconds));
    report_.add(entry_of(row, fmt::format("{} threads", threads_), {}, all, "s", seconds));
    if (one.valid && all.valid)
      report_.add({row, "gain", {}, seconds(one.arrival) / seconds(all.arrival), "times", ""});
  }

  [[nodiscard]] Measured solved(const GridModel& model, int order, int threads) const {
    SolveOptions options;
    options.order = order;
    options.backend = threads > 1 ? Backend::threads : Backend::serial;
    options.threads = threads;
    options.sources = Keep::no;
    options.progress.cancel = options_.progress.cancel;
    return quickest_solve(model, options, options_);
  }

  static constexpr const char* wrong_times = "the times are not those of one thread";

  const BenchOptions& options_;
  int threads_;
  Report report_;
};

}  // namespace

bool goals_grid_threads(const BenchOptions& options) { return GridThreads(options).run(); }

}  // namespace isochron::bench
