#include "isochron/local/push_batch.h"

namespace isochron {
namespace {

template <class T>
ISOCHRON_ALWAYS_INLINE void solve_lanes(FaceBatch<T>& batch, T ux, int count) {
  const int lanes = detail::whole_vectors(count);
#pragma omp simd
  for (int i = 0; i < lanes; ++i) {
    bool thin;
    batch.time[i] = detail::push_time_lane(ux, batch.ub[i], batch.uc[i], batch.lxb[i], batch.lxc[i], batch.lbc[i],
                                           batch.lxt[i], batch.lbt[i], batch.lct[i], thin);
    batch.thin[i] = thin ? T(1) : T(0);
  }
}

// The same with the vectors that every processor of the kind has, and on x86-64, where those are two doubles, with the
// wider ones that most have.
template <class T>
void solve_plain(FaceBatch<T>& batch, T ux, int count) {
  solve_lanes(batch, ux, count);
}
#if defined(__x86_64__) && defined(__GNUC__)
template <class T>
[[gnu::target("avx2,fma")]] void solve_by_256_bits(FaceBatch<T>& batch, T ux, int count) {
  solve_lanes(batch, ux, count);
}
template <class T>
[[gnu::target("avx512f,avx512dq,avx512vl")]] void solve_by_512_bits(FaceBatch<T>& batch, T ux, int count) {
  solve_lanes(batch, ux, count);
}
#endif

template <class T>
auto widest() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return solve_by_512_bits<T>;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return solve_by_256_bits<T>;
#endif
  return solve_plain<T>;
}

template <class T>
void solve_with_widest(FaceBatch<T>& batch, T ux, int count) {
  static const auto solve = widest<T>();
  solve(batch, ux, count);
}

}  // namespace

void solve_faces(FaceBatch<float>& batch, float ux, int count) { solve_with_widest(batch, ux, count); }
void solve_faces(FaceBatch<double>& batch, double ux, int count) { solve_with_widest(batch, ux, count); }

}  // namespace isochron
