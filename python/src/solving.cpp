// Solvers that Python keeps, and what they give back.
#include <type_traits>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/solve/option_tables.h"
#include "isochron/solver.h"
#include "python/src/bindings.h"
#include "python/src/interpreter.h"
#include "python/src/linearizing.h"
#include "python/src/option_reader.h"
#include "python/src/problem.h"
#include "python/src/work.h"

namespace isochron::python {
namespace {

/// Options and what they were made from, so that they can be pickled.
struct GivenOptions : SolveOptions {
  py::dict given;
};

GivenOptions make_solve_options(const py::kwargs& given) {
  GivenOptions options;
  options.given = given;
  OptionReader read(given);
  each_option(static_cast<SolveOptions&>(options), read);
  each_image_option(static_cast<SolveOptions&>(options), read);
  read({"threads", "N", "Threads to use; 0: all cores"}, options.threads);
  read({"unordered", "WHEN", "What fast marching does where its order does not hold"}, options.unordered);
  read({"weights", "FLAG", "Keep what each time was made of"}, options.weights);
  read({"verify", "FLAG", "Check every time against its neighbours"}, options.verify);
  read({"labels", "FLAG", "Keep which source came first"}, options.sources);
  read.check_all_taken();
  if (options.threads < 0)
    throw UsageError(fmt::format("threads is {} (a number of threads, 0: all cores)", options.threads));
  if (options.tolerance && !(*options.tolerance > 0 && *options.tolerance < 1))
    throw UsageError(
        fmt::format("tolerance is {} (it is a share of an edge's time); give one like 1e-6", *options.tolerance));
  if (options.ball_rings < 0)
    throw UsageError(fmt::format("ball_rings is {} (a number of elements); give 0 or more", options.ball_rings));
  if (!(options.band_width >= 0 && options.band_width < 1 / 0.0))
    throw UsageError(fmt::format("band_width is {} (in mean edge times, 0: tuned); give another", options.band_width));
  return options;
}

/// Ids are below `vertex_count`.
std::shared_ptr<Sources> make_sources(std::size_t vertex_count, const py::object& vertices,
                                      const py::object& vertex_times, const py::object& points,
                                      const py::object& point_times, const py::object& level_set) {
  auto sources = std::make_shared<Sources>();
  Conversions unseen;
  const auto onsets = [&](const py::object& times, py::ssize_t count) {
    return times.is_none() ? Array<double>(static_cast<std::size_t>(count))
                           : rows_of<double>(times, "times", count, unseen);
  };
  if (!vertices.is_none()) {
    const auto ids = ids_of<VertexId>(vertices, "sources", vertex_count, unseen);
    const auto times = onsets(vertex_times, static_cast<py::ssize_t>(ids.size()));
    for (std::size_t i = 0; i < ids.size(); ++i) sources->vertices.push_back({ids[i], times[i]});
  }
  if (!points.is_none()) {
    const auto places = rows_of<Vec3d>(points, "sources", -1, unseen);
    const auto times = onsets(point_times, static_cast<py::ssize_t>(places.size()));
    for (std::size_t i = 0; i < places.size(); ++i) sources->points.push_back({places[i], times[i]});
  }
  if (!level_set.is_none()) sources->level_set = rows_of<double>(level_set, "level_set", -1, unseen);
  return sources;
}

/// (times, source or None, upwind vertices or None, upwind weights or None, stats); the arrays are on the solve's own
/// memory.
py::tuple pack(Arrival&& arrival, const Shape& shape) {
  const py::dict stats = stats_of(arrival, shape.vertex_count(), shape.element_count());
  py::object from = py::none(), weights = py::none();
  if (!arrival.upwind.empty()) {
    const auto n = static_cast<py::ssize_t>(arrival.upwind.size());
    const py::array_t<std::int64_t> vertices({n, py::ssize_t{3}});  // -1: none
    const py::array_t<float> shares({n, py::ssize_t{3}});
    auto* to_vertex = const_cast<std::int64_t*>(vertices.data());
    auto* to_share = const_cast<float*>(shares.data());
    for (const Upwind& upwind : arrival.upwind)
      for (std::size_t c = 0; c < 3; ++c) {
        *to_vertex++ = upwind.vertices[c].valid() ? std::int64_t{upwind.vertices[c].value} : -1;
        *to_share++ = upwind.weights[c];
      }
    from = vertices;
    weights = shares;
  }
  py::object source = py::none();
  if (!arrival.source.empty()) source = array_on(std::move(arrival.source));
  return py::make_tuple(array_on(std::move(arrival.times)), source, from, weights, stats);
}

/// A solver with the problem it works on. Threads that call it at once take turns.
class PreparedSolver {
 public:
  PreparedSolver(std::shared_ptr<Problem> problem, SolveOptions options, const py::object& callback)
      : problem_(std::move(problem)) {
    options.progress = work_.progress();
    work_.run(callback, problem_->words(), [&] {
      std::visit([&](const auto& on) { solver_ = std::make_unique<Solver>(domain(on), options); }, problem_->shape->of);
      return 0;
    });
  }

  py::tuple solve(const Sources& sources, const py::object& callback) {
    const Turns::Turn turn(turns_);
    Arrival arrival = work_.run(callback, problem_->words(), [&] { return solver_->solve(sources); });
    return pack(std::move(arrival), *problem_->shape);
  }

  /// Each result is handed to `take(index, packed)` as it comes.
  void solve_many(const std::vector<std::shared_ptr<Sources>>& sets, const py::function& take,
                  const py::object& callback) {
    const Turns::Turn turn(turns_);
    std::vector<Sources> all;
    all.reserve(sets.size());
    for (const auto& set : sets) all.push_back(*set);
    const TakeArrival hand_over = [&](std::size_t i, Arrival&& arrival) {
      work_.call_back([&] { take(i, pack(std::move(arrival), *problem_->shape)); });
    };
    work_.run(callback, problem_->words(), [&] {
      solver_->solve_many(all, hand_over);
      return 0;
    });
  }

  /// The derivative of times that `solve` gave, with the treatment of sources that it used.
  std::shared_ptr<LinearizedProblem> linearize(const py::array& times, const py::object& source_init,
                                               const Sources& sources) {
    const Turns::Turn turn(turns_);
    Conversions unseen;
    Arrival arrival;
    arrival.times =
        rows_of<double>(times, "times", static_cast<py::ssize_t>(problem_->shape->vertex_count()), unseen).copy();
    if (!source_init.is_none()) arrival.source_init = source_init_named(source_init.cast<std::string>());
    return work_.run(py::none(), problem_->words(), [&] {
      return std::make_shared<LinearizedProblem>(LinearizedProblem{problem_, solver_->linearize(arrival, sources)});
    });
  }

  /// The times after a change; `after` and `problem` are null where those before stay.
  py::tuple update(const py::array& times, const py::object& source, const py::object& source_init,
                   const Sources& sources, const std::shared_ptr<Sources>& after, std::shared_ptr<Problem> problem,
                   const py::object& elements, const py::object& callback) {
    const Turns::Turn turn(turns_);
    Conversions unseen;
    const Shape& shape = *problem_->shape;
    Arrival before;
    before.times = rows_of<double>(times, "times", static_cast<py::ssize_t>(shape.vertex_count()), unseen).copy();
    if (!source.is_none())
      before.source =
          rows_of<std::int32_t>(source, "source", static_cast<py::ssize_t>(shape.vertex_count()), unseen).copy();
    if (!source_init.is_none()) before.source_init = source_init_named(source_init.cast<std::string>());
    ProblemChange change;
    if (after) change.sources = *after;
    if (problem) {
      check_shape(*problem);
      change.metric = problem->metric;
      if (!elements.is_none())
        for (const VertexId id : ids_of<VertexId>(elements, "changed", shape.element_count(), unseen))
          change.elements.emplace_back(id.index());
    }
    bool done = false;
    Arrival arrival;
    try {
      arrival = work_.run(callback, problem ? problem->words() : problem_->words(), [&] {
        Arrival found = solver_->update(before, sources, change);
        done = true;
        return found;
      });
    } catch (...) {
      if (done && problem) solver_->set_metric(problem_->metric);  // the callback failed: nothing was changed
      throw;
    }
    if (problem) problem_ = std::move(problem);
    return pack(std::move(arrival), *problem_->shape);
  }

  /// Another metric on the same shape.
  void set_problem(std::shared_ptr<Problem> problem) {
    const Turns::Turn turn(turns_);
    check_shape(*problem);
    work_.run(py::none(), problem->words(), [&] {
      solver_->set_metric(problem->metric);
      return 0;
    });
    problem_ = std::move(problem);
  }

 private:
  void check_shape(const Problem& problem) const {
    if (problem.shape != problem_->shape)
      throw UsageError("the new metric belongs to another mesh (a solver keeps its own); make another solver");
  }

  template <int Corners>
  [[nodiscard]] Domain domain(const SimplexMesh<Corners>& mesh) const {
    return {mesh, problem_->metric, MeshIds::in_range};  // `mesh_shape` has looked at them
  }
  [[nodiscard]] Domain domain(const ImageGrid& grid) const { return {grid, problem_->metric, problem_->shape->mask}; }

  std::shared_ptr<Problem> problem_;
  Work work_;
  std::unique_ptr<Solver> solver_;
  Turns turns_;
};

}  // namespace

Backend backend_named(const std::string& name) {
  return one_of<Backend>(name, "backend",
                         {{"auto", Backend::automatic},
                          {"serial", Backend::serial},
                          {"threads", Backend::threads},
                          {"cuda", Backend::cuda}});
}

py::dict stats_of(const Arrival& arrival, std::size_t vertices, std::size_t elements) {
  py::dict stats;
  stats["vertices"] = vertices;
  stats["elements"] = elements;
  stats["method"] = name_of(arrival.method);
  stats["backend"] = name_of(arrival.backend);
  stats["threads"] = arrival.threads;
  stats["precision"] = name_of(arrival.precision);
  stats["source_init"] = arrival.source_init ? py::object(py::str(name_of(*arrival.source_init))) : py::none();
  stats["point_sources"] = arrival.point_sources;
  stats["source_balls"] = arrival.source_balls;
  stats["setup_seconds"] = arrival.setup_seconds;
  stats["solve_seconds"] = arrival.solve_seconds;
  stats["transfer_seconds"] = arrival.transfer_seconds;
  stats["local_solves"] = arrival.counters.local_solves;
  stats["solves_per_vertex"] = static_cast<double>(arrival.counters.local_solves) / static_cast<double>(vertices);
  stats["rounds"] = arrival.counters.rounds;
  stats["reached"] = arrival.reached;
  stats["unreached"] = arrival.unreached;
  stats["max_time"] = arrival.max_time;
  stats["converged"] = arrival.converged;
  stats["residual"] = arrival.residual ? py::object(py::float_(arrival.residual->worst)) : py::none();
  stats["residual_limit"] = arrival.residual ? py::object(py::float_(arrival.residual->limit)) : py::none();
  stats["too_early"] = arrival.residual ? py::object(py::float_(arrival.residual->share_below)) : py::none();
  if (arrival.changed) stats["changed"] = *arrival.changed;
  stats["not_conducting"] = arrival.not_conducting;
  stats["peak_bytes"] = peak_resident_bytes();
  stats["notes"] = arrival.notes;
  return stats;
}

void bind_solving(py::module_& module) {
  using namespace py::literals;
  const py::class_<SolveOptions> options(module, "_Options");
  py::class_<GivenOptions, SolveOptions>(module, "Options", "How to solve.")
      .def(py::init(&make_solve_options))
      .def("__eq__", [](const GivenOptions& a, const GivenOptions& b) { return a.given.equal(b.given); })
      .def(py::pickle([](const GivenOptions& one) { return one.given; },
                      [](const py::dict& given) { return make_solve_options(py::kwargs(given)); }));
  py::class_<Sources, std::shared_ptr<Sources>>(module, "Sources", "Where the front starts.")
      .def(py::init(&make_sources), "vertex_count"_a, "vertices"_a = py::none(), "vertex_times"_a = py::none(),
           "points"_a = py::none(), "point_times"_a = py::none(), "level_set"_a = py::none())
      .def_property_readonly("count", &Sources::count, "Number of sources.");
  py::class_<PreparedSolver>(module, "Solver", "A prepared problem.")
      .def(py::init<std::shared_ptr<Problem>, SolveOptions, const py::object&>(), "problem"_a, "options"_a,
           "progress"_a = py::none())
      .def("solve", &PreparedSolver::solve, "sources"_a, "progress"_a = py::none(), "One solve.")
      .def("solve_many", &PreparedSolver::solve_many, "sets"_a, "take"_a, "progress"_a = py::none(), "Several solves.")
      .def("linearize", &PreparedSolver::linearize, "times"_a, "source_init"_a, "sources"_a, "Derivatives.")
      .def("update", &PreparedSolver::update, "times"_a, "source"_a, "source_init"_a, "sources"_a,
           "after"_a = py::none(), "problem"_a = py::none(), "elements"_a = py::none(), "progress"_a = py::none(),
           "The times after a change.")
      .def("set_problem", &PreparedSolver::set_problem, "problem"_a, "Another metric on the same shape.");
}

}  // namespace isochron::python
