// Solvers whose arrays may lie in the memory of a GPU and whose times stay there.
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/error.h"
#include "isochron/solve/device_grid_solver.h"
#include "isochron/solve/device_solver.h"
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

/// A metric, wherever it is, and what keeps its arrays.
struct MetricArgument {
  AnyMetric metric;
  std::string name;
  std::vector<std::shared_ptr<void>> owners;
};

MetricArgument uniform_metric(const std::array<double, 6>& m) {
  return {Metric::constant({m[0], m[1], m[2], m[3], m[4], m[5]}), "speed", {}};
}
MetricArgument host_metric(const Problem& problem) { return {problem.metric, problem.metric_argument, {}}; }
MetricArgument speed_metric(const Table& speed) { return {DeviceSpeed{speed.table}, "speed", {speed.owner}}; }
MetricArgument tensor_metric(const Table& tensor) { return {DeviceTensor{tensor.table}, "metric", {tensor.owner}}; }
MetricArgument fiber_metric(const Table& fiber, const std::optional<Table>& sheet, const std::array<double, 3>& v) {
  MetricArgument result{DeviceFiber{fiber.table, sheet ? sheet->table : cuda::DeviceTable{}, {v[0], v[1], v[2]}},
                        "fibers",
                        {fiber.owner}};
  if (sheet) result.owners.push_back(sheet->owner);
  return result;
}

/// A solver of any kind. Threads that call it at once take turns.
class AnyDeviceSolver {
 public:
  /// On a mesh or grid of the host.
  AnyDeviceSolver(const std::shared_ptr<Shape>& shape, const MetricArgument& metric, GridOptions options)
      : vertices_(shape->vertex_count()), elements_(shape->element_count()), words_(shape->words_with(metric.name)) {
    make(std::move(options), [&](const GridOptions& with) {
      std::visit([&](const auto& on) { start(on, shape->mask, metric.metric, with); }, shape->of);
    });
  }

  /// On a mesh in the memory of a GPU.
  AnyDeviceSolver(const Table& points, const Table& cells, const MetricArgument& metric, GridOptions options)
      : vertices_(points.table.rows()), elements_(cells.table.rows()), words_{.metric = metric.name} {
    const DeviceMesh mesh{points.table, cells.table};
    make(std::move(options), [&](const GridOptions& with) {
      if (cells.table.columns == 3) solver_ = std::make_unique<DeviceSolver<3>>(mesh, metric.metric, with.common);
      else solver_ = std::make_unique<DeviceSolver<4>>(mesh, metric.metric, with.common);
    });
  }

  /// (times, source, stats); both are DeviceArrays.
  py::tuple solve(const Sources& sources, const py::object& callback) {
    const Turns::Turn turn(turns_);
    auto arrival = work_.run(callback, words_, [&] {
      return std::make_shared<DeviceArrival>(std::visit([&](auto& solver) { return solver->solve(sources); }, solver_));
    });
    const py::dict stats = stats_of(arrival->summary, vertices_, elements_);
    const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(vertices_)};
    return py::make_tuple(
        GpuArray(arrival->times.data(), arrival->device, py::dtype::of<double>(), shape, arrival),
        GpuArray(arrival->source.data(), arrival->device, py::dtype::of<std::int32_t>(), shape, arrival), stats);
  }

  void set_metric(const MetricArgument& metric) {
    const Turns::Turn turn(turns_);
    CallerWords words = words_;
    words.metric = metric.name;
    work_.run(py::none(), words, [&] {
      std::visit([&](auto& solver) { solver->set_metric(metric.metric); }, solver_);
      return 0;
    });
    words_ = std::move(words);
  }

 private:
  template <class Start>
  void make(GridOptions options, const Start& start) {
    options.common.progress = work_.progress();
    work_.run(py::none(), words_, [&] {
      start(options);
      return 0;
    });
  }
  template <int Corners>
  void start(const SimplexMesh<Corners>& mesh, std::span<const std::uint8_t>, const AnyMetric& metric,
             const GridOptions& options) {
    solver_ = std::make_unique<DeviceSolver<Corners>>(mesh, metric, options.common);
  }
  void start(const ImageGrid& grid, std::span<const std::uint8_t> mask, const AnyMetric& metric,
             const GridOptions& options) {
    solver_ = std::make_unique<DeviceGridSolver>(grid, metric, mask, options);
  }

  std::size_t vertices_, elements_;
  CallerWords words_;
  Work work_;
  std::variant<std::unique_ptr<DeviceSolver<3>>, std::unique_ptr<DeviceSolver<4>>, std::unique_ptr<DeviceGridSolver>>
      solver_;
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
  py::class_<AnyDeviceSolver>(module, "DeviceSolver", "A problem prepared in the memory of a GPU.")
      .def(py::init<const std::shared_ptr<Shape>&, const MetricArgument&, GridOptions>(), "shape"_a, "metric"_a,
           "options"_a)
      .def_static(
          "of_tables",
          [](const Table& points, const Table& cells, const MetricArgument& metric, GridOptions options) {
            return std::make_unique<AnyDeviceSolver>(points, cells, metric, std::move(options));
          },
          "points"_a, "cells"_a, "metric"_a, "options"_a, "On a mesh in the memory of a GPU.")
      .def("solve", &AnyDeviceSolver::solve, "sources"_a, "progress"_a = py::none(), "One solve.")
      .def("set_metric", &AnyDeviceSolver::set_metric, "metric"_a, "Another metric on the same mesh or grid.");
}

}  // namespace isochron::python
