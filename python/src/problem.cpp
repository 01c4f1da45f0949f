#include "python/src/problem.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <type_traits>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/core/parallel.h"
#include "isochron/dataset.h"
#include "isochron/error.h"
#include "isochron/metric/bad_cells.h"
#include "isochron/metric_arrays.h"
#include "python/src/bindings.h"
#include "python/src/datasets.h"
#include "python/src/interpreter.h"

namespace isochron::python {

std::size_t Shape::vertex_count() const {
  if (const auto* grid = std::get_if<ImageGrid>(&of)) return grid->voxel_count();
  if (const auto* triangles = std::get_if<TriangleMesh>(&of)) return triangles->vertex_count();
  return std::get<TetMesh>(of).vertex_count();
}

std::size_t Shape::element_count() const {
  if (const auto* grid = std::get_if<ImageGrid>(&of)) return grid->voxel_count();
  if (const auto* triangles = std::get_if<TriangleMesh>(&of)) return triangles->element_count();
  return std::get<TetMesh>(of).element_count();
}

namespace {

std::shared_ptr<Shape> mesh_shape(const py::array& points, const py::array& cells) {
  auto shape = std::make_shared<Shape>();
  if (cells.ndim() != 2 || (cells.shape(1) != 3 && cells.shape(1) != 4))
    throw InputError(
        fmt::format("cells has the wrong shape (it is {}); give an array of shape (M, 3) for triangles or "
                    "(M, 4) for tetrahedra",
                    shape_text(cells)));
  Array<Vec3d> xyz = rows_of<Vec3d>(points, "points", -1, shape->converted);
  const std::size_t count = xyz.size();
  if (cells.shape(1) == 3)
    shape->of = TriangleMesh{std::move(xyz), ids_of<TriangleMesh::Element>(cells, "cells", count, shape->converted)};
  else shape->of = TetMesh{std::move(xyz), ids_of<TetMesh::Element>(cells, "cells", count, shape->converted)};
  return shape;
}

std::shared_ptr<Shape> grid_shape(const std::array<std::uint32_t, 3>& shape, const std::array<double, 3>& origin,
                                  const std::array<std::array<double, 3>, 3>& axes, const py::object& mask,
                                  int dimensions, const std::string& order) {
  auto result = std::make_shared<Shape>();
  result->words.dimensions = dimensions;
  result->words.last_axis_fastest = order == "C";
  const ImageGrid grid = grid_of({shape, origin, axes});
  if (!mask.is_none())
    result->mask = rows_of<std::uint8_t>(mask, "mask", static_cast<py::ssize_t>(grid.voxel_count()), result->converted);
  result->of = grid;
  return result;
}

enum class TensorKind { metric, velocity_tensor };

/// One tensor as M. Velocity tensors that cannot be inverted become NaN, which the check of the metric finds.
SymTensor3d metric_tensor(const SymTensor3d& t, TensorKind given) {
  return given == TensorKind::metric ? t : inverse(t);
}

/// Tensors, one (of shape (6,) or (3, 3)) or one per element, as a metric.
Metric tensor_metric(const py::array& array, const std::string& name, const Shape& shape, TensorOrder order,
                     TensorKind given, Conversions& converted) {
  const std::size_t elements = shape.element_count();
  const py::ssize_t width = array.ndim() > 0 && array.shape(array.ndim() - 1) == 3 ? 9 : 6;
  const bool one = array.size() == width && array.ndim() == (width == 9 ? 2 : 1);
  const py::ssize_t count = one ? 1 : static_cast<py::ssize_t>(elements);
  const bool each = array.ndim() == (width == 9 ? 3 : 2) && array.shape(0) == count;
  if (array.size() != count * width || !(one || each))
    throw InputError(
        fmt::format("{} has the wrong shape (it is {}); give one tensor of shape (3, 3) or (6,), or one per "
                    "element, of shape ({}, 3, 3) or ({}, 6)",
                    name, shape_text(array), elements, elements));
  require_numbers(array, name);
  const py::array flat = array.attr("reshape")(count, width);
  if (!one && width == 6 && order == TensorOrder::row && given == TensorKind::metric)
    return Metric(TensorMetric{rows_of<SymTensor3f>(flat, name, count, converted)});
  const auto values = flat.cast<py::array_t<double, py::array::c_style | py::array::forcecast>>();
  const double* from = values.data();
  if (width == 9)
    check_symmetric(name, static_cast<std::size_t>(count), shape.is_grid() ? "voxel" : "cell",
                    one ? std::span<const std::uint8_t>() : std::span<const std::uint8_t>(shape.mask),
                    [&](std::size_t e) { return std::span<const double>(from + 9 * e, 9); });
  const auto tensor = [&](std::size_t e) {
    return metric_tensor(
        tensor_of({from + e * static_cast<std::size_t>(width), static_cast<std::size_t>(width)}, order), given);
  };
  if (one) return Metric::constant(tensor(0));
  TensorMetric result;
  result.tensor.resize(elements);
  converted.push_back(fmt::format("{}: to six float32 an element", name));
  unlocked([&] {
    parallel_for(hardware_threads(), elements, [&](std::size_t e) { result.tensor[e] = narrowed(tensor(e)); });
  });
  return Metric(std::move(result));
}

/// One value per element, or per vertex as the mean over the corners of each element.
Array<double> speeds(const Shape& shape, const py::array& array, Conversions& converted) {
  const std::size_t elements = shape.element_count(), vertices = shape.vertex_count();
  if (array.ndim() == 1 && static_cast<std::size_t>(array.shape(0)) == vertices && vertices != elements) {
    const Array<double> values = rows_of<double>(array, "speed", -1, converted);
    converted.emplace_back("speed: from vertices to the means of elements");
    std::vector<double> means(elements);
    const auto average = [&](const auto& mesh) {
      parallel_for(hardware_threads(), elements, [&](std::size_t e) {
        double sum = 0, least = std::numeric_limits<double>::infinity();
        for (const VertexId v : mesh.elements[e]) {
          sum += values[v.index()];
          least = std::min(least, values[v.index()]);
        }
        // A mean would hide a corner where nothing moves, or where the speed is no speed.
        means[e] = least > 0 ? sum / static_cast<double>(mesh.corners) : least;
      });
    };
    unlocked([&] {
      if (const auto* triangles = std::get_if<TriangleMesh>(&shape.of)) average(*triangles);
      else average(std::get<TetMesh>(shape.of));
    });
    return means;
  }
  if (!shape.is_grid() && (array.ndim() != 1 || static_cast<std::size_t>(array.shape(0)) != elements))
    throw InputError(
        fmt::format("speed has the wrong shape (it is {}); give a number, or an array of shape ({},) for "
                    "elements or ({},) for vertices",
                    shape_text(array), elements, vertices));
  return rows_of<double>(array, "speed", static_cast<py::ssize_t>(elements), converted);
}

Metric speed_metric(const Shape& shape, const py::array& speed, Conversions& converted) {
  if (speed.ndim() > 0) return Metric(SpeedMetric{speeds(shape, speed, converted)});
  require_numbers(speed, "speed");
  const double value = speed.cast<py::array_t<double>>().data()[0];
  if (!(value > 0 && value < 1 / 0.0))
    throw InputError(fmt::format("speed is {} (it must be positive and finite); give another", value));
  Metric metric = Metric::isotropic(value);
  if (!usable_on(metric, ElementId(0)))
    throw InputError(fmt::format("speed is {} (too {} to compute times from); give it in another unit", value,
                                 value > 1 ? "large" : "small"));
  return metric;
}

std::shared_ptr<Problem> problem_with_speed(std::shared_ptr<Shape> shape, const py::array& speed) {
  auto problem = std::make_shared<Problem>();
  problem->metric = speed_metric(*shape, speed, problem->converted);
  problem->metric_argument = "speed";
  problem->shape = std::move(shape);
  return problem;
}

std::shared_ptr<Problem> problem_with_tensors(std::shared_ptr<Shape> shape, const py::array& tensors,
                                              const std::string& order, bool inverse) {
  auto problem = std::make_shared<Problem>();
  problem->metric_argument = inverse ? "velocity_tensor" : "metric";
  problem->metric = tensor_metric(tensors, problem->metric_argument, *shape, tensor_order_named(order),
                                  inverse ? TensorKind::velocity_tensor : TensorKind::metric, problem->converted);
  problem->shape = std::move(shape);
  return problem;
}

/// Directions of the elements, one each or, as the command takes them too, one per vertex.
Array<Vec3f> directions_of(const Shape& shape, const py::array& array, const std::string& name,
                           Conversions& converted) {
  const std::size_t elements = shape.element_count(), vertices = shape.vertex_count();
  const std::size_t rows = array.ndim() > 0 ? static_cast<std::size_t>(array.shape(0)) : 0;
  if (rows != vertices || vertices == elements)
    return rows_of<Vec3f>(array, name, static_cast<py::ssize_t>(elements), converted);
  const Array<Vec3d> given = rows_of<Vec3d>(array, name, static_cast<py::ssize_t>(vertices), converted);
  converted.push_back(fmt::format("{}: from vertices to the common axes of elements", name));
  std::vector<Vec3f> axes(elements);
  const auto join = [&](const auto& mesh) {
    parallel_for(hardware_threads(), elements, [&](std::size_t e) {
      std::array<Vec3d, std::decay_t<decltype(mesh)>::corners> corners;
      for (std::size_t c = 0; c < corners.size(); ++c) corners[c] = given[mesh.elements[e][c].index()];
      const Vec3d axis = common_axis(corners);
      axes[e] = {static_cast<float>(axis.x), static_cast<float>(axis.y), static_cast<float>(axis.z)};
    });
  };
  unlocked([&] {
    if (const auto* triangles = std::get_if<TriangleMesh>(&shape.of)) join(*triangles);
    else join(std::get<TetMesh>(shape.of));
  });
  return axes;
}

/// How many of the elements that a front can enter are `chosen`.
template <class Chosen>
std::size_t count_open(const Shape& shape, const Chosen& chosen) {
  std::atomic<std::size_t> count{0};
  unlocked([&] {
    parallel_chunks(hardware_threads(), shape.element_count(), [&](std::size_t begin, std::size_t end) {
      std::size_t here = 0;
      for (std::size_t e = begin; e < end; ++e)
        if ((shape.mask.empty() || shape.mask[e] != 0) && chosen(e)) ++here;
      count += here;
    });
  });
  return count;
}

/// Where directions are missing, one line for each array; `FiberMetric` says what the front does there.
std::vector<std::string> missing_directions(const FiberMetric& metric, const Shape& shape) {
  const auto has_fiber = [&](std::size_t e) { return !(norm(metric.fiber[e]) == 0); };
  const auto lacks_sheet = [&](std::size_t e) {
    const Vec3f fiber = metric.fiber[e], sheet = metric.sheet[e];
    return has_fiber(e) && norm(cross(sheet, fiber)) <= 1e-4F * norm(sheet) * norm(fiber);
  };
  std::vector<std::string> notes;
  const std::size_t zero = count_open(shape, [&](std::size_t e) { return !has_fiber(e); });
  if (zero > 0)
    notes.push_back(
        fmt::format("fibers is zero in {} of {} elements; the front runs there with the velocity across fibres in all "
                    "directions",
                    zero, shape.element_count()));
  const std::size_t no_sheet = metric.sheet.empty() ? 0 : count_open(shape, lacks_sheet);
  if (no_sheet > 0)
    notes.push_back(
        fmt::format("sheets is zero or along the fibre in {} of {} elements; the front runs there with the velocity of "
                    "sheets in all directions across the fibre",
                    no_sheet, shape.element_count()));
  return notes;
}

/// `velocities` has a row (fibre, sheet, normal) for each region, `regions` the row of each element or is None.
std::shared_ptr<Problem> problem_with_fibers(std::shared_ptr<Shape> shape, const py::array& fibers,
                                             const py::object& sheets, const py::array& velocities,
                                             const py::object& regions) {
  auto problem = std::make_shared<Problem>();
  const auto count = static_cast<py::ssize_t>(shape->element_count());
  FiberMetric metric;
  metric.fiber = directions_of(*shape, fibers, "fibers", problem->converted);
  if (!sheets.is_none()) metric.sheet = directions_of(*shape, sheets, "sheets", problem->converted);
  if (!regions.is_none()) metric.region = rows_of<std::uint16_t>(regions, "regions", count, problem->converted);
  Conversions unseen;
  metric.velocities.clear();
  for (const Vec3d& v : rows_of<Vec3d>(velocities, "velocity", -1, unseen))
    metric.velocities.push_back({v.x, v.y, v.z});
  problem->notes = missing_directions(metric, *shape);
  problem->metric = Metric(std::move(metric));
  problem->metric_argument = "fibers";
  problem->shape = std::move(shape);
  return problem;
}

}  // namespace

void bind_problem(py::module_& module) {
  using namespace py::literals;
  py::class_<Shape, std::shared_ptr<Shape>>(module, "Shape", "A mesh or grid as the library sees it.")
      .def_property_readonly("vertices", &Shape::vertex_count, "Vertices, or voxels.")
      .def_property_readonly("elements", &Shape::element_count, "Elements, or voxels.")
      .def_property_readonly("is_grid", &Shape::is_grid, "Whether it is a grid.")
      .def_readonly("converted", &Shape::converted, "What was converted.");
  module.def("mesh_shape", &mesh_shape, "points"_a, "cells"_a, "Triangles or tetrahedra.");
  module.def("grid_shape", &grid_shape, "shape"_a, "origin"_a, "axes"_a, "mask"_a = py::none(), "dimensions"_a = 3,
             "order"_a = "F", "A grid, its first index running fastest; messages say indices as arrays have them.");
  py::class_<Problem, std::shared_ptr<Problem>>(module, "Problem", "A shape with the metric on it.")
      .def_readonly("converted", &Problem::converted, "What was converted of the metric.")
      .def_readonly("notes", &Problem::notes, "What the user of the times should know of the metric.");
  module.def("problem_with_speed", &problem_with_speed, "shape"_a, "speed"_a, "Isotropic speed, one or per element.");
  module.def("problem_with_tensors", &problem_with_tensors, "shape"_a, "tensors"_a, "order"_a, "inverse"_a,
             "Tensors M, or D where inverse is set.");
  module.def("problem_with_fibers", &problem_with_fibers, "shape"_a, "fibers"_a, "sheets"_a, "velocities"_a,
             "regions"_a, "Fibres with velocities.");
}

}  // namespace isochron::python
