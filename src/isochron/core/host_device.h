// Marks functions that both the host compiler and nvcc compile, and those whose call would cost more than their work.
#pragma once

#if defined(__CUDACC__)
#define ISOCHRON_HD __host__ __device__
#else
#define ISOCHRON_HD
#endif

#if defined(__SANITIZE_THREAD__)
#define ISOCHRON_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define ISOCHRON_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define ISOCHRON_THREAD_SANITIZER 0
#endif

#if defined(__GNUC__) && !defined(__CUDACC__)
#define ISOCHRON_ALWAYS_INLINE [[gnu::always_inline]] inline
#else
#define ISOCHRON_ALWAYS_INLINE inline
#endif
