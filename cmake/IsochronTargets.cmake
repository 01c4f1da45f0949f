# Compile settings shared by every target of the project (not by those who use the installed library).
function(isochron_target_defaults target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas>
    # Math without errno and traps lets the compiler vectorise; results stay IEEE (no -ffast-math: infinities are data here).
    # Alike everywhere: of a template that several targets compile, the linker keeps any one for all of them.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno -fno-trapping-math -fopenmp-simd>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ISOCHRON_SAME_BITS}>>:-ffp-contract=off>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ISOCHRON_WARNINGS_AS_ERRORS}>>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ISOCHRON_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
  if(ISOCHRON_SANITIZE)
    # Checks of every pointer for null, alignment and overflow would take a third of the build; null and what is read
    # outside an array are found without them.
    # GCC and Clang leave casts of numbers that the target cannot hold out of "undefined".
    set(sanitizers ${ISOCHRON_SANITIZE})
    if(sanitizers MATCHES "undefined")
      string(APPEND sanitizers ",float-cast-overflow")
    endif()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${sanitizers}
      -fno-sanitize=null,alignment,vptr,pointer-overflow,object-size -fno-sanitize-recover=all -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
  if(ISOCHRON_FUZZ)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/fuzz-ignore.txt>)
  endif()
  if(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--as-needed)
  endif()
endfunction()

# For tests, and for targets that read requests and print answers: half the time to compile. Not for a program that is
# timed and compiles templates of solvers itself: the linker might keep its copies for the library too.
function(isochron_little_optimisation target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>)
endfunction()

# Short builds. Most of the time of a build goes into reading the same headers again and compiling the same templates again,
# so release builds read the standard library and fmt once per target (precompiled headers, isochron_precompile) and compile
# several sources of one folder together (unity builds, isochron_unity).
#
# In a unity build the sources of a batch share one translation unit: two of them must not define the same name in
# unnamed namespaces or as static functions. scripts/check_unity.py compiles all batches without generating code and so
# finds such collisions in two minutes. Give one of the two a better name, or, where that does not help, list the source
# under SKIP at the call of isochron_unity. Changing one source compiles its whole batch again: the preset `dev` has
# ISOCHRON_UNITY off. Precompiled headers are turned off by CMake's own CMAKE_DISABLE_PRECOMPILE_HEADERS.
option(ISOCHRON_UNITY "Compile the sources of a folder in batches (shortest full build, longer incremental ones)" ON)
set(ISOCHRON_UNITY_BATCH 8 CACHE STRING "Most sources in a batch of a unity build")
mark_as_advanced(ISOCHRON_UNITY_BATCH)

# isochron_unity(target [BATCH n] [SKIP regex]): batches hold sources of one folder, in the order of their names, all about
# the same number. CUDA sources and those with compile options of their own stay alone.
function(isochron_unity target)
  cmake_parse_arguments(unity "" "BATCH;SKIP" "" ${ARGN})
  if(NOT ISOCHRON_UNITY)
    return()
  endif()
  if(NOT unity_BATCH)
    set(unity_BATCH ${ISOCHRON_UNITY_BATCH})
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")  # generated
  list(FILTER sources EXCLUDE REGEX "/absent.cpp$")  # with CUDA or without, the batches stay the same
  set(folders)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(REGEX REPLACE "/(cuda|cgal|metis)$" "" folder ${folder})  # too few for a batch of their own
    string(MAKE_C_IDENTIFIER "in_${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND ${folder} ${source})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH ${folder} count)
    math(EXPR batches "(${count} + ${unity_BATCH} - 1) / ${unity_BATCH}")
    set(index 0)
    foreach(source IN LISTS ${folder})
      math(EXPR batch "${index} * ${batches} / ${count}")
      if(NOT unity_SKIP OR NOT source MATCHES "${unity_SKIP}")  # leaves the other batches as they are
        set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${folder}_${batch})
      endif()
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC takes the sources of a batch for headers, whose unnamed namespaces would be a mistake.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endfunction()

# isochron_precompile(target [header…]): the headers that most sources include, and these. They are no substitute for a
# source's own includes: a build with CMAKE_DISABLE_PRECOMPILE_HEADERS must work too (clang-tidy's is one).
function(isochron_precompile target)
  set(headers <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream>
    <functional> <limits> <map> <memory> <mutex> <numbers> <numeric> <optional> <set> <span> <string> <string_view> <thread>
    <type_traits> <unordered_map> <utility> <variant> <vector> <fmt/format.h> ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
