// Our aims over MPI ranks: the ventricle as large as it is, and as large as there are ranks. Run under mpirun, once for
// each number of ranks; scripts/bench_mpi.sh does, and compares.
#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "bench/paper/scale_model.h"
#include "bench/paper/tables.h"
#include "isochron/comm/collectives.h"
#include "isochron/communicator.h"
#include "isochron/core/cores.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/solve/ranks/partition_by_time.h"
#include "isochron/solve/ranks/rank_device.h"
#include "isochron/solve/ranks/rank_seeds.h"
#include "isochron/solve/ranks/scatter.h"
#include "isochron/solver.h"

namespace isochron::bench {
namespace {

SolveOptions solve_options() {
  SolveOptions options;
  options.verify = Keep::yes;
  options.precision = Precision::double_;
  return options;
}

/// Keeps this process on some cores while it lives; on none: where it is. Where it cannot, threads change places and
/// take a little longer.
class OnCores {
 public:
  explicit OnCores(const CoreSet& cores) : before_(allowed_cores()), kept_(cores.count() > 0 && move_to_cores(cores)) {}
  ~OnCores() {
    if (kept_) (void)move_to_cores(before_);
  }
  OnCores(const OnCores&) = delete;
  OnCores& operator=(const OnCores&) = delete;

 private:
  CoreSet before_;
  bool kept_;
};

/// Those of a set from its place `first` on, so many.
CoreSet some_of(const CoreSet& cores, int first, int count) {
  CoreSet result;
  int place = 0;
  for (std::size_t core = 0; core < CoreSet::most; ++core)
    if (cores.has(core) && place++ >= first && place <= first + count) result.add(core);
  return result;
}

/// The share of a rank; none where there are fewer cores than ranks. For its solve: before and after, rank 0 has all of
/// them for setting up.
CoreSet own_cores(const Communicator& communicator) {
  const CoreSet all = allowed_cores();
  const int each = all.count() / communicator.size();
  return some_of(all, each * communicator.rank(), each);
}

/// The quickest of three results, or of fewer when they take long.
template <class Solve>
auto quickest(Solve&& solve) {
  auto best = solve();
  double spent = best.solve_seconds;
  for (int i = 1; i < 3 && spent < 10; ++i) {
    auto next = solve();
    spent += next.solve_seconds;
    if (next.solve_seconds < best.solve_seconds) best = std::move(next);
  }
  return best;
}

/// One process with these options.
Measured measure_alone(const Heart& heart, const SolveOptions& options) {
  Solver solver({heart.mesh, heart.metric}, options);
  const Sources sources = middle_source(heart.mesh);
  return checked(quickest([&] { return solver.solve(sources); }));
}

/// One process, on one thread and on all.
void add_one_process(Report& report, const std::string& row, const Heart& heart, const BenchOptions& options) {
  for (const int threads : {1, options.threads > 0 ? options.threads : hardware_threads()}) {
    SolveOptions one = solve_options();
    one.threads = threads;
    one.backend = threads > 1 ? Backend::threads : Backend::serial;
    const Measured best = measure_alone(heart, one);
    report.add(entry_of(row, fmt::format("no ranks, {} threads", threads), {}, best, "s", seconds));
    if (threads == 1) report.add(entry_of(row, "no ranks, updates", {}, best, "a vertex", updates_per_vertex));
  }
}

/// A ventricle shared out over ranks, and what that took.
struct SharedHeart {
  Sources sources;
  ranks::SolvePart<4> own;
  double make_seconds = 0, deal_seconds = 0, scatter_seconds = 0;
};

/// All ranks together: rank 0 makes it and deals it out. With `before`, rank 0 does that first, on the whole.
SharedHeart share_heart(Communicator& communicator, std::size_t elements,
                        const std::function<void(const Heart&)>& before) {
  const bool root = communicator.rank() == 0;
  const int team = hardware_threads();
  SharedHeart result;
  Timer timer;
  const auto lap = [&] {
    const double seconds = timer.seconds();
    timer.restart();
    return seconds;
  };
  std::unique_ptr<Heart> whole;
  if (root) {
    whole = std::make_unique<Heart>(heart(elements, 0.6, 0.3, team));
    result.sources = middle_source(whole->mesh);
  }
  // One vertex.
  result.sources.vertices = broadcast_values(communicator, result.sources.vertices);
  result.make_seconds = lap();
  if (root && before) before(*whole);
  timer.restart();
  const TetMesh* mesh = root ? &whole->mesh : nullptr;
  const Metric* metric = root ? &whole->metric : nullptr;
  std::vector<std::uint32_t> rank_of;
  if (root && communicator.size() == 1) rank_of.assign(mesh->vertex_count(), 0);
  else if (root)
    rank_of = ranks::partition_by_time(
        *mesh, *metric, ranks::whole_seeds(*mesh, *metric, result.sources, solve_options()), communicator.size(), team);
  result.deal_seconds = lap();
  result.own = ranks::scatter<4>(communicator, mesh, metric, std::move(rank_of), ObtuseSplit::automatic, team);
  result.scatter_seconds = lap();
  return result;
}

MeasuredRun run_of(const Arrival& arrival, const MeshPart<4>& part, int ranks) {
  MeasuredRun run;
  run.mesh = "ventricle";
  run.ranks = ranks;
  run.parts_per_rank = ranks == 1 ? 1 : 0;
  run.vertices = static_cast<double>(part.whole_vertices);
  run.elements = static_cast<double>(part.whole_elements);
  run.bands = static_cast<double>(arrival.traffic->bands);
  run.rounds = static_cast<double>(arrival.traffic->agreements);
  run.messages = static_cast<double>(arrival.traffic->messages);
  run.bytes = static_cast<double>(arrival.traffic->bytes);
  run.pushes = static_cast<double>(arrival.counters.vertex_updates);
  run.solve_seconds = arrival.solve_seconds;
  run.work_seconds = arrival.solve_seconds - arrival.traffic->idle_seconds;
  run.work_max_seconds = arrival.solve_seconds - arrival.traffic->min_idle_seconds;
  run.idle_seconds = arrival.traffic->idle_seconds;
  return run;
}

void add_solve(Report& report, const std::string& row, const SharedHeart& shared, const Arrival& best, double kept) {
  const bool right = is_right(best);
  const auto add = [&](const char* column, double value, const char* unit) {
    const std::optional<double> ours = right ? std::optional(value) : std::nullopt;
    report.add({row, column, {}, ours, unit, right ? "" : failed_check});
  };
  const auto whole = static_cast<double>(shared.own.part.whole_vertices);
  add("elements", static_cast<double>(shared.own.part.whole_elements), "");
  add("generate", shared.make_seconds, "s");
  add("deal", shared.deal_seconds, "s");
  add("scatter", shared.scatter_seconds, "s");
  add("set-up", best.setup_seconds, "s");
  add("solve", best.solve_seconds, "s");
  add("idle", 100 * best.traffic->idle_seconds / best.solve_seconds, "% of the solve");
  add("bands", static_cast<double>(best.traffic->bands), "");
  add("updates", static_cast<double>(best.counters.vertex_updates) / whole, "a vertex");
  add("messages", static_cast<double>(best.traffic->messages), "");
  const auto least = static_cast<double>(best.traffic->halo_bytes);
  add("bytes over least", least == 0 ? 1 : static_cast<double>(best.traffic->bytes) / least, "times");
  add("elements kept over share", kept, "times");
}

/// All ranks together: elements of the largest part over a rank's share of them.
double elements_kept(Communicator& communicator, const MeshPart<4>& part) {
  double most = 0;
  for (const double count : all_values(communicator, static_cast<double>(part.mesh.element_count())))
    most = std::max(most, count);
  return most * communicator.size() / static_cast<double>(part.whole_elements);
}

/// A ventricle over ranks.
struct Ventricle {
  std::size_t elements = 0;
  int threads = 0;  ///< of each
  std::function<void(const Heart&)> before = {};
  std::size_t beside = 0;  ///< elements of another, which rank 0 solves alone in turn with it; 0: none
};

/// The second of two solves in a row, for what is solved in turns: the first finds cores that slept while the other one
/// was solved, and takes a tenth longer.
template <class Solve>
auto second(Solve&& solve) {
  (void)solve();
  return solve();
}

/// A ventricle that rank 0 solves alone, as one rank, while the others sleep: on one core after the other. On a shared
/// machine some are half as quick as others, and the ranks together have them all.
class SmallHeart {
 public:
  /// All ranks together; of no elements, it does nothing.
  SmallHeart(Communicator& communicator, std::size_t elements)
      : alone_(communicator.split(communicator.rank() == 0 && elements > 0)) {
    if (alone_ == nullptr) return;
    shared_ = share_heart(*alone_, elements, {});
    solver_ = std::make_unique<Solver>(Domain(shared_.own.part, shared_.own.metric), solve_options(), *alone_);
  }
  /// Rank 0 keeps the seconds of its turn; the others do nothing.
  void solve() {
    if (alone_ == nullptr) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until those who wait for the next one sleep
    const OnCores stay(some_of(cores_, static_cast<int>(seconds_.size()) * cores_.count() / turns(), 1));
    const Arrival arrival = second([&] { return solver_->solve(shared_.sources); });
    right_ = right_ && is_right(arrival);
    seconds_.push_back(arrival.solve_seconds);
  }
  /// To have every core as often as another: sixteen, or a few less.
  [[nodiscard]] int turns() const {
    const int cores = std::clamp(cores_.count(), 1, 16);
    return 16 / cores * cores;
  }
  [[nodiscard]] bool right() const { return right_; }
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  std::unique_ptr<Communicator> alone_;  ///< null on the others
  SharedHeart shared_;
  std::unique_ptr<Solver> solver_;
  CoreSet cores_ = allowed_cores();
  std::vector<double> seconds_;
  bool right_ = true;
};

/// In this time several cores together solve one each, if each keeps its speed and they hand work to each other.
double harmonic_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += 1 / value;
  return static_cast<double>(values.size()) / sum;
}

/// The quickest of several, in turn with the small one where there is one: a machine that is shared is quicker at one
/// minute than at another, and one core quicker than the next. The small one counts with its harmonic mean over cores,
/// the whole with its median.
template <class Solve>
auto solve_in_turns(Report& report, const std::vector<std::string>& rows, SmallHeart& small, Solve&& solve) {
  std::vector<double> seconds;
  bool right = true;
  const auto turn = [&] {
    small.solve();
    auto next = second(solve);
    right = right && is_right(next);
    seconds.push_back(next.solve_seconds);
    return next;
  };
  auto best = turn();
  for (int i = 1; i < small.turns(); ++i)
    if (auto next = turn(); next.solve_seconds < best.solve_seconds) best = std::move(next);
  if (small.seconds().empty()) return best;
  right = right && small.right();
  const auto add = [&](const std::string& row, const char* column, double value, const char* unit) {
    report.add({row, column, {}, right ? std::optional(value) : std::nullopt, unit, right ? "" : failed_check});
  };
  for (const std::string& row : rows) {
    if (!row.starts_with("weak")) continue;
    add(row, "one rank in turn with it", harmonic_mean(small.seconds()), "s, harmonic mean over cores");
    add(row, "solve in turn with it", median(seconds), "s, median");
    add(row, "weak scaling", harmonic_mean(small.seconds()) / median(seconds), "times");
  }
  return best;
}

/// All ranks together. Rank 0 reports, in each of the rows, and gives the run if it was right.
std::optional<MeasuredRun> add_ventricle(Report& report, Communicator& communicator,
                                         const std::vector<std::string>& rows, const Ventricle& ventricle) {
  const SharedHeart shared = share_heart(communicator, ventricle.elements, ventricle.before);
  const MeshPart<4>& part = shared.own.part;
  SmallHeart small(communicator, ventricle.beside);
  const OnCores stay(own_cores(communicator));
  SolveOptions own = solve_options();
  own.threads = ventricle.threads;
  Solver solver({part, shared.own.metric}, own, communicator);
  const auto solve = [&] { return solver.solve(shared.sources); };
  const Arrival best = ventricle.beside == 0 ? quickest(solve) : solve_in_turns(report, rows, small, solve);
  const double kept = elements_kept(communicator, part);
  if (communicator.rank() != 0) return std::nullopt;
  for (const std::string& row : rows) add_solve(report, row, shared, best, kept);
  return is_right(best) ? std::optional(run_of(best, part, communicator.size())) : std::nullopt;
}

/// All ranks together: as they solve without further options, all of a machine as one.
void add_in_teams(Report& report, Communicator& communicator, const std::vector<std::string>& rows,
                  const Ventricle& ventricle) {
  SolveOptions options = solve_options();
  options.backend = Backend::mpi;
  SmallHeart small(communicator, ventricle.beside);
  const bool root = communicator.rank() == 0;
  const Timer timer;
  Heart whole;
  if (root) whole = heart(ventricle.elements, 0.6, 0.3, hardware_threads());
  const double make_seconds = timer.seconds();
  const Sources sources = root ? middle_source(whole.mesh) : Sources();
  Solver solver(root ? Domain(whole.mesh, whole.metric) : Domain(), options, communicator);
  const auto solve = [&] {
    Arrival arrival = solver.solve(sources);
    arrival.solve_seconds = broadcast_value(communicator, arrival.solve_seconds);  // it decides how many there are
    return arrival;
  };
  const Arrival best = ventricle.beside == 0 ? quickest(solve) : solve_in_turns(report, rows, small, solve);
  if (!root) return;
  const bool right = is_right(best);
  const Traffic& traffic = *best.traffic;
  for (const std::string& row : rows) {
    const auto add = [&](const char* column, double value, const char* unit) {
      report.add({row, column, {}, right ? std::optional(value) : std::nullopt, unit, right ? "" : failed_check});
    };
    add("elements", static_cast<double>(whole.mesh.element_count()), "");
    add("generate", make_seconds, "s");
    add("set-up", best.setup_seconds, "s");
    add("solve", best.solve_seconds, "s");
    add("parts", traffic.parts, "");
    add("updates", static_cast<double>(best.counters.vertex_updates) / static_cast<double>(whole.mesh.vertex_count()),
        "a vertex");
    add("messages", static_cast<double>(traffic.messages), "");
    const auto least = static_cast<double>(traffic.halo_bytes);
    add("bytes over least", least == 0 ? 1 : static_cast<double>(traffic.bytes) / least, "times");
  }
}

/// All ranks at the same time, each a whole ventricle of its own, without a message: what sharing a machine costs. Rank
/// 0 reports the harmonic mean of their times, the median of five.
void add_copies(Report& report, Communicator& communicator, std::size_t elements) {
  const OnCores stay(own_cores(communicator));
  const Heart own = heart(elements, 0.6, 0.3, 1);
  const Sources sources = middle_source(own.mesh);
  SolveOptions options = solve_options();
  options.backend = Backend::serial;
  Solver solver({own.mesh, own.metric}, options);
  std::vector<double> means;
  bool right = true;
  for (int i = 0; i < 5; ++i) {
    (void)all_values(communicator, i);  // all begin together
    const Arrival arrival = solver.solve(sources);
    means.push_back(harmonic_mean(all_values(communicator, arrival.solve_seconds)));
    right = right && is_right(arrival);
  }
  if (communicator.rank() != 0) return;
  report.add({"weak",
              "copies side by side",
              {},
              right ? std::optional(median(means)) : std::nullopt,
              "s, harmonic mean",
              right ? "" : failed_check});
}

/// All ranks together, each on its GPU. Rank 0 reports, a row for each precision; one rank also without ranks.
void add_on_gpus(Report& report, Communicator& communicator, std::size_t elements) {
  constexpr Precision precisions[] = {Precision::single_, Precision::double_};
  const auto row = [](Precision precision) { return fmt::format("GPUs, {}", name_of(precision)); };
  const auto on_gpu = [](Precision precision) {
    SolveOptions options = solve_options();
    options.backend = options.ranks.rank_backend = Backend::cuda;
    options.precision = precision;
    return options;
  };
  const SharedHeart shared = share_heart(communicator, elements, [&](const Heart& heart) {
    if (communicator.size() > 1) return;
    for (const Precision precision : precisions)
      report.add(entry_of(row(precision), "no ranks", {}, measure_alone(heart, on_gpu(precision)), "s", seconds));
  });
  for (const Precision precision : precisions) {
    const SolveOptions own = on_gpu(precision);
    Solver solver({shared.own.part, shared.own.metric}, own, communicator);
    const Arrival best = quickest([&] { return solver.solve(shared.sources); });
    const double kept = elements_kept(communicator, shared.own.part);
    if (communicator.rank() == 0) add_solve(report, row(precision), shared, best, kept);
  }
}

}  // namespace

bool goals_mpi(const BenchOptions& options) {
  const std::unique_ptr<Communicator> communicator = mpi::join_world();
  const int ranks = communicator->size();
  if (options.columns == BenchColumns::gpu) {
    try {
      (void)ranks::agreed_backend(*communicator, Backend::cuda);
    } catch (const ThrownTogether&) {
      if (communicator->rank() == 0) throw;
      return true;  // the first one says why
    }
    Report report("goals-mpi", fmt::format("A ventricle over {} ranks with a GPU each", ranks), options);
    add_on_gpus(report, *communicator, options.size == BenchSize::quick ? 200000 : 24000000);
    return communicator->rank() == 0 ? report.finish(options) : true;
  }
  Report report("goals-mpi", fmt::format("A ventricle over {} ranks, double precision", ranks), options);
  const bool quick = options.size == BenchSize::quick;
  const std::size_t whole = quick ? 200000 : 24000000, each = quick ? 20000 : 1500000;
  const std::size_t weak = each * static_cast<std::size_t>(ranks);
  std::vector<MeasuredRun> runs;
  add_copies(report, *communicator, each);
  const bool teams = ranks > 1 && options.threads == 0;
  const auto rows = [&](const std::vector<std::string>& names, const char* how) {
    std::vector<std::string> result;
    result.reserve(names.size());
    for (const std::string& name : names) result.push_back(name + how);
    return result;
  };
  const auto measure = [&](const std::vector<std::string>& names, const Ventricle& ventricle) {
    if (teams) add_in_teams(report, *communicator, rows(names, ""), {ventricle.elements, 0, {}, ventricle.beside});
    if (const auto run = add_ventricle(report, *communicator, rows(names, teams ? ", by messages" : ""), ventricle))
      runs.push_back(*run);
  };
  const std::size_t beside = teams ? each : 0;
  if (weak != whole) measure({"weak"}, {weak, options.threads, {}, beside});
  const auto before = [&](const Heart& heart) {
    if (ranks == 1) add_one_process(report, "strong", heart, options);
  };
  if (weak == whole) measure({"strong", "weak"}, {whole, options.threads, before, beside});
  else measure({"strong"}, {whole, options.threads, before});
  if (communicator->rank() != 0) return true;
  report.attach("goals-mpi-runs.csv", runs_csv(runs));
  return report.finish(options);
}

}  // namespace isochron::bench
