#include "python/src/arrays.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "python/src/interpreter.h"

namespace isochron::python {
namespace {

/// What a row of T is made of.
template <class T>
struct Row {
  using Scalar = T;
  static constexpr py::ssize_t width = 1;
};
template <class T>
struct Row<Vec3<T>> {
  using Scalar = T;
  static constexpr py::ssize_t width = 3;
};
template <class T>
struct Row<SymTensor3<T>> {
  using Scalar = T;
  static constexpr py::ssize_t width = 6;
};
template <>
struct Row<VertexId> {
  using Scalar = std::uint32_t;
  static constexpr py::ssize_t width = 1;
};
template <std::size_t N>
struct Row<std::array<VertexId, N>> {
  using Scalar = std::uint32_t;
  static constexpr py::ssize_t width = static_cast<py::ssize_t>(N);
};

/// Calls `visit` with a value of the array's type; false for types that NumPy has to convert first.
template <class Visit>
bool visit_type(const py::array& array, Visit&& visit) {
  const py::dtype type = array.dtype();
  const auto is = [&]<class S>(S) {
    if (!type.is(py::dtype::of<S>()) && !type.equal(py::dtype::of<S>())) return false;
    visit(S{});
    return true;
  };
  return is(double{}) || is(float{}) || is(std::int64_t{}) || is(std::int32_t{}) || is(std::uint32_t{}) ||
         is(std::uint64_t{}) || is(std::uint8_t{}) || is(bool{}) || is(std::int16_t{}) || is(std::uint16_t{}) ||
         is(std::int8_t{});
}

/// True for arrays whose memory is that of Scalars one after the other.
template <class Scalar>
bool same_memory(const py::array& array) {
  const py::dtype type = array.dtype();
  const bool type_fits = type.equal(py::dtype::of<Scalar>()) ||
                         (std::is_same_v<Scalar, std::uint32_t> && type.equal(py::dtype::of<std::int32_t>())) ||
                         (std::is_same_v<Scalar, std::uint8_t> && type.equal(py::dtype::of<bool>()));
  constexpr int wanted = int{py::array::c_style} | int{py::detail::npy_api::NPY_ARRAY_ALIGNED_};
  return type_fits && (array.flags() & wanted) == wanted;
}

/// Keeps a Python object alive for code that does not know Python; any thread may release it.
std::shared_ptr<const void> keeper_of(const py::object& object) {
  return {object.inc_ref().ptr(), [](PyObject* kept) {
            if (!ending_elsewhere()) with_lock([&] { Py_DECREF(kept); });
          }};
}

std::string why_converted(const py::array& array, const std::string& name, const char* to) {
  const std::string type = py::str(static_cast<py::object>(array.dtype()));
  return fmt::format("{}: {}{} to {}", name, type, (array.flags() & py::array::c_style) != 0 ? "" : " not in C order",
                     to);
}

template <class Scalar>
const char* scalar_name() {
  if constexpr (std::is_same_v<Scalar, double>) return "float64";
  else if constexpr (std::is_same_v<Scalar, float>) return "float32";
  else if constexpr (std::is_same_v<Scalar, std::uint32_t>) return "uint32";
  else if constexpr (std::is_same_v<Scalar, std::int32_t>) return "int32";
  else if constexpr (std::is_same_v<Scalar, std::uint16_t>) return "uint16";
  else return "uint8";
}

/// One value as another type of number. A mask is set wherever its value is not 0.
template <class Scalar, class From>
Scalar converted_value(From value) {
  if constexpr (std::is_same_v<Scalar, std::uint8_t>) return value != From(0) ? 1 : 0;
  else return static_cast<Scalar>(value);
}

/// Whether a number is a whole one that an integer type holds.
template <class Scalar, class From>
bool fits(From value) {
  using Limits = std::numeric_limits<Scalar>;
  if constexpr (std::is_floating_point_v<From>)
    return value == std::floor(value) && value >= static_cast<From>(Limits::lowest()) &&
           static_cast<double>(value) <= static_cast<double>(Limits::max());
  else if constexpr (std::is_same_v<From, bool>) return true;
  else return std::in_range<Scalar>(value);
}

/// Copies values of any layout, row by row, on all cores.
template <class Scalar, class From>
void copy_strided(const py::array& array, py::ssize_t rows, py::ssize_t width, Scalar* to) {
  const auto* base = static_cast<const char*>(array.data());
  const py::ssize_t row_step = array.ndim() > 0 ? array.strides(0) : 0;
  const py::ssize_t step = array.ndim() > 1 ? array.strides(1) : 0;
  parallel_for(hardware_threads(), static_cast<std::size_t>(rows), [&](std::size_t i) {
    for (py::ssize_t c = 0; c < width; ++c) {
      From value;
      std::memcpy(&value, base + static_cast<py::ssize_t>(i) * row_step + c * step, sizeof(From));
      to[static_cast<py::ssize_t>(i) * width + c] = converted_value<Scalar>(value);
    }
  });
}

/// The first row with a value that is not `good`, or `rows` when there is none.
template <class From, class Good>
py::ssize_t first_bad_row(const py::array& array, py::ssize_t rows, py::ssize_t width, const Good& is_good) {
  const auto* base = static_cast<const char*>(array.data());
  const py::ssize_t row_step = array.strides(0), step = array.ndim() > 1 ? array.strides(1) : 0;
  std::atomic<py::ssize_t> first{rows};
  parallel_chunks(hardware_threads(), static_cast<std::size_t>(rows), [&](std::size_t begin, std::size_t end) {
    for (auto i = static_cast<py::ssize_t>(begin); i < static_cast<py::ssize_t>(end); ++i) {
      bool good = true;
      for (py::ssize_t c = 0; c < width; ++c) {
        From value;
        std::memcpy(&value, base + i * row_step + c * step, sizeof(From));
        good = good && is_good(value);
      }
      if (good) continue;
      for (py::ssize_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
      return;
    }
  });
  return first;
}

/// Whether ids that lie one after the other are all below `limit`; a negative one is huge without its sign. One pass
/// for their largest is so quick that other threads are not worth waking.
bool all_below(const py::array& ids, std::size_t limit) {
  const auto* values = static_cast<const std::uint32_t*>(ids.data());
  const auto count = static_cast<std::size_t>(ids.size());
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, values[i]);
  return largest < limit;
}

/// What NumPy makes of types that are not among those of `visit_type`: half and long double, other byte orders.
py::array readable(const py::array& array, const std::string& name, const char* type) {
  if (visit_type(array, [](auto) {})) return array;
  require_numbers(array, name);
  return array.attr("astype")(type);
}

std::string row_text(const py::array& array, py::ssize_t row) {
  return py::str(py::object(array.attr("__getitem__")(row)));
}

/// Labels and regions. Ids are checked by themselves, and masks are set or not.
template <class Scalar>
inline constexpr bool holds_whole_numbers =
    std::is_same_v<Scalar, std::int32_t> || std::is_same_v<Scalar, std::uint16_t>;

/// Throws InputError for values that a Scalar cannot stand for: fractions as labels, NaN in a mask.
template <class Scalar, class From>
void require_fitting(const py::array& array, const std::string& name, py::ssize_t rows, py::ssize_t width) {
  constexpr bool is_mask = std::is_same_v<Scalar, std::uint8_t>;
  if constexpr (holds_whole_numbers<Scalar> || (is_mask && std::is_floating_point_v<From>)) {
    const auto fitting = [](From value) {
      if constexpr (is_mask) return !std::isnan(value);
      else return fits<Scalar>(value);
    };
    const py::ssize_t bad = unlocked([&] { return first_bad_row<From>(array, rows, width, fitting); });
    if (bad == rows) return;
    const std::string wanted =
        is_mask ? "numbers, 0 where it is closed," : fmt::format("whole numbers of type {}", scalar_name<Scalar>());
    throw InputError(
        fmt::format("{} holds {} in row {} ({} are wanted); correct it", name, row_text(array, bad), bad, wanted));
  }
}

/// `array` as rows of T; what was converted is listed for `given`, which it was made from.
template <class T>
Array<T> taken(const py::array& array, const py::array& given, Conversions& converted, const std::string& name) {
  using Scalar = typename Row<T>::Scalar;
  const py::ssize_t rows = array.shape(0);
  if (rows == 0) return {};
  if (same_memory<Scalar>(array))
    return Array<T>::borrowed(static_cast<const T*>(array.data()), static_cast<std::size_t>(rows), keeper_of(array));
  converted.push_back(why_converted(given, name, scalar_name<Scalar>()));
  std::vector<T> result(static_cast<std::size_t>(rows));
  const py::array source = readable(array, name, "float64");
  visit_type(source, [&](auto from) {
    using From = decltype(from);
    require_fitting<Scalar, From>(source, name, rows, Row<T>::width);
    unlocked(
        [&] { copy_strided<Scalar, From>(source, rows, Row<T>::width, reinterpret_cast<Scalar*>(result.data())); });
  });
  return result;
}

}  // namespace

std::string shape_text(const py::array& array) {
  std::string text = "(";
  for (py::ssize_t d = 0; d < array.ndim(); ++d) text += fmt::format("{}{}", d > 0 ? ", " : "", array.shape(d));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

void require_numbers(const py::array& array, const std::string& name) {
  const char kind = array.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u' && kind != 'b')
    throw InputError(fmt::format("{} holds no real numbers (dtype {}); give numbers", name,
                                 std::string(py::str(static_cast<py::object>(array.dtype())))));
}

void require_rows(const py::array& array, const std::string& name, py::ssize_t rows, py::ssize_t width) {
  const bool flat = width == 1 && array.ndim() == 1;
  const bool matrix = array.ndim() == 2 && array.shape(1) == width;
  if ((flat || matrix) && (rows < 0 || array.shape(0) == rows)) return;
  const std::string count = rows < 0 ? "N" : fmt::format("{}", rows);
  throw InputError(fmt::format("{} has the wrong shape (it is {}); give an array of shape {}", name, shape_text(array),
                               width == 1 ? fmt::format("({},)", count) : fmt::format("({}, {})", count, width)));
}

template <class T>
Array<T> rows_of(const py::array& array, const std::string& name, py::ssize_t rows, Conversions& converted) {
  require_rows(array, name, rows, Row<T>::width);
  return taken<T>(array, array, converted, name);
}

template <class T>
Array<T> ids_of(const py::array& array, const std::string& name, std::size_t limit, Conversions& converted) {
  require_rows(array, name, -1, Row<T>::width);
  if (array.size() == 0) return {};
  const char kind = array.dtype().kind();
  if (kind != 'i' && kind != 'u')
    throw InputError(fmt::format("{} are ids, which are integers (dtype {}); give an integer array", name,
                                 std::string(py::str(static_cast<py::object>(array.dtype())))));
  const py::array source = readable(array, name, "int64");
  if (same_memory<std::uint32_t>(source) && unlocked([&] { return all_below(source, limit); }))
    return taken<T>(source, array, converted, name);
  const py::ssize_t rows = source.shape(0);
  py::ssize_t bad = rows;
  visit_type(source, [&](auto from) {
    using From = decltype(from);
    // A negative number is a huge one without its sign.
    const auto known = [limit](From value) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) < limit;
    };
    bad = unlocked([&] { return first_bad_row<From>(source, rows, Row<T>::width, known); });
  });
  if (bad < rows)
    throw InputError(fmt::format("{} holds an id out of range in row {}: {} ({}); correct it", name, bad,
                                 row_text(source, bad),
                                 limit > 0 ? fmt::format("ids count from 0, here up to {}", limit - 1)
                                           : std::string("there is nothing that has an id")));
  return taken<T>(source, array, converted, name);
}

template Array<double> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<float> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<std::int32_t> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<Vec3d> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<Vec3f> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<SymTensor3d> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<SymTensor3f> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<std::uint8_t> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<std::uint16_t> rows_of(const py::array&, const std::string&, py::ssize_t, Conversions&);
template Array<VertexId> ids_of(const py::array&, const std::string&, std::size_t, Conversions&);
template Array<std::array<VertexId, 3>> ids_of(const py::array&, const std::string&, std::size_t, Conversions&);
template Array<std::array<VertexId, 4>> ids_of(const py::array&, const std::string&, std::size_t, Conversions&);

}  // namespace isochron::python
