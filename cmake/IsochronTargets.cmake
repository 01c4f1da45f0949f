# Compile settings shared by every target of the project (not by those who use the installed library).
function(isochron_target_defaults target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas>
    # Math without errno and traps lets the compiler vectorise; results stay IEEE (no -ffast-math: infinities are data here).
    # Alike everywhere: of a template that several targets compile, the linker keeps any one for all of them.
    $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno -fno-trapping-math -fopenmp-simd>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ISOCHRON_WARNINGS_AS_ERRORS}>>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ISOCHRON_WARNINGS_AS_ERRORS}>>:-Werror=all-warnings>)
  if(ISOCHRON_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ISOCHRON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${ISOCHRON_SANITIZE})
  endif()
  if(NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,--as-needed)
  endif()
endfunction()
