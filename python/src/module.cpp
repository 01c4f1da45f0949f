// The extension module isochron._core. The package around it is what people use.
#include <pybind11/pybind11.h>

#include "isochron/core/parallel.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interpreter.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled part of isochron; use the package.";
  module.attr("__version__") = ISOCHRON_VERSION;
  isochron::python::register_errors();
  isochron::python::forked();  // from here on it is noticed
  isochron::python::stop_work_at_exit();
  module.def("hardware_threads", &isochron::hardware_threads, "Cores that this process may use.");
  isochron::python::bind_problem(module);
  isochron::python::bind_linearizing(module);
  isochron::python::bind_solving(module);
  isochron::python::bind_inverting(module);
  isochron::python::bind_gpu_array(module);
  isochron::python::bind_device_solving(module);
  isochron::python::bind_paths(module);
  isochron::python::bind_files(module);
  isochron::python::bind_generators(module);
  isochron::python::bind_images(module);
  isochron::python::bind_surfaces(module);
}
