#include "isochron/solve/common/arrival_parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <type_traits>

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

std::size_t count_changed(std::span<const double> before, std::span<const double> after) {
  std::size_t changed = 0;
  for (std::size_t v = 0; v < std::min(before.size(), after.size()); ++v) changed += before[v] != after[v] ? 1 : 0;
  return changed;
}

void describe_sources(SourceInit init, std::span<const Seed> seeds, Arrival& arrival) {
  const BallCount count = count_balls(seeds);
  arrival.source_init = init;
  arrival.point_sources = count.sources;
  arrival.source_balls = init == SourceInit::ball ? count.balls : 0;
}

namespace {

/// What becomes of sources whose places are `place(source)`; the first of those after has this index.
template <class Source, class Place>
void add_fates(std::span<const Source> before, std::span<const Source> after, std::size_t index, const Place& place,
               std::vector<SourceFate>& fates) {
  using Key = std::decay_t<decltype(place(before[0]))>;
  std::multimap<Key, std::size_t> places;
  for (std::size_t i = 0; i < after.size(); ++i) places.emplace(place(after[i]), i);
  for (const Source& source : before) {
    SourceFate& fate = fates.emplace_back();
    for (auto [same, end] = places.equal_range(place(source)); same != end; ++same) {
      const double time = after[same->second].time;
      fate.lost = fate.lost && time > source.time;
      if (time == source.time && fate.now < 0) fate.now = static_cast<std::int32_t>(index + same->second);
    }
  }
}

}  // namespace

std::vector<SourceFate> fates_of_sources(const Sources& before, const Sources& after) {
  std::vector<SourceFate> fates;
  fates.reserve(before.count());
  add_fates<VertexSource>(
      before.vertices, after.vertices, 0, [](const auto& s) { return s.vertex.value; }, fates);
  add_fates<PointSource>(
      before.points, after.points, after.vertices.size(),
      [](const auto& s) {
        return std::array{s.position.x, s.position.y, s.position.z};
      },
      fates);
  if (before.level_set.empty()) return fates;
  const bool same = before.level_set == after.level_set;
  fates.push_back({same ? static_cast<std::int32_t>(after.vertices.size() + after.points.size()) : -1, !same});
  return fates;
}

bool mostly_lost(const Arrival& before, std::span<const SourceFate> fates, double share) {
  const auto lost = [](const SourceFate& fate) { return fate.lost; };
  if (std::all_of(fates.begin(), fates.end(), lost)) return true;
  if (std::none_of(fates.begin(), fates.end(), lost)) return false;
  const auto count = std::count_if(before.source.begin(), before.source.end(), [&](std::int32_t source) {
    return source >= 0 && static_cast<std::size_t>(source) < fates.size() &&
           fates[static_cast<std::size_t>(source)].lost;
  });
  return static_cast<double>(count) > share * static_cast<double>(before.source.size());
}

void check_factored_count(std::size_t sources) {
  constexpr std::size_t most = 64;
  if (sources > most) throw FactoringFailed("factored sources are solved one by one, and there are more than 64");
}

}  // namespace isochron
