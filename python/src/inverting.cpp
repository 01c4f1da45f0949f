// Inversions of measured times.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/stl.h>

#include "isochron/invert.h"
#include "isochron/invert/option_tables.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/option_reader.h"
#include "python/src/problem.h"
#include "python/src/work.h"

namespace isochron::python {
namespace {

constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

InversionOptions inversion_options(const py::dict& given, const std::vector<std::string>& unknowns,
                                   const SolveOptions& solve, const py::object& start) {
  InversionOptions options;
  OptionReader read(given, OptionReader::Mismatch::input_error);
  each_option(options, read);
  read({"receiver_tolerance", "D", "How far receivers may be from the mesh or image"}, options.receiver_tolerance);
  std::optional<std::string> init;
  read({"source_init", "NAME", "How times near sources are computed"}, init);
  if (init) options.source_init = source_init_named(*init);
  read.check_all_taken();
  for (const std::string& name : unknowns) options.unknowns.push_back(chosen("quantity", name, Unknown{}));
  options.solve = solve;
  if (!start.is_none()) {
    const auto [weight, damping, number, values] = start.cast<std::tuple<double, double, double, Doubles>>();
    options.start = InversionState{weight, damping, number, {values.data(), values.data() + values.size()}};
  }
  return options;
}

/// A row of `times` for each shot; NaN where there is none.
Measurements measurements(const py::array& receivers, const std::vector<std::shared_ptr<Sources>>& sources,
                          const Doubles& times, const py::object& weights) {
  Measurements measured;
  Conversions unseen;
  measured.receivers = rows_of<Vec3d>(receivers, "receivers", -1, unseen).copy();
  const auto time = times.unchecked<2>();
  const Doubles weight = weights.is_none() ? Doubles() : weights.cast<Doubles>();
  for (py::ssize_t k = 0; k < time.shape(0); ++k) {
    Shot shot{*sources.at(static_cast<std::size_t>(k)), {}};
    for (py::ssize_t r = 0; r < time.shape(1); ++r)
      if (!std::isnan(time(k, r)))
        shot.picks.push_back({static_cast<std::uint32_t>(r), time(k, r), weights.is_none() ? 1.0 : weight.at(k, r)});
    measured.shots.push_back(std::move(shot));
  }
  return measured;
}

/// The computed times in the shape of the measured ones.
py::array_t<double> computed_times(const Inversion& found, const Measurements& measured) {
  py::array_t<double> result({measured.shots.size(), measured.receivers.size()});
  auto to = result.mutable_unchecked<2>();
  std::fill_n(result.mutable_data(), result.size(), no_time);
  for (std::size_t k = 0; k < measured.shots.size(); ++k)
    for (std::size_t i = 0; i < measured.shots[k].picks.size(); ++i)
      to(static_cast<py::ssize_t>(k), static_cast<py::ssize_t>(measured.shots[k].picks[i].receiver)) =
          found.times[k][i];
  return result;
}

/// (vertices, times, points, times).
py::tuple source_arrays(const Sources& sources) {
  std::vector<std::int64_t> vertices;
  std::vector<double> vertex_times, point_times;
  std::vector<Vec3d> points;
  for (const VertexSource& source : sources.vertices) {
    vertices.push_back(static_cast<std::int64_t>(source.vertex.value));
    vertex_times.push_back(source.time);
  }
  for (const PointSource& source : sources.points) {
    points.push_back(source.position);
    point_times.push_back(source.time);
  }
  return py::make_tuple(array_on(std::move(vertices)), array_on(std::move(vertex_times)),
                        array_on_rows<double>(std::move(points)), array_on(std::move(point_times)));
}

py::tuple step_tuple(const InversionStep& step) {
  return py::make_tuple(step.iteration, step.misfit, step.objective, step.step, step.products);
}

/// (smoothing weight, damping, number of the problem, values).
py::tuple state_tuple(const InversionState& state) {
  return py::make_tuple(state.smoothing_weight, state.damping, state.problem,
                        array_on(std::vector<double>(state.values)));
}

/// What is of the metric: "speed", "metric" in six columns, or "velocity" with a row (fibre, sheet, normal) a region.
void put_metric(const Metric& metric, py::dict& into) {
  if (const auto* each = std::get_if<SpeedMetric>(&metric.kind())) into["speed"] = array_on(each->speed.copy());
  if (const auto* each = std::get_if<TensorMetric>(&metric.kind()))
    into["metric"] = array_on_rows<float>(each->tensor.copy());
  if (const auto* fibers = std::get_if<FiberMetric>(&metric.kind())) {
    std::vector<Vec3d> rows;
    for (const Velocities& v : fibers->velocities) rows.push_back({v.fiber, v.sheet, v.normal});
    into["velocity"] = array_on_rows<double>(std::move(rows));
  }
}

Domain domain_of(const Problem& problem) {
  if (const auto* grid = std::get_if<ImageGrid>(&problem.shape->of))
    return {*grid, problem.metric, problem.shape->mask};
  if (const auto* triangles = std::get_if<TriangleMesh>(&problem.shape->of))
    return {*triangles, problem.metric, MeshIds::in_range};  // `mesh_shape` has looked at them
  return {std::get<TetMesh>(problem.shape->of), problem.metric, MeshIds::in_range};
}

/// `on_step(step, state)` is called after each step and at the start.
py::dict invert_times(const std::shared_ptr<Problem>& problem, const py::array& receivers,
                      const std::vector<std::shared_ptr<Sources>>& sources, const Doubles& times,
                      const py::object& weights, const std::vector<std::string>& unknowns, const py::dict& options,
                      const SolveOptions& solve, const py::object& start, const py::object& on_step,
                      const py::object& progress) {
  const Measurements measured = measurements(receivers, sources, times, weights);
  InversionOptions how = inversion_options(options, unknowns, solve, start);
  Work work;
  how.solve.progress = work.progress();
  const bool tells = !on_step.is_none();
  InversionState last;
  how.on_step = [&](const InversionStep& step, const InversionState& state) {
    last = state;
    if (tells) work.call_back([&] { on_step(step_tuple(step), state_tuple(state)); });
    if (how.max_iterations > 0) how.solve.progress.update(static_cast<double>(step.iteration) / how.max_iterations);
  };
  const Inversion found = work.run(progress, problem->words(), [&] {
    Inversion result = invert(domain_of(*problem), measured, how);
    how.solve.progress.update(1);
    return result;
  });
  py::dict result;
  put_metric(found.metric, result);
  result["scale"] = array_on(std::vector<double>(found.scale));
  py::list places, steps;
  for (const Sources& of_shot : found.sources) places.append(source_arrays(of_shot));
  for (const InversionStep& step : found.steps) steps.append(step_tuple(step));
  result["sources"] = places;
  result["times"] = computed_times(found, measured);
  result["steps"] = steps;
  result["end"] = choice_name(found.end);
  result["source_init"] = std::string(name_of(found.source_init));
  result["state"] = state_tuple(last);
  return result;
}

}  // namespace

void bind_inverting(py::module_& module) {
  using namespace py::literals;
  module.def("invert", &invert_times, "problem"_a, "receivers"_a, "sources"_a, "times"_a, "weights"_a, "unknowns"_a,
             "options"_a, "solve"_a, "start"_a = py::none(), "on_step"_a = py::none(), "progress"_a = py::none(),
             "Speeds, velocities and sources from measured times.");
}

}  // namespace isochron::python
