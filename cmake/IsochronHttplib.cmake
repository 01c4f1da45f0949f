# Looks for cpp-httplib, which the viewer's server is made with. Sets ISOCHRON_VIEWER where it is there and wanted, and
# then there is a target isochron_httplib.
set(ISOCHRON_VIEWER OFF)
if(ISOCHRON_WITH_VIEWER)
  find_path(ISOCHRON_HTTPLIB_INCLUDE httplib.h)
  find_library(ISOCHRON_HTTPLIB_LIBRARY cpp-httplib)
  mark_as_advanced(ISOCHRON_HTTPLIB_INCLUDE ISOCHRON_HTTPLIB_LIBRARY)
  if(ISOCHRON_HTTPLIB_INCLUDE)
    set(ISOCHRON_VIEWER ON)
    add_library(isochron_httplib INTERFACE)
    target_include_directories(isochron_httplib SYSTEM INTERFACE ${ISOCHRON_HTTPLIB_INCLUDE})
    if(ISOCHRON_HTTPLIB_LIBRARY)  # Debian compiles it, with these; without the library all is in the header
      target_link_libraries(isochron_httplib INTERFACE ${ISOCHRON_HTTPLIB_LIBRARY})
      target_compile_definitions(isochron_httplib INTERFACE
        CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
    endif()
  elseif(NOT ISOCHRON_WITH_VIEWER STREQUAL "AUTO")
    message(FATAL_ERROR "ISOCHRON_WITH_VIEWER is on, but cpp-httplib is not there; install libcpp-httplib-dev, or leave the option at AUTO")
  endif()
endif()
