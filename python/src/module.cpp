// The extension module isochron._core. The package around it is what people use.
#include <algorithm>
#include <string>

#include <pybind11/pybind11.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "python/src/bindings.h"
#include "python/src/ending.h"
#include "python/src/unlocked.h"

namespace isochron::python {
namespace {

namespace py = pybind11;

/// What the library says of the command's options (--source-init) as Python has them (source_init).
std::string in_python(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dashes = std::min(text.find("--", at), text.size());
    result += text.substr(at, dashes - at);
    if (dashes == text.size()) break;
    const std::size_t end = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", dashes), text.size());
    std::string option = text.substr(dashes + 2, end - dashes - 2);
    std::replace(option.begin(), option.end(), '-', '_');
    if (option == "hand_over") option = "unordered='hand-over'";
    if (option == "allow_unordered") option = "unordered='run'";
    if (option == "tetrahedra") option = "program";
    result += option;
    at = end;
  }
  return result;
}

/// Raises the Python exception of that name from isochron.errors.
void raise(const char* name, const std::exception& error) {
  const py::object type = py::module_::import("isochron.errors").attr(name);
  PyErr_SetString(type.ptr(), in_python(error.what()).c_str());
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
  isochron::python::forked();  // from here on it is noticed
  isochron::python::watch_the_end();
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
