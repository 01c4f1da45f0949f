# Compiles through ccache where it is found and nobody chose another launcher. ccache stores what was compiled with
# precompiled headers only when these two checks are left out; neither matters here: no source uses __TIME__ or __DATE__,
# and no precompiled header depends on a macro of the command line that differs between the targets that share it.
find_program(ISOCHRON_CCACHE ccache)
mark_as_advanced(ISOCHRON_CCACHE)
if(ISOCHRON_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
        ${ISOCHRON_CCACHE})
    endif()
  endforeach()
endif()
