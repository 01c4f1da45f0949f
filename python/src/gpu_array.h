// Arrays in the memory of a GPU as Python sees them: isochron.DeviceArray.
#pragma once

#include <memory>
#include <vector>

#include "isochron/device.h"
#include "python/src/dlpack.h"

namespace isochron::python {

/// A view of memory on a GPU and a share in its ownership. Everything in it is complete: nothing is still at work
/// there.
class GpuArray {
 public:
  explicit GpuArray(ForeignArray array);
  /// An array of ours, without gaps, that `owner` keeps.
  GpuArray(const void* data, int device, py::dtype dtype, std::vector<py::ssize_t> shape, std::shared_ptr<void> owner);

  [[nodiscard]] const ForeignArray& array() const { return array_; }
  [[nodiscard]] py::ssize_t size() const;
  /// A copy on the host.
  [[nodiscard]] py::array to_numpy() const;
  /// An array without gaps as another shape; `order` 'C' or 'F' says which index then runs fastest.
  [[nodiscard]] GpuArray reshaped(const std::vector<py::ssize_t>& shape, const std::string& order) const;
  /// See https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html.
  [[nodiscard]] py::dict interface() const;

 private:
  ForeignArray array_;
};

/// A table of its numbers. Throws InputError for numbers that the library does not take; `name` is the argument.
cuda::DeviceTable table_of(const GpuArray& array, const std::string& name);

}  // namespace isochron::python
