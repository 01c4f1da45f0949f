// Meshes, images, paths and their arrays between the library and Python.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/path.h"
#include "python/src/arrays.h"

namespace isochron::python {

/// How Python hands over where the voxels are: shape, origin and axes, the first index running fastest.
struct GridArguments {
  std::array<std::uint32_t, 3> shape;
  std::array<double, 3> origin;
  std::array<std::array<double, 3>, 3> axes;
};

/// Throws InputError for a grid that cannot be; see `check_grid`.
ImageGrid grid_of(const GridArguments& arguments);
py::tuple grid_tuple(const ImageGrid& grid);

/// A NumPy array of any numbers as an array of the library, a tuple a row; types that it does not have are widened.
DataArray data_array(const std::string& name, const py::array& values);
/// A dict from names to arrays, of shape (N,) or (N, components), on the arrays' own memory.
py::dict dict_of(DataArrays&& arrays);
/// The inverse. Throws InputError unless each array has that many rows.
DataArrays arrays_of(const py::dict& arrays, std::size_t rows, const char* what);

/// {"points", "triangles", "tetrahedra", "lines", "point_data", ...}: what a file or generator gave.
py::dict dict_of(Dataset&& dataset);
/// {"grid", "arrays", "tensor_order", "warnings"}.
py::dict dict_of(Image&& image);

/// {"points", "times", "length", "travel_time", "source", "why"}; "why" is empty for a path that ends at a source.
py::dict dict_of(Path&& path);

TensorOrder tensor_order_named(const std::string& name);

}  // namespace isochron::python

namespace pybind11::detail {

/// From a tuple (shape, origin, axes).
template <>
struct type_caster<isochron::python::GridArguments> {
  PYBIND11_TYPE_CASTER(isochron::python::GridArguments, const_name("tuple"));
  bool load(handle from, bool);
};

}  // namespace pybind11::detail
