# Installs the library so that find_package(isochron) gives others isochron::isochron.
include(CMakePackageConfigHelpers)

# The public headers: all of these folders, two of io, and three for arrays in device memory. Readers, engines,
# schedules and what wraps other libraries are private.
set(header_root ${PROJECT_SOURCE_DIR}/src)
set(public_headers ${header_root}/isochron/io/io.h ${header_root}/isochron/io/image_io.h
  ${header_root}/isochron/core/cuda/device.h ${header_root}/isochron/core/cuda/device_array.h
  ${header_root}/isochron/core/cuda/device_table.h)
foreach(folder core comm mesh dist generate metric local solve trace connect draw surface surface/field surface/particles
        surface/triangulate surface/tetrahedra)
  file(GLOB headers CONFIGURE_DEPENDS ${header_root}/isochron/${folder}/*.h)
  list(APPEND public_headers ${headers})
endforeach()
list(FILTER public_headers EXCLUDE REGEX "/core/vtk_|/tetrahedra/programs|/solve/(device_)?engine.h")
if(NOT ISOCHRON_WITH_VTK)
  list(FILTER public_headers EXCLUDE REGEX "/draw/")
endif()
target_sources(isochron PUBLIC FILE_SET HEADERS BASE_DIRS ${header_root} FILES ${public_headers})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/isochron)
set_target_properties(isochron PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS isochron EXPORT isochron-targets FILE_SET HEADERS)
install(EXPORT isochron-targets NAMESPACE isochron:: DESTINATION ${package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/isochron-config.cmake.in
  ${PROJECT_BINARY_DIR}/isochron-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/isochron-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/isochron-config.cmake ${PROJECT_BINARY_DIR}/isochron-config-version.cmake
  DESTINATION ${package_dir})

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
