#include "isochron/solve/simplex/leads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "isochron/local/push_batch.h"
#include "isochron/solve/simplex/tet_view.h"

namespace isochron {
namespace {

/// Elements as x sees them (`TetView`), in single precision: that is enough for steps of an edge's hundredth.
struct Views {
  static constexpr int most = 64;
  float xa[most], xb[most], xc[most], ab[most], ac[most], bc[most];
  float min_a[most], min_b[most], min_c[most];  ///< what a lead is at least, in steps
  std::uint32_t leads[most];                    ///< of a, b and c, from the lowest byte on
};

/// 1 / √value to 5 parts in a million, without a root or a division: those took half the time. A first guess halves the
/// exponent, two steps of Newton's method improve it. Of 0, a large number.
ISOCHRON_ALWAYS_INLINE float over_root(float value) {
  float guess = std::bit_cast<float>(0x5f3759dfU - (std::bit_cast<std::uint32_t>(value) >> 1));
  guess *= 1.5F - 0.5F * value * guess * guess;
  return guess * (1.5F - 0.5F * value * guess * guess);
}

/// Down to whole steps, as the lowest byte; what is not a number, to the least.
ISOCHRON_ALWAYS_INLINE std::uint32_t whole_steps(float lead, float steps, float least) {
  const float value = lead * steps - 0.01F;
  const float at_least = value > least ? value : least;
  const float at_most = at_least < Leads::most ? at_least : Leads::most;
  // Positive, where casting rounds down; 256 is gone in a byte.
  return static_cast<std::uint32_t>(static_cast<int>(at_most + 256.0F)) & 255U;
}

ISOCHRON_ALWAYS_INLINE void compute(Views& views, float steps, int count) {
  const int lanes = detail::whole_vectors(count);
  for (int i = count; i < lanes; ++i) views.min_a[i] = views.min_b[i] = views.min_c[i] = 0;  // nobody reads these lanes
#pragma omp simd
  for (int i = 0; i < lanes; ++i) {
    const float xa = views.xa[i], xb = views.xb[i], xc = views.xc[i], ab = views.ab[i], ac = views.ac[i],
                bc = views.bc[i];
    const float over_ab = over_root(ab), over_ac = over_root(ac), over_bc = over_root(bc);
    const float to_a = min_lead(xa, ab, ac, xb, xc, bc, over_ab, over_ac);
    const float to_b = min_lead(xb, ab, bc, xa, xc, ac, over_ab, over_bc);
    const float to_c = min_lead(xc, ac, bc, xa, xb, ab, over_ac, over_bc);
    views.leads[i] = whole_steps(to_a, steps, views.min_a[i]) | whole_steps(to_b, steps, views.min_b[i]) << 8 |
                     whole_steps(to_c, steps, views.min_c[i]) << 16;
  }
}

template <class T>
void fill(SimplexProblem<T, 4>& problem, std::size_t v, T longest) {
  // A little more than its share of the longest edge, so that no lead is out of range by rounding.
  problem.lead_step[v] = std::sqrt(longest) * T(1.001 / Leads::most);
  // Not where products would leave the range of single precision: what is no number then counts as the least.
  const bool known = longest > T(1e-18) && longest < T(1e18);
  const float steps = known ? static_cast<float>(T(1) / problem.lead_step[v]) : std::numeric_limits<float>::quiet_NaN();
  const float least[] = {0, -Leads::most};  // of a corner that is acute, and of another
  std::span<const std::uint32_t> left = problem.adjacency.at(VertexId(v));
  Leads* leads = problem.leads.data() + problem.adjacency.offsets[v];
  while (!left.empty()) {
    Views views;
    const auto incidences = left.first(std::min<std::size_t>(left.size(), Views::most));
    for (std::size_t i = 0; i < incidences.size(); ++i) {
      const ElementRecord<T, 4>& record = problem.elements[incidences[i] >> 2];
      const TetView& w = tet_views[Adjacency::corner_of(incidences[i])];
      views.xa[i] = static_cast<float>(record.length[w.xa]);
      views.xb[i] = static_cast<float>(record.length[w.xb]);
      views.xc[i] = static_cast<float>(record.length[w.xc]);
      views.ab[i] = static_cast<float>(record.length[w.ab]);
      views.ac[i] = static_cast<float>(record.length[w.ac]);
      views.bc[i] = static_cast<float>(record.length[w.bc]);
      views.min_a[i] = least[static_cast<int>(!record.acute(w.a))];
      views.min_b[i] = least[static_cast<int>(!record.acute(w.b))];
      views.min_c[i] = least[static_cast<int>(!record.acute(w.c))];
    }
    compute(views, steps, static_cast<int>(incidences.size()));
    for (std::size_t i = 0; i < incidences.size(); ++i) {
      // The corner after x in the lowest byte goes to its own place, and 0 to that of x.
      const std::uint32_t in_place = std::rotl(views.leads[i], 8 * (Adjacency::corner_of(incidences[i]) + 1));
      static_assert(std::endian::native == std::endian::little && sizeof(Leads) == sizeof in_place);
      std::memcpy(leads++, &in_place, sizeof in_place);
    }
    left = left.subspan(incidences.size());
  }
}

}  // namespace

void fill_leads(SimplexProblem<float, 4>& problem, std::size_t v, float longest) { fill(problem, v, longest); }
void fill_leads(SimplexProblem<double, 4>& problem, std::size_t v, double longest) { fill(problem, v, longest); }

}  // namespace isochron
