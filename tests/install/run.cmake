# Installs the build in BUILD_DIR to a folder below WORK_DIR, compares the installed headers with those that the page
# REFERENCE lists, builds the consumer project against them and runs it. WITHOUT names a header that this build leaves out.
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${output}\n'${command}' failed (${status})")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

file(GLOB_RECURSE installed RELATIVE ${WORK_DIR}/prefix/include ${WORK_DIR}/prefix/include/*)
list(SORT installed)
file(STRINGS ${REFERENCE} documented REGEX "^- `[a-z_]+\\.h`[:,]")
list(TRANSFORM documented REPLACE "^- `([^`]+)`.*" "isochron/\\1")
if(WITHOUT)
  list(REMOVE_ITEM documented ${WITHOUT})
endif()
list(SORT documented)
if(NOT installed STREQUAL documented)
  message(FATAL_ERROR "installed headers: ${installed}\nheaders in ${REFERENCE}: ${documented}")
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=${CONFIG}
  -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/consumer)
if(NOT output MATCHES "far corner: 1\\.41")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
