// Solvers whose arrays may lie in the memory of a GPU and whose times stay there.
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/error.h"
#include "isochron/solver.h"
#include "python/src/bindings.h"
#include "python/src/gpu_array.h"
#include "python/src/interpreter.h"
#include "python/src/problem.h"
#include "python/src/work.h"

namespace isochron::python {
namespace {

/// A table, and the array that keeps its memory.
struct Table {
  cuda::DeviceTable table;
  std::shared_ptr<void> owner;
};

/// Up to three axes are the rows, of which the first runs fastest; then the columns. Strides are in bytes.
Table make_table(const GpuArray& array, const std::string& name, const std::vector<std::size_t>& shape,
                 const std::vector<std::ptrdiff_t>& strides, std::size_t columns, std::ptrdiff_t column_stride) {
  Table result{table_of(array, name), array.array().owner};
  for (std::size_t k = 0; k < shape.size(); ++k) {
    result.table.shape[k] = shape[k];
    result.table.strides[k] = strides[k];
  }
  result.table.columns = columns;
  result.table.column_stride = column_stride;
  return result;
}

/// A metric, wherever it is, and what keeps it or its arrays.
struct MetricArgument {
  AnyMetric metric;
  std::string name;
  std::vector<std::shared_ptr<void>> owners;
};

MetricArgument uniform_metric(const std::array<double, 6>& m) {
  auto metric = std::make_shared<Metric>(Metric::constant({m[0], m[1], m[2], m[3], m[4], m[5]}));
  return {*metric, "speed", {metric}};
}
MetricArgument host_metric(const std::shared_ptr<Problem>& problem) {
  return {problem->metric, problem->metric_argument, {problem}};
}
MetricArgument speed_metric(const Table& speed) { return {DeviceSpeed{speed.table}, "speed", {speed.owner}}; }
MetricArgument tensor_metric(const Table& tensor) { return {DeviceTensor{tensor.table}, "metric", {tensor.owner}}; }
MetricArgument fiber_metric(const Table& fiber, const std::optional<Table>& sheet, const std::array<double, 3>& v) {
  MetricArgument result{DeviceFiber{fiber.table, sheet ? sheet->table : cuda::DeviceTable{}, {v[0], v[1], v[2]}},
                        "fibers",
                        {fiber.owner}};
  if (sheet) result.owners.push_back(sheet->owner);
  return result;
}

/// A solver whose times stay in the memory of a GPU. Threads that call it at once take turns.
class DeviceSolver {
 public:
  /// On a mesh or grid of the host.
  DeviceSolver(std::shared_ptr<Shape> shape, MetricArgument metric, SolveOptions options)
      : vertices_(shape->vertex_count()),
        elements_(shape->element_count()),
        shape_(std::move(shape)),
        metric_(std::move(metric)),
        words_(shape_->words_with(metric_.name)) {
    std::visit([&](const auto& on) { make(domain(on), std::move(options)); }, shape_->of);
  }

  /// On a mesh in the memory of a GPU.
  DeviceSolver(const Table& points, const Table& cells, MetricArgument metric, SolveOptions options)
      : vertices_(points.table.rows()),
        elements_(cells.table.rows()),
        metric_(std::move(metric)),
        words_{.metric = metric_.name} {
    make({DeviceMesh{points.table, cells.table}, metric_.metric}, std::move(options));
  }

  /// (times, source, stats); both are DeviceArrays.
  py::tuple solve(const Sources& sources, const py::object& callback) {
    const Turns::Turn turn(turns_);
    const Arrival arrival = work_.run(callback, words_, [&] { return solver_->solve(sources); });
    const py::dict stats = stats_of(arrival, vertices_, elements_);
    const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(vertices_)};
    const std::shared_ptr<DeviceResult>& result = arrival.on_device;
    return py::make_tuple(GpuArray(result->times.data(), result->device, py::dtype::of<double>(), shape, result),
                          GpuArray(result->source.data(), result->device, py::dtype::of<std::int32_t>(), shape, result),
                          stats);
  }

  void set_metric(const MetricArgument& metric) {
    const Turns::Turn turn(turns_);
    CallerWords words = words_;
    words.metric = metric.name;
    work_.run(py::none(), words, [&] {
      solver_->set_metric(metric.metric);
      return 0;
    });
    words_ = std::move(words);
    metric_ = metric;
  }

 private:
  template <int Corners>
  [[nodiscard]] Domain domain(const SimplexMesh<Corners>& mesh) const {
    return {mesh, metric_.metric};
  }
  [[nodiscard]] Domain domain(const ImageGrid& grid) const { return {grid, metric_.metric, shape_->mask}; }

  void make(const Domain& domain, SolveOptions options) {
    options.progress = work_.progress();
    options.results = ResultMemory::device;
    work_.run(py::none(), words_, [&] {
      solver_ = std::make_unique<Solver>(domain, std::move(options));
      return 0;
    });
  }

  std::size_t vertices_, elements_;
  std::shared_ptr<Shape> shape_;  ///< of a mesh or grid of the host
  MetricArgument metric_;
  CallerWords words_;
  Work work_;
  std::unique_ptr<Solver> solver_;
  Turns turns_;
};

}  // namespace

void bind_device_solving(py::module_& module) {
  using namespace py::literals;
  py::class_<Table>(module, "DeviceTable", "Rows of numbers in the memory of a GPU.")
      .def(py::init(&make_table), "array"_a, "name"_a, "shape"_a, "strides"_a, "columns"_a, "column_stride"_a)
      .def_property_readonly(
          "rows", [](const Table& t) { return t.table.rows(); }, "Number of rows.");
  py::class_<MetricArgument>(module, "DeviceMetric", "A metric, on the host or in the memory of a GPU.")
      .def_static("uniform", &uniform_metric, "tensor"_a, "The same M everywhere.")
      .def_static("of", &host_metric, "problem"_a, "The host's.")
      .def_static("speed", &speed_metric, "speed"_a, "Isotropic speed per element.")
      .def_static("tensor", &tensor_metric, "tensor"_a, "M per element.")
      .def_static("fiber", &fiber_metric, "fiber"_a, "sheet"_a, "velocity"_a, "Fibres with velocities.");
  py::class_<DeviceSolver>(module, "DeviceSolver", "A problem prepared in the memory of a GPU.")
      .def(py::init<std::shared_ptr<Shape>, MetricArgument, SolveOptions>(), "shape"_a, "metric"_a, "options"_a)
      .def_static(
          "of_tables",
          [](const Table& points, const Table& cells, const MetricArgument& metric, SolveOptions options) {
            return std::make_unique<DeviceSolver>(points, cells, metric, std::move(options));
          },
          "points"_a, "cells"_a, "metric"_a, "options"_a, "On a mesh in the memory of a GPU.")
      .def("solve", &DeviceSolver::solve, "sources"_a, "progress"_a = py::none(), "One solve.")
      .def("set_metric", &DeviceSolver::set_metric, "metric"_a, "Another metric on the same mesh or grid.");
}

}  // namespace isochron::python
