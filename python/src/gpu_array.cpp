#include "python/src/gpu_array.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "isochron/device.h"
#include "isochron/error.h"
#include "python/src/bindings.h"

namespace isochron::python {
namespace {

constexpr int default_stream = 1;  // CUDA's legacy default stream, as both interfaces count

/// Memory that an object offers by `__cuda_array_interface__`, when what works on it is done.
ForeignArray from_interface(const py::object& object) {
  const auto offered = object.attr("__cuda_array_interface__").cast<py::dict>();
  if (offered.contains("mask") && !offered["mask"].is_none())
    throw InputError("masked arrays in the memory of a GPU are not taken; fill in what is masked");
  ForeignArray array;
  array.kind = DlpackDevice::cuda;
  array.dtype = py::dtype::from_args(offered["typestr"]);
  array.shape = offered["shape"].cast<std::vector<py::ssize_t>>();
  array.strides = packed_strides(array.shape, array.dtype.itemsize());
  if (offered.contains("strides") && !offered["strides"].is_none())
    array.strides = offered["strides"].cast<std::vector<py::ssize_t>>();
  array.data = reinterpret_cast<void*>(offered["data"].cast<py::tuple>()[0].cast<std::uintptr_t>());
  if (offered.contains("stream") && !offered["stream"].is_none())
    cuda::wait_for_stream(offered["stream"].cast<std::uintptr_t>());
  if (array.data != nullptr) array.device = cuda::device_of(array.data);
  array.owner = kept(object);
  return array;
}

py::array host_view(ForeignArray array) {
  auto* owner = new std::shared_ptr<void>(std::move(array.owner));
  const py::capsule base(owner, [](void* memory) { delete static_cast<std::shared_ptr<void>*>(memory); });
  return {array.dtype, array.shape, array.strides, array.data, base};
}

/// What an object of another library holds: a DeviceArray on the GPU's memory, a NumPy array on the host's, or None
/// where NumPy should see to it.
py::object take(const py::object& object) {
  if (py::isinstance<py::array>(object) || py::isinstance<GpuArray>(object)) return object;
  if (auto array = from_dlpack(object, default_stream)) {
    if (array->kind == DlpackDevice::cpu || array->kind == DlpackDevice::cuda_host) return host_view(std::move(*array));
    if (array->data != nullptr) cuda::device_of(array->data);  // says when there is no device
    cuda::wait_for_stream(default_stream);
    return py::cast(GpuArray(std::move(*array)));
  }
  if (py::hasattr(object, "__cuda_array_interface__")) return py::cast(GpuArray(from_interface(object)));
  return py::none();
}

/// A copy of a host's array on the current GPU.
GpuArray to_device(const py::array& values) {
  const auto packed = py::array::ensure(values, py::array::c_style);
  cuda::require_device();
  auto memory = std::make_shared<cuda::DeviceArray<char>>(static_cast<std::size_t>(packed.nbytes()));
  memory->upload_from(std::span(static_cast<const char*>(packed.data()), memory->size()));
  const void* data = memory->data();
  return {data, cuda::current_device(), packed.dtype(),
          std::vector<py::ssize_t>(packed.shape(), packed.shape() + packed.ndim()), std::move(memory)};
}

py::capsule dlpack_of(const GpuArray& array, const py::object& /*stream*/, const py::object& /*max_version*/,
                      const py::object& device, const py::object& copy) {
  const auto wanted = std::pair(static_cast<int>(array.array().kind), array.array().device);
  if ((!device.is_none() && device.cast<std::pair<int, int>>() != wanted) || (!copy.is_none() && copy.cast<bool>()))
    throw py::buffer_error("the array is given as it is, without a copy; copy what you get");
  return to_dlpack(array.array());
}

std::string described(const GpuArray& array) {
  return fmt::format("DeviceArray(shape={}, dtype={}, device={})",
                     py::repr(py::tuple(py::cast(array.array().shape))).cast<std::string>(),
                     array.array().dtype.attr("name").cast<std::string>(), array.array().device);
}

}  // namespace

GpuArray::GpuArray(ForeignArray array) : array_(std::move(array)) {}

GpuArray::GpuArray(const void* data, int device, py::dtype dtype, std::vector<py::ssize_t> shape,
                   std::shared_ptr<void> owner) {
  array_.data = const_cast<void*>(data);
  array_.kind = DlpackDevice::cuda;
  array_.device = device;
  array_.strides = packed_strides(shape, dtype.itemsize());
  array_.dtype = std::move(dtype);
  array_.shape = std::move(shape);
  array_.owner = std::move(owner);
}

py::ssize_t GpuArray::size() const {
  py::ssize_t size = 1;
  for (const py::ssize_t n : array_.shape) size *= n;
  return size;
}

py::array GpuArray::to_numpy() const {
  if (size() == 0) return py::array(array_.dtype, array_.shape);
  // All bytes from the first to the last that belong to it, seen as the array is.
  py::ssize_t low = 0, high = array_.dtype.itemsize();
  for (std::size_t k = 0; k < array_.shape.size(); ++k) {
    const py::ssize_t way = (array_.shape[k] - 1) * array_.strides[k];
    (way < 0 ? low : high) += way;
  }
  const py::array_t<char> bytes(high - low);
  const cuda::OnDevice there(array_.device);
  char* memory = const_cast<char*>(bytes.data());
  cuda::download(memory, static_cast<const char*>(array_.data) + low, static_cast<std::size_t>(high - low));
  return {array_.dtype, array_.shape, array_.strides, memory - low, bytes};
}

GpuArray GpuArray::reshaped(const std::vector<py::ssize_t>& shape, const std::string& order) const {
  GpuArray result = *this;
  result.array_.shape = shape;
  if (result.size() != size() || array_.strides != packed_strides(array_.shape, array_.dtype.itemsize()))
    throw InputError("an array in the memory of a GPU cannot be seen in that shape; make it contiguous first");
  std::vector<py::ssize_t> turned = shape;
  if (order == "F") std::reverse(turned.begin(), turned.end());
  result.array_.strides = packed_strides(turned, array_.dtype.itemsize());
  if (order == "F") std::reverse(result.array_.strides.begin(), result.array_.strides.end());
  return result;
}

py::dict GpuArray::interface() const {
  const auto tuple = [](const std::vector<py::ssize_t>& numbers) { return py::tuple(py::cast(numbers)); };
  const bool packed = array_.strides == packed_strides(array_.shape, array_.dtype.itemsize());
  py::dict offered;
  offered["shape"] = tuple(array_.shape);
  offered["typestr"] = array_.dtype.attr("str");
  offered["data"] = py::make_tuple(size() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(array_.data), false);
  offered["strides"] = packed ? py::object(py::none()) : tuple(array_.strides);
  offered["version"] = 3;
  offered["stream"] = py::none();
  return offered;
}

cuda::DeviceTable table_of(const GpuArray& array, const std::string& name) {
  using cuda::NumberType;
  const auto type = array.array().dtype.attr("str").cast<std::string>();
  cuda::DeviceTable table;
  if (type == "<f8") table.type = NumberType::float64;
  else if (type == "<f4") table.type = NumberType::float32;
  else if (type == "<i8") table.type = NumberType::int64;
  else if (type == "<i4") table.type = NumberType::int32;
  else if (type == "<u4") table.type = NumberType::uint32;
  else
    throw InputError(
        fmt::format("{} has dtype {} in the memory of a GPU; give float32, float64, int32, uint32 or int64", name,
                    array.array().dtype.attr("name").cast<std::string>()));
  table.data = array.array().data;
  return table;
}

void bind_gpu_array(py::module_& module) {
  using namespace py::literals;
  py::class_<GpuArray>(module, "DeviceArray",
                       "An array in the memory of a GPU. CuPy, PyTorch and others take it without a copy "
                       "(cupy.asarray, torch.as_tensor, from_dlpack); to_numpy copies it to the host.")
      .def_property_readonly(
          "shape", [](const GpuArray& a) { return py::tuple(py::cast(a.array().shape)); }, "Its shape.")
      .def_property_readonly(
          "strides", [](const GpuArray& a) { return py::tuple(py::cast(a.array().strides)); },
          "Bytes from one to the next along each axis.")
      .def_property_readonly(
          "ndim", [](const GpuArray& a) { return a.array().shape.size(); }, "Number of axes.")
      .def_property_readonly("size", &GpuArray::size, "Number of values.")
      .def_property_readonly(
          "dtype", [](const GpuArray& a) { return a.array().dtype; }, "NumPy's type of the values.")
      .def_property_readonly(
          "device", [](const GpuArray& a) { return a.array().device; }, "Which GPU.")
      .def("to_numpy", &GpuArray::to_numpy, "A copy on the host.")
      .def("reshape", &GpuArray::reshaped, "shape"_a, "order"_a = "C", "The same memory as another shape.")
      .def_property_readonly("__cuda_array_interface__", &GpuArray::interface)
      .def("__dlpack__", &dlpack_of, "stream"_a = py::none(), py::kw_only(), "max_version"_a = py::none(),
           "dl_device"_a = py::none(), "copy"_a = py::none())
      .def("__dlpack_device__",
           [](const GpuArray& a) { return py::make_tuple(static_cast<int>(a.array().kind), a.array().device); })
      .def(
          "__array__",
          [](const GpuArray&, const py::args&, const py::kwargs&) -> py::array {
            throw py::type_error("the array is in the memory of a GPU (it is not copied unasked); call its to_numpy()");
          })
      .def("__len__",
           [](const GpuArray& a) {
             if (a.array().shape.empty()) throw py::type_error("len() of an array without axes");
             return a.array().shape[0];
           })
      .def("__reduce__",
           [](const GpuArray& a) {
             return py::make_tuple(py::module_::import("numpy").attr("asarray"), py::make_tuple(a.to_numpy()));
           })
      .def("__repr__", &described);
  module.def("take", &take, "values"_a, "The array of another library, or None where NumPy should see to it.");
  module.def("to_device", &to_device, "values"_a, "A copy on the GPU.");
}

}  // namespace isochron::python
