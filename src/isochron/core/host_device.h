// Marks functions that both the host compiler and nvcc compile.
#pragma once

#if defined(__CUDACC__)
#define ISOCHRON_HD __host__ __device__
#else
#define ISOCHRON_HD
#endif
