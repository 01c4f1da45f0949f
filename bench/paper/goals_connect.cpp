// Our aims on a brain: the answer between two regions while one is dragged, and the connectome; whole answers, with all
// that is done on the host.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/paper/brain.h"
#include "bench/paper/cases.h"
#include "bench/paper/tables.h"
#include "isochron/connect.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"

namespace isochron::bench {
namespace {

/// Costs of two solves of one problem agree: tolerances and single precision over the hops of a way.
constexpr double max_cost_difference = 2e-3;

bool agree(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return x == y || std::abs(x - y) <= max_cost_difference * std::min(x, y);
         });
}

bool sound(const Connection& c) { return is_right(c.work) && c.path.end == PathEnd::source && c.pathway_voxels > 0; }
bool sound(const Connectome& c) { return is_right(c.work) && c.unconnected == 0 && c.unfinished == 0; }

/// What the times were taken of, to be compared between back ends.
struct Answer {
  Measured measured;
  std::vector<double> costs;
};

class ConnectGoals {
 public:
  explicit ConnectGoals(const BenchOptions& options)
      : options_(options),
        quick_(options.size == BenchSize::quick),
        threads_(options.threads > 0 ? options.threads : hardware_threads()),
        brain_(the_brain(options, threads_)),
        report_("goals-connect", "Whole answers on a brain: region to region, and the connectome", options) {
    report_.note_on_paper(paper_is_the_aim);
    report_.note_on_paper("The aims are for two CPU cores and one H200.");
    report_.note("Region to region: both solves, cost, pathway and path, while one end is dragged; prepared once.");
    report_.note("Connectome: set-up, one solve a region and one path a pair.");
    report_.note("Each is solved once more with a residual check, and the GPU's costs must be the CPU's.");
    if (!brain_.is_real() && !quick_)
      report_.note("The real brain is measured where ISOCHRON_DATA names a folder that has it.");
    note_gpu(report_);
  }

  bool run() {
    const auto queries = dragged_queries(brain_, quick_ ? 3 : 15);
    const std::string size = fmt::format("{} ({} voxels)", brain_.name, brain_.metric.counts.usable);
    add(size + ", region to region", "ms", 1e3, {}, 16,
        [&](Backend backend) { return region_to_region(queries, backend); });
    const std::size_t count = quick_ ? 6 : 80;
    const auto parcels = brain_parcels(brain_, count, options_of(Backend::threads, Keep::no));
    add(fmt::format("{}, {} regions", size, count), "s", 1, 5, 0.5,
        [&](Backend backend) { return connectome(parcels, backend); });
    return report_.finish(options_);
  }

 private:
  static Brain the_brain(const BenchOptions& options, int threads) {
    std::optional<Brain> real;
    if (options.size == BenchSize::paper) real = real_brain(threads);
    return real ? std::move(*real) : phantom_brain(options.size, threads);
  }

  [[nodiscard]] SolveOptions options_of(Backend backend, Keep verify) const {
    SolveOptions result;
    result.backend = backend;
    result.threads = threads_;
    result.verify = verify;
    result.sources = Keep::no;
    result.progress.cancel = options_.progress.cancel;
    return result;
  }

  /// One row on the CPU and on the GPU. The CPU's answer is what the GPU's is compared with, so it is found in any case
  /// where there is a GPU.
  void add(const std::string& row, const std::string& unit, double scale, std::optional<double> cpu_aim, double gpu_aim,
           const std::function<Answer(Backend)>& measure) {
    const auto value = [&](const Arrival& a) { return scale * a.solve_seconds; };
    const bool gpu_only = options_.columns == BenchColumns::gpu;
    Answer cpu, gpu;
    if (!gpu_only || has_gpu()) cpu = measure(Backend::threads);
    const Measured shown = gpu_only ? Measured{false, "left out", {}} : cpu.measured;
    report_.add(entry_of(row, fmt::format("CPU, {} threads", threads_), cpu_aim, shown, unit, value));
    gpu.measured = on_gpu([&] {
      gpu = measure(Backend::cuda);
      if (!agree(cpu.costs, gpu.costs)) gpu.measured = {false, failed_run(differs), {}};
      return gpu.measured;
    });
    report_.add(entry_of(row, "GPU", gpu_aim, gpu.measured, unit, value));
  }

  [[nodiscard]] Answer region_to_region(const std::vector<ConnectQuery>& queries, Backend backend) const {
    Connector connector(brain_.domain(), options_of(backend, Keep::no));
    std::vector<double> wholes, solves;
    Connection last;
    for (const ConnectQuery& query : queries) {
      stop_if_cancelled(options_);
      const Timer timer;
      last = connector.connect(query);
      wholes.push_back(timer.seconds());
      solves.push_back(last.work.solve_seconds);
    }
    const Connection again = Connector(brain_.domain(), options_of(backend, Keep::yes)).connect(queries.back());
    const bool passed = sound(again) && agree(again.cost, last.cost);
    return judged(passed, backend, wholes, solves, std::move(last.cost));
  }

  [[nodiscard]] Answer connectome(const std::vector<LabelledRegion>& regions, Backend backend) const {
    std::vector<double> wholes, solves;
    Connectome last;
    for (int i = 0; i < (quick_ ? 1 : 3); ++i) {
      stop_if_cancelled(options_);
      const Timer timer;
      last = connect_all(brain_.domain(), regions, options_of(backend, Keep::no));
      wholes.push_back(timer.seconds());
      solves.push_back(last.work.solve_seconds);
    }
    const Connectome again = connect_all(brain_.domain(), regions, options_of(backend, Keep::yes));
    const bool passed = sound(again) && agree(again.cost, last.cost);
    return judged(passed, backend, wholes, solves, std::move(last.cost));
  }

  [[nodiscard]] static Answer judged(bool passed, Backend backend, const std::vector<double>& wholes,
                                     const std::vector<double>& solves, std::vector<double> costs) {
    Answer answer;
    answer.costs = std::move(costs);
    answer.measured.valid = passed;
    if (!passed) answer.measured.remark = failed_check;
    answer.measured.timing = fmt::format("median of {}", wholes.size());
    if (backend == Backend::cuda)  // on the CPU several go side by side
      answer.measured.timing += fmt::format(", of which the solves {:.2f} ms", 1e3 * median(solves));
    answer.measured.arrival.solve_seconds = median(wholes);
    return answer;
  }

  static constexpr const char* differs = "the GPU's costs differ from the CPU's";

  const BenchOptions& options_;
  bool quick_;
  int threads_;
  Brain brain_;
  Report report_;
};

}  // namespace

bool goals_connect(const BenchOptions& options) { return ConnectGoals(options).run(); }

}  // namespace isochron::bench
