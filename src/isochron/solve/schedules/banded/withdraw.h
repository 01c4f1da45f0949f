// What comes before time bands when a solution is changed a little: times that the front does not arrive at any more
// are withdrawn, and the bands go on from the vertices beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/schedules/banded/banded.h"

namespace isochron {

/// What is different from the problem that the times are the solution of; internal numbering.
template <class T>
struct ChangedStart {
  double base = 0;                      ///< user's time that was 0 inside
  BigVector<T> seed;                    ///< per vertex: the time of its seed after the change, +inf where it has none
  std::vector<std::uint32_t> vertices;  ///< whose updates read a changed element, and those whose seed changed
};

/// How much of a solution may be withdrawn: where it is more, solving all of it again costs less.
inline constexpr double max_withdrawn_share = 0.4;

/// Prepares `start`, whose times are those before a change, to be solved on after it: to the fixed point of the changed
/// problem, with bands that have no horizon. Returns how many times were withdrawn; more than `max_withdrawn` says that
/// it stopped there, and that the times are of no use.
///
/// In the order of their times, vertices are looked at whose elements or seeds changed, or that may depend on a
/// withdrawn one. One keeps its time when its seed still gives it, or an element up to what counts as a gain; else its
/// time is withdrawn, and those that may depend on it are looked at. This ends, since each time is withdrawn once.
///
/// No vertices keep times that only they give each other (`arrives_by`): the earliest of them would have its time
/// through a face that is not earlier, and be later by what it takes to cross the element, which is more than a gain.
template <class Relax, class T = typename Relax::Scalar>
std::size_t withdraw(const Relax& relax, Start<T>& start, const ChangedStart<T>& changed, BandTuning tuning,
                     std::size_t max_withdrawn) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  SolveState<T>& state = start.state;
  BigVector<T>& time = state.time;
  BucketRing<T> ring(relax.problem().vertex_count, band_scale(tuning, relax.problem().mean_edge));
  for (const std::uint32_t v : changed.vertices)
    if (time[v] < inf) ring.add(v, time[v]);
  const auto slack_of = [&](std::uint32_t v) {
    return countable_gain(state.tolerance, T(relax.problem().edge[v]), time[v]);
  };
  const auto nearly_seed = [&](std::uint32_t v, T seed) { return time[v] < seed && seed <= time[v] + slack_of(v); };
  if (changed.base != start.base)  // then seeds' times were rounded otherwise
    for (const auto& [v, seed] : start.seeds)
      if (nearly_seed(v, seed)) time[v] = seed;

  std::vector<std::uint32_t> withdrawn;
  std::uint64_t solves = 0;
  ring.drain(
      relax,
      [&](std::uint32_t v, T /*horizon*/) {
        const T now = time[v];
        const T slack = slack_of(v);
        if (changed.seed[v] == now || relax.arrives_by(v, now, slack, solves)) return;
        if (nearly_seed(v, changed.seed[v])) {
          time[v] = changed.seed[v];
          return;
        }
        time[v] = inf;
        withdrawn.push_back(v);
        relax.for_dependents(v, now - slack, [&](std::uint32_t target) { ring.add(target, time[target]); });
      },
      [&](bool /*emptied*/) {
        if (state.progress.cancelled()) throw Cancelled();
        return withdrawn.size() <= max_withdrawn;
      });
  if (withdrawn.size() <= max_withdrawn) {
    std::vector<std::pair<std::uint32_t, T>> found;  // from those that kept their times alone
    for (const std::uint32_t v : withdrawn)
      if (const T again = relax.pull(v, solves); again < inf) found.emplace_back(v, again);
    state.seeds.clear();
    for (const auto& [v, again] : found) {
      time[v] = again;
      state.seeds.push_back(v);
    }
    for (const auto& [v, seed] : start.seeds)
      if (seed < time[v]) {
        time[v] = seed;
        state.seeds.push_back(v);
      }
    for (const std::uint32_t v : changed.vertices)
      if (lower_countably(relax, state, v, relax.pull(v, solves))) state.seeds.push_back(v);
  }
  state.counters.local_solves += solves;
  return withdrawn.size();
}

}  // namespace isochron
