# Builds the client with Vite into the build folder and makes a source of what comes out; without Node or the client's packages
# (scripts/setup.sh viewer) that is a page that says so. Sets ISOCHRON_CLIENT_SOURCE.
set(client ${CMAKE_CURRENT_SOURCE_DIR}/client)
set(client_output ${CMAKE_CURRENT_BINARY_DIR}/client)
set(ISOCHRON_CLIENT_SOURCE ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp)
set(vite ${client}/node_modules/vite/bin/vite.js)
find_program(ISOCHRON_NODE node)
mark_as_advanced(ISOCHRON_NODE)

set(embed ${CMAKE_CURRENT_SOURCE_DIR}/embed.cmake)
if(ISOCHRON_NODE AND EXISTS ${vite} AND EXISTS ${client}/index.html)
  file(GLOB_RECURSE client_files CONFIGURE_DEPENDS ${client}/src/* ${client}/public/*)
  file(GLOB client_settings CONFIGURE_DEPENDS ${client}/*.json ${client}/*.html ${client}/*.js ${client}/*.mjs ${client}/*.ts)
  add_custom_command(OUTPUT ${ISOCHRON_CLIENT_SOURCE}
    COMMAND ${ISOCHRON_NODE} ${vite} build --logLevel warn --outDir ${client_output} --emptyOutDir
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${client_output} -DOUTPUT=${ISOCHRON_CLIENT_SOURCE} -DBUILT=true -P ${embed}
    DEPENDS ${client_files} ${client_settings} ${embed}
    WORKING_DIRECTORY ${client}
    COMMENT "Building the viewer's client"
    VERBATIM)
elseif(NOT ISOCHRON_WITH_VIEWER STREQUAL "AUTO")
  message(FATAL_ERROR "ISOCHRON_WITH_VIEWER is on, but Node or the packages in apps/viewer/client are not there; run scripts/setup.sh viewer, or leave the option at AUTO")
else()
  message(STATUS "The viewer is built without its client (no Node, or no packages in apps/viewer/client); run scripts/setup.sh viewer")
  add_custom_command(OUTPUT ${ISOCHRON_CLIENT_SOURCE}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/absent -DOUTPUT=${ISOCHRON_CLIENT_SOURCE} -DBUILT=false -P ${embed}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/absent/index.html ${embed}
    VERBATIM)
endif()
