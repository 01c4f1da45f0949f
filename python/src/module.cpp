// The extension module isochron._core. The package around it is what people use.
#include <pybind11/pybind11.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "python/src/bindings.h"

namespace isochron::python {
namespace {

namespace py = pybind11;

/// Raises the Python exception of that name from isochron.errors.
void raise(const char* name, const std::exception& error) {
  const py::object type = py::module_::import("isochron.errors").attr(name);
  PyErr_SetString(type.ptr(), error.what());
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    raise("InputError", error);
  } catch (const UsageError& error) {
    raise("UsageError", error);
  } catch (const NoAnswerError& error) {
    raise("NoAnswerError", error);
  } catch (const DeviceError& error) {
    raise("DeviceError", error);
  } catch (const RuntimeError& error) {
    raise("RuntimeFailure", error);
  } catch (const Cancelled& error) {
    raise("Cancelled", error);
  }
}

}  // namespace
}  // namespace isochron::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of isochron; use the package.";
  module.attr("__version__") = ISOCHRON_VERSION;
  pybind11::register_exception_translator(isochron::python::translate);
  module.def("hardware_threads", &isochron::hardware_threads, "Cores that this process may use.");
  isochron::python::bind_problem(module);
  isochron::python::bind_solving(module);
  isochron::python::bind_gpu_array(module);
  isochron::python::bind_device_solving(module);
  isochron::python::bind_paths(module);
  isochron::python::bind_files(module);
  isochron::python::bind_generators(module);
  isochron::python::bind_images(module);
  isochron::python::bind_surfaces(module);
}
