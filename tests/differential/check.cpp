#include "differential/check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <regex>
#include <stop_token>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "differential/fixed_point.h"
#include "isochron/core/random.h"
#include "isochron/error.h"
#include "isochron/solver.h"
#include "solve/ways.h"
#include "support/delayed_messages.h"

namespace isochron::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// What a case may take, all of its solves together. Where edge times differ by millions of times a schedule may go
/// round for minutes before it gives up: it is stopped then, and counted.
constexpr std::chrono::seconds max_time_of_case{2};

/// Cancels the solves of a case when its time is over.
class Deadline {
 public:
  Deadline()
      : watch_([this](const std::stop_token& stop) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any().wait_for(lock, stop, max_time_of_case, [] { return false; });
          if (!stop.stop_requested()) passed_ = true;
        }) {}

  [[nodiscard]] const std::atomic<bool>* passed() const { return &passed_; }

 private:
  std::atomic<bool> passed_{false};
  std::jthread watch_;  ///< last: it uses the rest
};

/// How one solve is done.
struct Attempt {
  std::string name;
  SolveOptions options;
  int ranks = 0;  ///< 0: no communicator
  Delays delays = {};
  std::uint64_t update_seed = 0;  ///< unless 0: of another problem, whose solution is updated
};

Domain domain_of(const Case& problem) {
  if (const auto* image = std::get_if<MaskedImage>(&problem.shape)) return {image->grid, problem.metric, image->mask};
  if (const auto* triangles = std::get_if<TriangleMesh>(&problem.shape)) return {*triangles, problem.metric};
  return {std::get<TetMesh>(problem.shape), problem.metric};
}

/// A metric that differs on some elements.
Metric another_metric(const Metric& metric, std::size_t elements, Random& random) {
  const double factor = std::exp(3 * random.normal()), share = random.uniform();
  const std::size_t first = random.below(elements), count = 1 + random.below(elements);
  const bool scattered = random.below(2) == 0;
  const auto chosen = [&](std::size_t e) { return scattered ? random.uniform() < share : e - first < count; };
  if (const auto* given = std::get_if<SpeedMetric>(&metric.kind())) {
    SpeedMetric speeds = *given;
    const bool stops = random.below(4) == 0;  // these elements conduct after the change alone
    for (std::size_t e = 0; e < elements; ++e)
      if (chosen(e)) speeds.speed[e] = stops ? 0 : factor * given->speed[e];
    return Metric(std::move(speeds));
  }
  if (const auto* given = std::get_if<FiberMetric>(&metric.kind())) {
    FiberMetric fibers = *given;
    const std::size_t rows = given->velocities.size();
    for (const Velocities& v : given->velocities)
      fibers.velocities.push_back({factor * v.fiber, factor * v.sheet, factor * v.normal});
    fibers.region = {};
    for (std::size_t e = 0; e < elements; ++e)
      fibers.region.push_back(
          static_cast<std::uint16_t>((given->region.empty() ? 0 : given->region[e]) + (chosen(e) ? rows : 0)));
    return Metric(std::move(fibers));
  }
  TensorMetric tensors;
  for (std::size_t e = 0; e < elements; ++e)
    tensors.tensor.push_back(narrowed((chosen(e) ? factor : 1) * metric.tensor(ElementId(e))));
  return Metric(std::move(tensors));
}

Sources other_sources(Sources sources, std::size_t vertices, Random& random) {
  const double later = random.normal() * (1 + (sources.vertices.empty() ? 0 : std::abs(sources.vertices[0].time)));
  if (!sources.vertices.empty() && random.below(2) == 0) sources.vertices.back().time += later;
  if (!sources.points.empty() && random.below(2) == 0) sources.points.back().time += later;
  if (random.below(2) == 0) sources.vertices.push_back({VertexId(random.below(vertices)), later});
  if (sources.vertices.size() > 1 && random.below(3) == 0) sources.vertices.erase(sources.vertices.begin());
  return sources;
}

/// The solution of another problem, updated to this one. Where the other has none, the solution from nothing.
Arrival update_to(const Case& problem, const Attempt& attempt) {
  Random random(attempt.update_seed);
  const Domain domain = domain_of(problem);
  const std::size_t elements = std::visit(
      [](const auto& shape) -> std::size_t {
        if constexpr (requires { shape.grid; }) return shape.grid.voxel_count();
        else return shape.element_count();
      },
      problem.shape);
  const Metric metric = another_metric(problem.metric, elements, random);
  const Sources sources = other_sources(problem.sources, problem.vertex_count(), random);
  Domain other = domain;
  other.metric = metric;
  std::optional<Solver> solver;
  Arrival before;
  try {
    solver.emplace(other, attempt.options);
    before = solver->solve(sources);
  } catch (const InputError&) {
    return Solver(domain, attempt.options).solve(problem.sources);
  }
  if (!before.converged) return Solver(domain, attempt.options).solve(problem.sources);
  ProblemChange change;
  change.sources = problem.sources;
  change.metric = problem.metric;
  return solver->update(before, sources, change);
}

Arrival run_attempt(const Case& problem, const Attempt& attempt) {
  if (attempt.update_seed != 0) return update_to(problem, attempt);
  if (attempt.ranks == 0) return Solver(domain_of(problem), attempt.options).solve(problem.sources);
  Arrival arrival;
  run_delayed(attempt.ranks, attempt.delays, [&](Communicator& communicator) {
    const bool root = communicator.rank() == 0;
    Solver solver(root ? domain_of(problem) : Domain(), attempt.options, communicator);
    Arrival own = solver.solve(root ? problem.sources : Sources());
    if (root) arrival = std::move(own);
  });
  return arrival;
}

/// The ways to solve a case.
class Attempts {
 public:
  Attempts(const Case& problem, const CheckRequest& request)
      : problem_(problem), request_(request), random_(problem.seed * 31 + problem.index) {
    if (problem.source_init == SourceInit::factored) add_factored();
    else if (problem.kind == "image") add_image();
    else add_mesh(problem.kind == "triangles" ? 3 : 4);
    if (problem.source_init != SourceInit::factored && problem.order == 1 && problem.scheme == GridScheme::adaptive)
      add_update();
    if (request.ranks == Ranks::some && problem.source_init != SourceInit::factored &&
        problem.scheme == GridScheme::adaptive)
      add_ranks();
  }

  [[nodiscard]] const std::vector<Attempt>& all() const { return all_; }

 private:
  bool chance(double probability) { return request_.ways == Ways::all || random_.uniform() < probability; }

  void add(Way way) {
    if (way.threads > 1) {
      if (!chance(0.02)) return;
      way.threads = random_.uniform() < 0.5 ? 2 : 4;
    } else if (way.method != Method::banded && !chance(0.5)) {
      return;
    }
    Attempt attempt{name_of(way), options_for(way)};
    set_problem(attempt.options);
    all_.push_back(std::move(attempt));
  }
  void set_problem(SolveOptions& options) const {
    options.source_init = problem_.source_init;
    options.obtuse = problem_.obtuse;
    options.scheme = problem_.kind == "image" ? problem_.scheme : GridScheme::automatic;
    options.order = problem_.order;
    options.verify = Keep::yes;
  }

  void add_factored() {
    for (const int threads : {1, 2, 4}) add({Method::banded, Precision::double_, threads});
  }
  void add_mesh(int corners) {
    for (const Way& way : cpu_ways()) add(way);
    if (request_.devices != Devices::gpu) return;
    for (const Way& way : ways_on(Where::cuda, corners, problem_.obtuse))
      if (takes(way, problem_.metric)) add(way);
  }
  void add_image() {
    const bool adaptive = problem_.scheme == GridScheme::adaptive;
    for (const Precision precision : {Precision::double_, Precision::single_}) {
      if (adaptive) {
        for (const int threads : {1, 2, 4}) add({Method::banded, precision, threads});
      } else {
        if (problem_.scheme == GridScheme::godunov) add({Method::fim, precision, 1});
        add({Method::fsm, precision, 1});
      }
      if (request_.devices == Devices::gpu && problem_.scheme != GridScheme::lax_friedrichs)
        add({adaptive ? Method::push : Method::patch_fim, precision, 1});
    }
  }
  void add_update() {
    Random random(problem_.seed * 37 + problem_.index);  // the other attempts stay what they are
    Attempt attempt;
    set_problem(attempt.options);
    attempt.options.precision = random.below(2) == 0 ? Precision::double_ : Precision::single_;
    attempt.options.threads = request_.ways == Ways::all && random.below(4) == 0 ? 2 : 1;
    attempt.options.backend = attempt.options.threads > 1 ? Backend::threads : Backend::serial;
    attempt.update_seed = 1 + random.bits() % 1000000;
    attempt.name = fmt::format("update-{}", isochron::name_of(attempt.options.precision));
    all_.push_back(std::move(attempt));
  }
  void add_ranks() {
    Attempt attempt;
    const auto below = [&](std::uint64_t bound) { return static_cast<int>(random_.below(bound)); };
    attempt.ranks = 2 + below(3);
    attempt.delays = {.seed = random_.bits(), .looks = below(3)};
    SolveOptions& options = attempt.options;
    set_problem(options);
    options.precision = below(2) == 0 ? Precision::double_ : Precision::single_;
    options.ranks.blocks_per_rank = below(4);
    options.ranks.partitioner = Partitioner::curve;
    options.ranks.group_size = below(2);
    if (problem_.kind != "image")
      options.ranks.pace = std::array{Pace::banded, Pace::sweeps, Pace::local_solves}[random_.below(3)];
    if (request_.devices == Devices::gpu && options.ranks.pace != Pace::sweeps)
      options.ranks.rank_backend = Backend::cuda;
    attempt.name = fmt::format("{} ranks{} (blocks {}, group {}, pace {})-{}", attempt.ranks,
                               options.ranks.rank_backend == Backend::cuda ? " on the GPU" : "",
                               options.ranks.blocks_per_rank, options.ranks.group_size,
                               static_cast<int>(options.ranks.pace), isochron::name_of(options.precision));
    all_.push_back(std::move(attempt));
  }

  const Case& problem_;
  const CheckRequest& request_;
  Random random_;
  std::vector<Attempt> all_;
};

/// Whether it hangs on rounding that a tensor of the metric is positive definite.
bool definite_by_rounding(const Case& problem) {
  const std::size_t count = std::max<std::size_t>(problem.metric.element_count(), 1);
  for (std::size_t e = 0; e < count; ++e) {
    if (!problem.metric.conducts(ElementId(e))) continue;
    const SymTensor3d m = problem.metric.tensor(ElementId(e));
    const double little = 1e-14 * (std::abs(m.xx) + std::abs(m.yy) + std::abs(m.zz));
    const SymTensor3d shift{little, 0, 0, little, 0, little};
    if (positive_definite(m + shift) && !positive_definite(m + -1.0 * shift)) return true;
  }
  return false;
}

/// A message with # for its numbers, so that those of many cases can be counted.
std::string without_numbers(const std::string& text) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
  return std::regex_replace(text, number, "#");
}

class Checker {
 public:
  Checker(const Case& problem, const CheckRequest& request) : problem_(problem), request_(request) {}

  Findings run() {
    count(problem_.kind + ": cases");
    find_reference();
    const Attempts attempts(problem_, request_);
    for (const Attempt& attempt : attempts.all()) check(attempt);
    if (failures_ > 0)
      findings_.failures.push_back(fmt::format("case {}: {}{} [{}]", problem_.index, first_failure_,
                                               failures_ > 1 ? fmt::format(" (and {} more)", failures_ - 1) : "",
                                               problem_.description()));
    return std::move(findings_);
  }

 private:
  void count(const std::string& what) { ++findings_.counts[what]; }
  void fail(const std::string& attempt, const std::string& what) {
    count("failed: " + attempt);
    ++failures_;
    if (failures_ == 1) first_failure_ = fmt::format("{}: {}", attempt, what);
  }

  void find_reference() {
    try {
      reference_ = find_fixed_point(problem_);
      count(problem_.kind + (reference_ ? ": with fixed point" : ": without fixed point"));
    } catch (const InputError& error) {
      refused_sources_ = error.what();
    }
  }

  void check(Attempt attempt) {
    attempt.options.progress.cancel = deadline_.passed();
    try {
      const Arrival arrival = run_attempt(problem_, attempt);
      if (attempt.options.precision == Precision::double_) note_outcome(attempt, "");
      if (!refused_sources_.empty()) return fail(attempt.name, "solved what should be refused: " + refused_sources_);
      check_arrival(attempt, arrival);
    } catch (const Cancelled&) {
      count(fmt::format("stopped after {} s: {}", max_time_of_case.count(), attempt.name));
    } catch (const InputError& error) {
      count(fmt::format("refused: {}", without_numbers(error.what())));
      if (attempt.options.precision == Precision::double_) note_outcome(attempt, error.what());
    } catch (const std::exception& error) {
      fail(attempt.name, fmt::format("ended with '{}'", error.what()));
    }
  }

  /// All ways in double precision are refused, or none.
  void note_outcome(const Attempt& attempt, const std::string& refusal) {
    if (!outcome_) outcome_ = refusal;
    else if (outcome_->empty() == refusal.empty()) return;
    else if (definite_by_rounding(problem_)) count("refused by some ways alone: definite by rounding");
    else
      fail(attempt.name, refusal.empty() ? "solved what another way refuses: " + *outcome_
                                         : "refused what another way solves: " + refusal);
  }

  void check_arrival(const Attempt& attempt, const Arrival& arrival) {
    count(problem_.kind + ": solves");
    if (arrival.times.size() != problem_.vertex_count()) return fail(attempt.name, "has another number of times");
    if (!arrival.residual) return fail(attempt.name, "was not verified");
    if (arrival.residual->passed() && arrival.converged) {
      check_labels(attempt, arrival);
      if (reference_) compare(attempt, arrival);
    } else if (arrival.converged) {
      fail(attempt.name, "says that it has converged, but its check has failed");
    } else {
      count_not_converged(attempt, arrival);
    }
  }

  /// The answer says that it is not to be trusted; how far off is it?
  void count_not_converged(const Attempt& attempt, const Arrival& arrival) {
    const Residual& residual = *arrival.residual;
    const char* why = residual.passed()                       ? "gave up"
                      : residual.settled()                    ? "too early"
                      : residual.worst < 100 * residual.limit ? "residual up to 100 limits"
                                                              : "larger residual";
    const char* truth = !reference_ ? "" : worst_share(arrival).share > 1 ? ", times are wrong" : ", times are right";
    count(fmt::format("not converged: {}, {}, {}{}", problem_.kind, isochron::name_of(arrival.precision), why, truth));
    // Virtual elements, which the fixed point has from the library, may be too early where the metric changes.
    if (!residual.settled() || residual.passed() || !reference_ || problem_.obtuse != ObtuseSplit::none) return;
    const std::size_t v = residual.vertex_below.index();
    if (arrival.times[v] >= reference_->times[v] - 1e-4 * (reference_->times[v] - reference_->base))
      fail(attempt.name, fmt::format("is said to be too early by a share of {:.3g} at vertex {}, but is not",
                                     residual.share_below, v));
  }

  void check_labels(const Attempt& attempt, const Arrival& arrival) {
    std::size_t reached = 0;
    double last = -infinity;
    for (std::size_t v = 0; v < arrival.times.size(); ++v) {
      const bool here = arrival.times[v] < infinity;
      if (std::isnan(arrival.times[v])) return fail(attempt.name, fmt::format("vertex {} has time NaN", v));
      if (here) ++reached, last = std::max(last, arrival.times[v]);
      const bool labelled =
          arrival.source[v] >= 0 && arrival.source[v] < static_cast<std::int32_t>(problem_.sources.count());
      if (labelled != here || (!here && arrival.source[v] != -1))
        return fail(attempt.name,
                    fmt::format("vertex {} with time {} has source {}", v, arrival.times[v], arrival.source[v]));
    }
    if (reached != arrival.reached || reached + arrival.unreached != arrival.times.size())
      fail(attempt.name, "counts the reached vertices wrongly");
    if (reached > 0 && last != arrival.max_time)
      fail(attempt.name, fmt::format("says the largest time is {}, not {}", arrival.max_time, last));
  }

  const FixedPoint::Bounds& bounds(Precision precision) {
    const bool single = precision == Precision::single_;
    std::optional<FixedPoint::Bounds>& known = single ? single_ : double_;
    // The residual may be ten tolerances.
    if (!known)
      known = reference_->bounds(single ? Exactness{1e-4, std::numeric_limits<float>::epsilon()}
                                        : Exactness{1e-5, std::numeric_limits<double>::epsilon()});
    return *known;
  }

  /// The largest difference over what is allowed, and where.
  struct WorstShare {
    double share = 0;
    std::size_t vertex = 0;
    double allowed = 0;
  };
  /// An update keeps times that may be early by what counts as a gain.
  WorstShare worst_share(const Arrival& arrival) {
    const FixedPoint::Bounds& allowed = bounds(arrival.precision);
    WorstShare worst;
    for (std::size_t v = 0; v < arrival.times.size(); ++v) {
      const double time = arrival.times[v], wanted = reference_->times[v];
      if (time == wanted) continue;
      const double early = arrival.changed ? std::max(allowed.late[v], allowed.early[v]) : allowed.early[v];
      const double limit = time > wanted ? allowed.late[v] : early;
      const double share = (time < infinity) == (wanted < infinity) ? std::abs(time - wanted) / limit : infinity;
      if (share > worst.share) worst = {share, v, limit};
    }
    return worst;
  }

  void compare(const Attempt& attempt, const Arrival& arrival) {
    const WorstShare worst = worst_share(arrival);
    count(fmt::format("difference over what is allowed, {}: {}", isochron::name_of(arrival.precision),
                      worst.share <= 0.01  ? "up to 0.01"
                      : worst.share <= 0.1 ? "up to 0.1"
                      : worst.share <= 1   ? "up to 1"
                                           : "above 1"));
    if (worst.share <= 1) return;
    const double time = arrival.times[worst.vertex], wanted = reference_->times[worst.vertex];
    fail(attempt.name, fmt::format("vertex {} has time {:.9g}, not {:.9g} (difference {:.3g}, allowed {:.3g})",
                                   worst.vertex, time, wanted, time - wanted, worst.allowed));
  }

  const Case& problem_;
  const CheckRequest& request_;
  Deadline deadline_;
  Findings findings_;
  int failures_ = 0;
  std::string first_failure_;
  std::optional<FixedPoint> reference_;
  std::optional<FixedPoint::Bounds> single_, double_;
  std::string refused_sources_;
  std::optional<std::string> outcome_;  ///< of the first way in double precision: its refusal, or empty
};

}  // namespace

void Findings::add(const Findings& other) {
  for (const auto& [what, number] : other.counts) counts[what] += number;
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

Findings check_case(const Case& problem, const CheckRequest& request) { return Checker(problem, request).run(); }

}  // namespace isochron::test
