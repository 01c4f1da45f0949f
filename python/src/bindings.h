// What each part of the module adds to it; one function a source file.
#pragma once

#include <pybind11/pybind11.h>

namespace isochron::python {

void bind_device_solving(pybind11::module_& module);
void bind_gpu_array(pybind11::module_& module);
void bind_files(pybind11::module_& module);
void bind_generators(pybind11::module_& module);
void bind_images(pybind11::module_& module);
void bind_inverting(pybind11::module_& module);
void bind_linearizing(pybind11::module_& module);
void bind_paths(pybind11::module_& module);
void bind_problem(pybind11::module_& module);
void bind_solving(pybind11::module_& module);
void bind_surfaces(pybind11::module_& module);

}  // namespace isochron::python
