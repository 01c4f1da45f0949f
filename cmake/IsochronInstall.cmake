# Installs the library so that find_package(isochron) gives others isochron::isochron.
include(CMakePackageConfigHelpers)

# The headers in include/ are public and listed in docs/reference/cpp.md; all others are private.
set(header_root ${PROJECT_SOURCE_DIR}/include)
file(GLOB public_headers CONFIGURE_DEPENDS ${header_root}/isochron/*.h)
if(NOT ISOCHRON_WITH_VTK)
  list(FILTER public_headers EXCLUDE REGEX "/draw.h$")
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
