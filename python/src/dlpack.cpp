#include "python/src/dlpack.h"

#include <utility>

#include "isochron/error.h"
#include "python/src/interpreter.h"

namespace isochron::python {
namespace {

// ---- the binary interface, as DLPack's page has it

struct DLDevice {
  std::int32_t type;
  std::int32_t id;
};
struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in items; null: no gaps, the last index fastest
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};

constexpr const char* fresh_name = "dltensor";
constexpr const char* used_name = "used_dltensor";

enum Code : std::uint8_t { code_int = 0, code_uint = 1, code_float = 2, code_bool = 6 };

// ---- types of numbers

/// Of types that NumPy has too.
std::optional<py::dtype> dtype_of(const DLDataType& type) {
  if (type.lanes != 1 || type.bits % 8 != 0 || type.bits > 64) return std::nullopt;
  const std::string bytes = std::to_string(type.bits / 8);
  switch (type.code) {
    case code_int: return py::dtype("i" + bytes);
    case code_uint: return py::dtype("u" + bytes);
    case code_float: return type.bits >= 16 ? std::optional(py::dtype("f" + bytes)) : std::nullopt;
    case code_bool: return type.bits == 8 ? std::optional(py::dtype("?")) : std::nullopt;
    default: return std::nullopt;
  }
}

DLDataType type_of(const py::dtype& dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * dtype.itemsize());
  switch (dtype.kind()) {
    case 'i': return {code_int, bits, 1};
    case 'u': return {code_uint, bits, 1};
    case 'b': return {code_bool, bits, 1};
    default: return {code_float, bits, 1};
  }
}

// ---- capsules

/// What a tensor that we gave away needs until it comes back.
struct LentTensor {
  DLManagedTensor managed;
  std::vector<std::int64_t> shape, strides;
  std::shared_ptr<void> owner;
};

void take_back(DLManagedTensor* managed) { delete static_cast<LentTensor*>(managed->context); }

/// A capsule that was not taken still has its tensor.
void end_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, fresh_name) == 0) return;
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, fresh_name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

std::shared_ptr<void> owner_of(DLManagedTensor* managed) {
  return {managed, [](void* tensor) {
            auto* taken = static_cast<DLManagedTensor*>(tensor);
            if (taken->deleter == nullptr || ending_elsewhere()) return;
            with_lock([&] { taken->deleter(taken); });  // most deleters let go of Python objects
          }};
}

}  // namespace

std::vector<py::ssize_t> packed_strides(const std::vector<py::ssize_t>& shape, py::ssize_t item_bytes) {
  std::vector<py::ssize_t> strides(shape.size());
  py::ssize_t step = item_bytes;
  for (std::size_t k = shape.size(); k-- > 0; step *= shape[k]) strides[k] = step;
  return strides;
}

std::shared_ptr<void> kept(py::object object) {
  return {new py::object(std::move(object)), [](void* memory) {
            if (!ending_elsewhere()) with_lock([&] { delete static_cast<py::object*>(memory); });
          }};
}

std::optional<ForeignArray> from_dlpack(const py::object& object, int stream) {
  if (!py::hasattr(object, "__dlpack__") || !py::hasattr(object, "__dlpack_device__")) return std::nullopt;
  const auto device = object.attr("__dlpack_device__")().cast<py::tuple>();
  const auto kind = static_cast<DlpackDevice>(py::int_(device[0]).cast<std::int32_t>());
  const bool on_gpu = kind == DlpackDevice::cuda || kind == DlpackDevice::cuda_managed;
  if (!on_gpu && kind != DlpackDevice::cpu && kind != DlpackDevice::cuda_host) return std::nullopt;
  const py::object capsule =
      on_gpu ? object.attr("__dlpack__")(py::arg("stream") = stream) : object.attr("__dlpack__")();
  auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), fresh_name));
  if (managed == nullptr) throw py::error_already_set();
  const DLTensor& tensor = managed->tensor;
  const auto dtype = dtype_of(tensor.dtype);
  if (!dtype) return std::nullopt;  // the capsule gives it back
  if (PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw py::error_already_set();
  ForeignArray array;
  array.owner = owner_of(managed);
  array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  array.kind = kind;
  array.device = tensor.device.id;
  array.dtype = *dtype;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  array.strides = packed_strides(array.shape, dtype->itemsize());
  if (tensor.strides != nullptr)
    for (std::size_t k = 0; k < array.shape.size(); ++k) array.strides[k] = tensor.strides[k] * dtype->itemsize();
  return array;
}

py::capsule to_dlpack(const ForeignArray& array) {
  auto given = std::make_unique<LentTensor>();
  given->shape.assign(array.shape.begin(), array.shape.end());
  for (const py::ssize_t stride : array.strides) given->strides.push_back(stride / array.dtype.itemsize());
  given->owner = array.owner;
  DLTensor& tensor = given->managed.tensor;
  tensor.data = array.data;
  tensor.device = {static_cast<std::int32_t>(array.kind), array.device};
  tensor.ndim = static_cast<std::int32_t>(given->shape.size());
  tensor.dtype = type_of(array.dtype);
  tensor.shape = given->shape.data();
  tensor.strides = given->strides.data();
  tensor.byte_offset = 0;
  given->managed.context = given.get();
  given->managed.deleter = take_back;
  PyObject* capsule = PyCapsule_New(&given->managed, fresh_name, end_capsule);
  if (capsule == nullptr) throw py::error_already_set();
  (void)given.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

}  // namespace isochron::python
