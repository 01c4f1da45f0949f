# Looks for CGAL by its headers: its own CMake package would put its compiler options on everything that links the library.
# Sets ISOCHRON_CGAL where it is there and wanted.
set(ISOCHRON_CGAL OFF)
if(ISOCHRON_WITH_CGAL)
  find_path(ISOCHRON_CGAL_INCLUDE CGAL/Delaunay_triangulation_3.h)
  find_library(ISOCHRON_GMP_LIBRARY gmp)
  find_library(ISOCHRON_MPFR_LIBRARY mpfr)
  mark_as_advanced(ISOCHRON_CGAL_INCLUDE ISOCHRON_GMP_LIBRARY ISOCHRON_MPFR_LIBRARY)
  if(ISOCHRON_CGAL_INCLUDE AND ISOCHRON_GMP_LIBRARY AND ISOCHRON_MPFR_LIBRARY)
    set(ISOCHRON_CGAL ON)
  elseif(NOT ISOCHRON_WITH_CGAL STREQUAL "AUTO")
    message(FATAL_ERROR "ISOCHRON_WITH_CGAL is on, but CGAL is not there; install libcgal-dev, or leave the option at AUTO")
  endif()
endif()
