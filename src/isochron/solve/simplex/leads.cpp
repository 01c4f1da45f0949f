#include "isochron/solve/simplex/leads.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "isochron/local/push_batch.h"
#include "isochron/solve/simplex/tet_view.h"

namespace isochron {
namespace {

/// Elements as x sees them (`TetView`), in single precision: that is enough for steps of an edge's hundredth.
struct Views {
  static constexpr int most = 64;
  float xa[most], xb[most], xc[most], ab[most], ac[most], bc[most];
  int to_a[most], to_b[most], to_c[most];  ///< leads, in steps
};

/// 1 / √value to 5 parts in a million, without a root or a division: those took half the time. A first guess halves the
/// exponent, two steps of Newton's method improve it. Of 0, a large number.
ISOCHRON_ALWAYS_INLINE float over_root(float value) {
  float guess = std::bit_cast<float>(0x5f3759dfU - (std::bit_cast<std::uint32_t>(value) >> 1));
  guess *= 1.5F - 0.5F * value * guess * guess;
  return guess * (1.5F - 0.5F * value * guess * guess);
}

/// Down to whole steps; what is not a number, to the fewest.
ISOCHRON_ALWAYS_INLINE int whole_steps(float lead, float steps) {
  constexpr auto most = static_cast<float>(Leads::most);
  float value = lead * steps - 0.01F;
  value = value > -most ? value : -most;
  value = value < most ? value : most;
  return static_cast<int>(value + (most + 1)) - (Leads::most + 1);  // positive in between, where casting rounds down
}

ISOCHRON_ALWAYS_INLINE void compute(Views& views, float steps, int count) {
  const int lanes = detail::whole_vectors(count);
#pragma omp simd
  for (int i = 0; i < lanes; ++i) {
    const float xa = views.xa[i], xb = views.xb[i], xc = views.xc[i], ab = views.ab[i], ac = views.ac[i],
                bc = views.bc[i];
    const float over_ab = over_root(ab), over_ac = over_root(ac), over_bc = over_root(bc);
    views.to_a[i] = whole_steps(least_lead(xa, ab, ac, xb, xc, bc, over_ab, over_ac), steps);
    views.to_b[i] = whole_steps(least_lead(xb, ab, bc, xa, xc, ac, over_ab, over_bc), steps);
    views.to_c[i] = whole_steps(least_lead(xc, ac, bc, xa, xb, ab, over_ac, over_bc), steps);
  }
}

template <class T>
void fill(SimplexProblem<T, 4>& problem, std::size_t v, T longest) {
  // A little more than its share of the longest edge, so that no lead is out of range by rounding.
  problem.lead_step[v] = std::sqrt(longest) * T(1.001 / Leads::most);
  const float steps = problem.lead_step[v] > 0 ? static_cast<float>(T(1) / problem.lead_step[v]) : 0;
  std::span<const std::uint32_t> left = problem.adjacency.at(VertexId(v));
  Leads* leads = problem.leads.data() + problem.adjacency.offsets[v];
  while (!left.empty()) {
    Views views;
    const auto incidences = left.first(std::min<std::size_t>(left.size(), Views::most));
    for (std::size_t i = 0; i < incidences.size(); ++i) {
      const auto& length = problem.elements[incidences[i] >> 2].length;
      const TetView& w = tet_views[Adjacency::corner_of(incidences[i])];
      views.xa[i] = static_cast<float>(length[w.xa]);
      views.xb[i] = static_cast<float>(length[w.xb]);
      views.xc[i] = static_cast<float>(length[w.xc]);
      views.ab[i] = static_cast<float>(length[w.ab]);
      views.ac[i] = static_cast<float>(length[w.ac]);
      views.bc[i] = static_cast<float>(length[w.bc]);
    }
    compute(views, steps, static_cast<int>(incidences.size()));
    for (std::size_t i = 0; i < incidences.size(); ++i) {
      const auto& record = problem.elements[incidences[i] >> 2];
      const int x = Adjacency::corner_of(incidences[i]);
      const TetView& w = tet_views[x];
      Leads& of = *leads++;
      of.of_corner[x] = 0;
      const auto set = [&](int t, int lead) {  // a corner that is acute to rounding counts as such
        const bool counts = !record.acute(t) | (lead > 0);
        of.of_corner[t] = static_cast<std::int8_t>(lead * static_cast<int>(counts));
      };
      set(w.a, views.to_a[i]);
      set(w.b, views.to_b[i]);
      set(w.c, views.to_c[i]);
    }
    left = left.subspan(incidences.size());
  }
}

}  // namespace

void fill_leads(SimplexProblem<float, 4>& problem, std::size_t v, float longest) { fill(problem, v, longest); }
void fill_leads(SimplexProblem<double, 4>& problem, std::size_t v, double longest) { fill(problem, v, longest); }

}  // namespace isochron
