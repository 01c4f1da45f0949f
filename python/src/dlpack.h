// DLPack, the interface by which array libraries hand memory to one another (https://dmlc.github.io/dlpack): the layout
// of its structures, and Python's capsules with them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace isochron::python {

namespace py = pybind11;

/// Where memory is: DLPack's numbers.
enum class DlpackDevice : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

/// Memory as arrays see it, and its owner. Strides are in bytes.
struct ForeignArray {
  void* data = nullptr;
  DlpackDevice kind = DlpackDevice::cpu;
  int device = 0;
  py::dtype dtype;
  std::vector<py::ssize_t> shape, strides;
  std::shared_ptr<void> owner;
};

/// The array that an object's `__dlpack__` gives, or none when it has none of a kind and type that we know. `stream` is
/// the stream that will read CUDA memory, as DLPack counts streams (1: the default one). The capsule is used up.
std::optional<ForeignArray> from_dlpack(const py::object& object, int stream);

/// A capsule with the array, for another library to take; its owner lives until that gives it back.
py::capsule to_dlpack(const ForeignArray& array);

/// Strides of an array without gaps whose last index runs fastest.
std::vector<py::ssize_t> packed_strides(const std::vector<py::ssize_t>& shape, py::ssize_t item_bytes);

/// Keeps a Python object, to be let go by any thread.
std::shared_ptr<void> kept(py::object object);

}  // namespace isochron::python
