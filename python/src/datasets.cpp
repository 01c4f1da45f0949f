#include "python/src/datasets.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/error.h"
#include "isochron/metric/option_tables.h"
#include "python/src/option_reader.h"

namespace pybind11::detail {

bool type_caster<isochron::python::GridArguments>::load(handle from, bool /*convert*/) {
  if (!isinstance<tuple>(from) || len(from) != 3) return false;
  const auto parts = reinterpret_borrow<tuple>(from);
  value.shape = parts[0].cast<std::array<std::uint32_t, 3>>();
  value.origin = parts[1].cast<std::array<double, 3>>();
  value.axes = parts[2].cast<std::array<std::array<double, 3>, 3>>();
  return true;
}

}  // namespace pybind11::detail

namespace isochron::python {
namespace {

template <class T>
std::vector<T> copied(const py::array& values) {
  const auto same = values.cast<py::array_t<T, py::array::c_style | py::array::forcecast>>();
  return std::vector<T>(same.data(), same.data() + same.size());
}

DataArray::Values values_of(const std::string& name, const py::array& values) {
  const char kind = values.dtype().kind();
  const py::ssize_t size = values.itemsize();
  if (kind == 'f') return size <= 4 ? DataArray::Values(copied<float>(values)) : copied<double>(values);
  if (kind == 'b' || (kind == 'u' && size == 1)) return copied<std::uint8_t>(values);
  if (kind == 'i' || kind == 'u') {
    if (size < 4 || (size == 4 && kind == 'i')) return copied<std::int32_t>(values);
    return copied<std::int64_t>(values);
  }
  throw InputError(fmt::format("{} has dtype {} (not numbers); give an array of numbers", name,
                               std::string(py::str(static_cast<py::object>(values.dtype())))));
}

template <class T>
py::array shaped(std::vector<T>&& values, int components) {
  py::array flat = array_on(std::move(values));
  if (components == 1) return flat;
  return flat.attr("reshape")(-1, components);
}

py::list list_of(const std::vector<std::pair<std::string, std::size_t>>& counted) {
  py::list result;
  for (const auto& [name, count] : counted) result.append(py::make_tuple(name, count));
  return result;
}

}  // namespace

TensorOrder tensor_order_named(const std::string& name) { return chosen("tensor_order", name, TensorOrder()); }

ImageGrid grid_of(const GridArguments& arguments) {
  const auto vec = [](const std::array<double, 3>& v) { return Vec3d{v[0], v[1], v[2]}; };
  const ImageGrid grid{
      arguments.shape, vec(arguments.origin), {vec(arguments.axes[0]), vec(arguments.axes[1]), vec(arguments.axes[2])}};
  check_grid(grid, "the grid");
  return grid;
}

py::tuple grid_tuple(const ImageGrid& grid) {
  const auto list = [](const Vec3d& v) { return py::make_tuple(v.x, v.y, v.z); };
  return py::make_tuple(py::make_tuple(grid.shape[0], grid.shape[1], grid.shape[2]), list(grid.origin),
                        py::make_tuple(list(grid.axes[0]), list(grid.axes[1]), list(grid.axes[2])));
}

DataArray data_array(const std::string& name, const py::array& values) {
  if (values.ndim() == 0) throw InputError(fmt::format("{} is a single number; give an array", name));
  py::ssize_t components = 1;
  for (py::ssize_t d = 1; d < values.ndim(); ++d) components *= values.shape(d);
  return {name, static_cast<int>(std::max<py::ssize_t>(components, 1)), values_of(name, values)};
}

py::dict dict_of(DataArrays&& arrays) {
  py::dict result;
  for (DataArray& array : arrays.all())
    result[py::str(array.name)] =
        std::visit([&](auto& values) { return shaped(std::move(values), array.components); }, array.values);
  return result;
}

DataArrays arrays_of(const py::dict& arrays, std::size_t rows, const char* what) {
  DataArrays result;
  for (const auto& [key, value] : arrays) {
    const std::string name = py::str(key);
    DataArray array = data_array(name, py::reinterpret_borrow<py::object>(value).cast<py::array>());
    if (array.tuple_count() != rows)
      throw InputError(fmt::format("the array '{}' has {} rows (there are {} {}); give one for each", name,
                                   array.tuple_count(), rows, what));
    result.set(std::move(array));
  }
  return result;
}

py::dict dict_of(Dataset&& dataset) {
  py::dict result;
  py::list lines;
  for (const std::vector<VertexId>& line : dataset.lines) {
    std::vector<std::int32_t> ids;
    ids.reserve(line.size());
    for (const VertexId v : line) ids.push_back(static_cast<std::int32_t>(v.value));
    lines.append(array_on(std::move(ids)));
  }
  result["lines"] = lines;
  result["line_data"] = dict_of(std::move(dataset.line_data));
  result["points"] = array_on_rows<double>(std::move(dataset.points));
  result["triangles"] = array_on_rows<std::int32_t>(std::move(dataset.triangles.cells));
  result["triangle_data"] = dict_of(std::move(dataset.triangles.data));
  result["tetrahedra"] = array_on_rows<std::int32_t>(std::move(dataset.tets.cells));
  result["tetrahedron_data"] = dict_of(std::move(dataset.tets.data));
  result["point_data"] = dict_of(std::move(dataset.point_data));
  result["ignored_cells"] = list_of(dataset.ignored_cells);
  result["warnings"] = dataset.warnings;
  return result;
}

py::dict dict_of(Image&& image) {
  py::dict result;
  result["grid"] = grid_tuple(image.grid);
  result["tensor_order"] = image.tensor_order ? py::object(py::str(choice_name(*image.tensor_order))) : py::none();
  result["arrays"] = dict_of(std::move(image.data));
  result["warnings"] = image.warnings;
  return result;
}

}  // namespace isochron::python
