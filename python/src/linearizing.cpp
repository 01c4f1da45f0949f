#include "python/src/linearizing.h"

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/error.h"
#include "python/src/bindings.h"
#include "python/src/interpreter.h"

namespace isochron::python {
namespace {

using Tensors = std::vector<SymTensor3d>;

/// Rows of six numbers, in the order of SymTensor3.
Tensors tensors_from(const py::array& array, std::size_t count) {
  Conversions unseen;
  const Array<double> values =
      rows_of<double>(array.attr("reshape")(-1), "metric", static_cast<py::ssize_t>(6 * count), unseen);
  Tensors result(count);
  for (std::size_t e = 0; e < count; ++e) {
    const double* t = values.data() + 6 * e;
    result[e] = {t[0], t[1], t[2], t[3], t[4], t[5]};
  }
  return result;
}

template <class Work>
auto gradient_of(const LinearizedProblem& on, const py::array& gradient, const Work& work) {
  const Tensors tensors = tensors_from(gradient, on.linear.element_count());
  return unlocked([&] { return work(std::span<const SymTensor3d>(tensors)); });
}

const FiberMetric& fibers_of(const LinearizedProblem& on) { return std::get<FiberMetric>(on.problem->metric.kind()); }

/// The speed of each element.
std::vector<double> speeds_of(const LinearizedProblem& on) {
  if (const auto* each = std::get_if<SpeedMetric>(&on.problem->metric.kind())) return each->speed.copy();
  const double slowness = std::sqrt(on.problem->metric.tensor(ElementId(0)).xx);
  return std::vector<double>(on.linear.element_count(), 1 / slowness);
}

/// (metric, onset, position, vertex, level_set); NaN for a source that has no derivative by its place.
py::tuple vjp(const LinearizedProblem& on, const py::array& cotangent) {
  Conversions unseen;
  const auto given =
      rows_of<double>(cotangent, "cotangent", static_cast<py::ssize_t>(on.linear.vertex_count()), unseen);
  InputValues result = unlocked([&] { return on.linear.vjp({given.data(), given.size()}); });
  std::vector<Vec3d> position;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& place : result.position) position.push_back(place.value_or(Vec3d{nan, nan, nan}));
  return py::make_tuple(array_on_rows<double>(std::move(result.metric)), array_on(std::move(result.onset)),
                        array_on_rows<double>(std::move(position)), array_on_rows<double>(std::move(result.vertex)),
                        array_on(std::move(result.level_set)));
}

/// Calls `work(mesh)` where the problem is on one.
template <class Work>
auto on_mesh(const LinearizedProblem& on, const Work& work) {
  const auto& of = on.problem->shape->of;
  if (const auto* triangles = std::get_if<TriangleMesh>(&of)) return work(*triangles);
  if (const auto* tets = std::get_if<TetMesh>(&of)) return work(*tets);
  throw UsageError("the voxels of a grid stay where they are; ask for derivatives by points on a mesh");
}

py::array_t<double> by_points(const LinearizedProblem& on, const py::array& metric, const py::array& vertex) {
  InputValues gradient;
  Conversions unseen;
  gradient.metric = tensors_from(metric, on.linear.element_count());
  gradient.vertex = rows_of<Vec3d>(vertex, "points", static_cast<py::ssize_t>(on.linear.vertex_count()), unseen).copy();
  return array_on_rows<double>(unlocked([&] {
    return on_mesh(on, [&](const auto& mesh) { return gradient_by_vertices(gradient, mesh, on.problem->metric); });
  }));
}

py::array_t<double> jvp(const LinearizedProblem& on, const py::object& metric, const py::object& onset,
                        const py::object& position, const py::object& points, const py::object& level_set) {
  InputValues direction;
  Conversions unseen;
  if (!points.is_none()) {
    const auto displacement =
        rows_of<Vec3d>(points, "points", static_cast<py::ssize_t>(on.linear.vertex_count()), unseen);
    direction = on_mesh(on, [&](const auto& mesh) {
      return change_of_vertices(mesh, on.problem->metric, {displacement.data(), displacement.size()});
    });
  }
  const auto sources = static_cast<py::ssize_t>(on.linear.source_count());
  if (!metric.is_none()) {
    Tensors change = tensors_from(metric, on.linear.element_count());
    for (std::size_t e = 0; e < direction.metric.size(); ++e) change[e] = change[e] + direction.metric[e];
    direction.metric = std::move(change);
  }
  if (!onset.is_none()) direction.onset = rows_of<double>(onset, "onset", sources, unseen).copy();
  if (!level_set.is_none())
    direction.level_set =
        rows_of<double>(level_set, "level_set", static_cast<py::ssize_t>(on.linear.vertex_count()), unseen).copy();
  if (!position.is_none())
    for (const Vec3d& place : rows_of<Vec3d>(position, "position", sources, unseen))
      direction.position.emplace_back(place);
  return array_on(unlocked([&] { return on.linear.jvp(direction); }));
}

/// (offsets, elements, values of six columns).
py::tuple metric_jacobian(const LinearizedProblem& on, const py::array& vertices) {
  Conversions unseen;
  const auto ids = ids_of<VertexId>(vertices, "vertices", on.linear.vertex_count(), unseen);
  MetricJacobian rows = unlocked([&] { return on.linear.metric_jacobian({ids.data(), ids.size()}); });
  std::vector<std::int64_t> elements;
  elements.reserve(rows.elements.size());
  for (const ElementId e : rows.elements) elements.push_back(e.value);
  return py::make_tuple(array_on(std::vector<std::int64_t>(rows.offsets.begin(), rows.offsets.end())),
                        array_on(std::move(elements)), array_on_rows<double>(std::move(rows.values)));
}

/// (transpose, scaling, fixed_point, max_transpose, max_misfit).
py::tuple verify(const LinearizedProblem& on, const py::array& times, std::uint64_t seed) {
  Conversions unseen;
  const auto given = rows_of<double>(times, "times", static_cast<py::ssize_t>(on.linear.vertex_count()), unseen);
  const DerivativeCheck check = unlocked([&] {
    return on.linear.verify({given.data(), given.size()}, on.problem->metric, seed);
  });
  return py::make_tuple(check.transpose, check.scaling, check.fixed_point, check.max_transpose, check.max_misfit);
}

py::array_t<double> velocity_rows(const std::vector<Velocities>& rows) {
  std::vector<Vec3d> result;
  for (const Velocities& v : rows) result.push_back({v.fiber, v.sheet, v.normal});
  return array_on_rows<double>(std::move(result));
}

}  // namespace

void bind_linearizing(py::module_& module) {
  using namespace py::literals;
  py::class_<LinearizedProblem, std::shared_ptr<LinearizedProblem>>(module, "Linearization", "Derivatives of times.")
      .def_property_readonly(
          "elements", [](const LinearizedProblem& on) { return on.linear.element_count(); }, "Elements.")
      .def_property_readonly(
          "sources", [](const LinearizedProblem& on) { return on.linear.source_count(); }, "Sources.")
      .def("vjp", &vjp, "cotangent"_a, "Adjoint product.")
      .def("jvp", &jvp, "metric"_a = py::none(), "onset"_a = py::none(), "position"_a = py::none(),
           "points"_a = py::none(), "level_set"_a = py::none(), "Tangent product.")
      .def("by_points", &by_points, "metric"_a, "vertex"_a, "By the positions of the mesh's vertices.")
      .def("metric_jacobian", &metric_jacobian, "vertices"_a, "Rows by the metric.")
      .def("verify", &verify, "times"_a, "seed"_a, "Tests that need no second solve.")
      .def(
          "by_speed",
          [](const LinearizedProblem& on, const py::array& gradient) {
            return array_on(gradient_of(on, gradient, [&](auto g) { return gradient_by_speed(g, speeds_of(on)); }));
          },
          "gradient"_a, "By the speed of each element.")
      .def(
          "by_velocity_tensor",
          [](const LinearizedProblem& on, const py::array& gradient) {
            return array_on_rows<double>(
                gradient_of(on, gradient, [&](auto g) { return gradient_by_velocity_tensor(g, on.problem->metric); }));
          },
          "gradient"_a, "By the velocity tensor; from a change of it, that of the metric.")
      .def(
          "by_velocity",
          [](const LinearizedProblem& on, const py::array& gradient) {
            return velocity_rows(
                gradient_of(on, gradient, [&](auto g) { return gradient_by_velocities(g, fibers_of(on)); }));
          },
          "gradient"_a, "By the velocities of each region.")
      .def(
          "by_fibers",
          [](const LinearizedProblem& on, const py::array& gradient) {
            return array_on_rows<double>(
                gradient_of(on, gradient, [&](auto g) { return gradient_by_fibers(g, fibers_of(on)); }));
          },
          "gradient"_a, "By the fibre vectors.")
      .def(
          "from_speed",
          [](const LinearizedProblem& on, const py::array& change) {
            Conversions unseen;
            const auto values =
                rows_of<double>(change, "speed", static_cast<py::ssize_t>(on.linear.element_count()), unseen);
            return array_on_rows<double>(metric_change_of_speed(speeds_of(on), {values.data(), values.size()}));
          },
          "change"_a, "The change of the metric with the speed of each element.")
      .def(
          "from_velocity",
          [](const LinearizedProblem& on, const py::array& change) {
            Conversions unseen;
            std::vector<Velocities> rows;
            for (const Vec3d& v : rows_of<Vec3d>(change, "velocity", -1, unseen)) rows.push_back({v.x, v.y, v.z});
            return array_on_rows<double>(metric_change_of_velocities(fibers_of(on), on.linear.element_count(), rows));
          },
          "change"_a, "The change of the metric with the velocities of each region.");
}

}  // namespace isochron::python
