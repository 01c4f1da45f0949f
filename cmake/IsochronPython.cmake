# Looks for what the Python module is built from. Sets ISOCHRON_PYTHON where it is there and wanted. The interpreter is
# Python_EXECUTABLE where that is given, else the system's own: the first python3 on the path may be one without NumPy.
set(ISOCHRON_PYTHON OFF)
if(ISOCHRON_WITH_PYTHON)
  if(NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module NumPy)
  if(Python_FOUND AND NOT pybind11_DIR)
    # A pybind11 that pip installed beside NumPy 2 knows its own folder.
    execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir OUTPUT_VARIABLE pybind11_hint
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  # Older ones build against NumPy 2, but what they build cannot be imported with it.
  set(pybind11_needed 2.10)
  if(Python_NumPy_VERSION VERSION_GREATER_EQUAL 2)
    set(pybind11_needed 2.12)
  endif()
  find_package(pybind11 ${pybind11_needed} QUIET CONFIG HINTS ${pybind11_hint})
  if(Python_FOUND AND pybind11_FOUND)
    set(ISOCHRON_PYTHON ON)
  elseif(NOT ISOCHRON_WITH_PYTHON STREQUAL "AUTO")
    message(FATAL_ERROR "ISOCHRON_WITH_PYTHON is on, but Python 3.9 with its headers, NumPy or pybind11 ${pybind11_needed} is not there; "
      "install pybind11-dev, python3-dev and python3-numpy (or set Python_EXECUTABLE), or leave the option at AUTO")
  endif()
endif()
