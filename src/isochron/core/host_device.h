// Marks functions that both the host compiler and nvcc compile, and those whose call would cost more than their work.
#pragma once

#if defined(__CUDACC__)
#define ISOCHRON_HD __host__ __device__
#else
#define ISOCHRON_HD
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
#define ISOCHRON_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define ISOCHRON_ALWAYS_INLINE inline
#endif
