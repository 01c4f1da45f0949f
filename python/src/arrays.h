// NumPy arrays in and out: what the library can use as it is is not copied, everything else is converted once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "isochron/types.h"

namespace isochron::python {

namespace py = pybind11;

/// What did not come in a form that could be used without a copy, one line each; `stats["converted"]` shows it.
using Conversions = std::vector<std::string>;

/// "(N, 3)": an array's shape as Python writes it.
std::string shape_text(const py::array& array);

/// Throws InputError unless the array holds real numbers.
void require_numbers(const py::array& array, const std::string& name);

/// Throws InputError unless the array has `rows` rows (negative: any number) of `width` values; one value a row may
/// also come as an array of one dimension. `name` is the caller's argument.
void require_rows(const py::array& array, const std::string& name, py::ssize_t rows, py::ssize_t width);

/// Numbers of any type and layout as rows of T (Vec3d: three float64 each). Arrays in C order of the right type are
/// borrowed, and kept alive as long as the result; int32 is right for ids, bool for masks. Others are converted on all
/// cores, and `converted` says so. Throws like `require_rows`, and for values that are no numbers.
template <class T>
Array<T> rows_of(const py::array& array, const std::string& name, py::ssize_t rows, Conversions& converted);

/// The same for ids, which must be integers from 0 to `limit` less one; others throw InputError.
template <class T>
Array<T> ids_of(const py::array& array, const std::string& name, std::size_t limit, Conversions& converted);

/// A NumPy array on the memory of the vector, which lives as long as the array.
template <class T>
py::array_t<T> array_on(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  const py::capsule owner(kept, [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
  return py::array_t<T>(static_cast<py::ssize_t>(kept->size()), kept->data(), owner);
}

/// The same for rows: points become an array of shape (N, 3), triangles (M, 3).
template <class Scalar, class Row>
py::array_t<Scalar> array_on_rows(std::vector<Row>&& rows) {
  static_assert(sizeof(Row) % sizeof(Scalar) == 0);
  constexpr auto width = static_cast<py::ssize_t>(sizeof(Row) / sizeof(Scalar));
  auto* kept = new std::vector<Row>(std::move(rows));
  const py::capsule owner(kept, [](void* memory) { delete static_cast<std::vector<Row>*>(memory); });
  return py::array_t<Scalar>({static_cast<py::ssize_t>(kept->size()), width},
                             reinterpret_cast<const Scalar*>(kept->data()), owner);
}

}  // namespace isochron::python
