#include "isochron/solve/common/arrival_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochron {

void take_worse(const Residual& part, Residual& residual) {
  if (part.worst * residual.limit > residual.worst * part.limit) {
    residual.worst = part.worst;
    residual.limit = part.limit;
    residual.worst_vertex = part.worst_vertex;
  }
  if (part.share_below * residual.max_share_below > residual.share_below * part.max_share_below) {
    residual.share_below = part.share_below;
    residual.max_share_below = part.max_share_below;
    residual.vertex_below = part.vertex_below;
  }
}

void take_earlier(Arrival&& part, Arrival& arrival) {
  for (std::size_t v = 0; v < part.times.size(); ++v) {
    if (!(part.times[v] < arrival.times[v])) continue;
    arrival.times[v] = part.times[v];
    if (!part.source.empty()) arrival.source[v] = part.source[v];
    if (!part.upwind.empty()) arrival.upwind[v] = part.upwind[v];
  }
  arrival.counters.local_solves += part.counters.local_solves;
  arrival.counters.vertex_updates += part.counters.vertex_updates;
  arrival.counters.rounds += part.counters.rounds;
  arrival.solve_seconds += part.solve_seconds;
  arrival.converged = arrival.converged && part.converged;
  if (part.residual && arrival.residual) take_worse(*part.residual, *arrival.residual);
}

void summarise(Arrival& arrival) {
  arrival.reached = 0;
  arrival.max_time = -std::numeric_limits<double>::infinity();
  for (const double time : arrival.times) {
    if (!std::isfinite(time)) continue;
    ++arrival.reached;
    arrival.max_time = std::max(arrival.max_time, time);
  }
  arrival.unreached = arrival.times.size() - arrival.reached;
}

void describe_sources(SourceInit init, std::span<const Seed> seeds, Arrival& arrival) {
  const BallCount count = count_balls(seeds);
  arrival.source_init = init;
  arrival.point_sources = count.sources;
  arrival.source_balls = init == SourceInit::ball ? count.balls : 0;
}

void check_factored_count(std::size_t sources) {
  constexpr std::size_t most = 64;
  if (sources > most) throw FactoringFailed("factored sources are solved one by one, and there are more than 64");
}

}  // namespace isochron
