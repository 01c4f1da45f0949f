// The work of several solves as one.
#pragma once

#include <algorithm>

#include "isochron/arrival.h"

namespace isochron {

/// Adds what a solve did to the work of those before it (`index` of them), without its arrays.
inline void add_work(Arrival& all, const Arrival& arrival, std::size_t index) {
  if (index == 0) {
    all.method = arrival.method;
    all.backend = arrival.backend;
    all.precision = arrival.precision;
    all.setup_seconds = arrival.setup_seconds;
  }
  all.threads = std::max(all.threads, arrival.threads);
  all.solve_seconds += arrival.solve_seconds;
  all.transfer_seconds += arrival.transfer_seconds;
  all.counters.local_solves += arrival.counters.local_solves;
  all.counters.rounds += arrival.counters.rounds;
  all.converged = all.converged && arrival.converged;
  if (arrival.residual && (!all.residual || arrival.residual->worst > all.residual->worst))
    all.residual = arrival.residual;
  for (const auto& note : arrival.notes)
    if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) all.notes.push_back(note);
}

}  // namespace isochron
