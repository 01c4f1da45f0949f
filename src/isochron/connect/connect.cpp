#include "isochron/connect.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/connect/work.h"
#include "isochron/error.h"
#include "isochron/path.h"

namespace isochron {
namespace {

/// A solve from one end through the first waypoints to everywhere.
struct Stage {
  Sources sources;
  std::vector<double> times;
};

Sources sources_at(const Region& region) {
  Sources sources;
  for (const VertexId v : region.voxels) sources.vertices.push_back({v, 0});
  return sources;
}

/// A waypoint starts where and when the stage before arrived.
Sources sources_at(const Region& waypoint, const std::vector<double>& arrived) {
  Sources sources;
  for (const VertexId v : waypoint.voxels)
    if (std::isfinite(arrived[v.index()])) sources.vertices.push_back({v, arrived[v.index()]});
  return sources;
}

VertexId cheapest(const Region& region, const std::vector<double>& cost) {
  return *std::min_element(region.voxels.begin(), region.voxels.end(),
                           [&](VertexId a, VertexId b) { return cost[a.index()] < cost[b.index()]; });
}

double min_in(const Region& region, const std::vector<double>& cost) { return cost[cheapest(region, cost).index()]; }

std::size_t reached_voxels(const std::vector<double>& times) {
  return static_cast<std::size_t>(
      std::count_if(times.begin(), times.end(), [](double time) { return std::isfinite(time); }));
}

[[noreturn]] void throw_apart(const Region& a, std::size_t around_a, const Region& b, std::size_t around_b) {
  throw NoAnswerError(
      fmt::format("there is no path between '{}' and '{}' (they lie in parts of the mask that do not touch, of {} and "
                  "{} voxels); widen the mask or move a region",
                  a.name, b.name, around_a, around_b));
}

void check(const ConnectQuery& query) {
  if (!(query.epsilon >= 0 && std::isfinite(query.epsilon)))
    throw UsageError(
        fmt::format("epsilon {} cannot be used (it is a share of the least cost); give 0 or more, usually "
                    "0.05",
                    query.epsilon));
  check_apart(query.from, query.to);
}

/// Keeps the parts of the pathway that hold voxels of both regions.
void keep_joining_parts(const ImageGrid& grid, const ConnectQuery& query, Connection& result) {
  const Components parts = find_components(grid, result.pathway);
  if (parts.sizes.size() <= 1) return;
  const auto held = [&](const Region& region) {
    std::vector<bool> found(parts.sizes.size(), false);
    for (const VertexId v : region.voxels)
      if (const std::int32_t part = parts.of_voxel[v.index()]; part >= 0) found[static_cast<std::size_t>(part)] = true;
    return found;
  };
  const std::vector<bool> at_from = held(query.from), at_to = held(query.to);
  std::size_t dropped = 0;
  for (std::size_t v = 0; v < result.pathway.size(); ++v) {
    if (result.pathway[v] == 0) continue;
    const auto part = static_cast<std::size_t>(parts.of_voxel[v]);
    if (at_from[part] && at_to[part]) continue;
    result.pathway[v] = 0;
    ++dropped;
  }
  if (dropped > 0)
    result.notes.push_back(fmt::format(
        "the pathway fell apart into {} parts; those that do not join the regions were dropped (voxels: {})",
        parts.sizes.size(), dropped));
}

/// Costs are exact only up to the grid's resolution, so a small epsilon can miss voxels between the regions. A pathway
/// holds the best path whatever epsilon is (paper 004), so it is then widened until it joins them.
void find_pathway(const ImageGrid& grid, const ConnectQuery& query, Connection& result) {
  double most = (1 + query.epsilon) * result.least_cost;
  const double joining = joining_level(grid, result.cost, query.from.voxels, query.to.voxels);
  if (joining > most && std::isfinite(joining)) {
    most = joining;
    result.notes.push_back(fmt::format(
        "the pathway of epsilon {:g} is finer than the grid resolves and does not join the regions; it was widened to "
        "{:.3g}",
        query.epsilon, most / result.least_cost - 1));
  }
  result.pathway_epsilon = most / result.least_cost - 1;
  result.pathway.resize(result.cost.size());
  for (std::size_t v = 0; v < result.cost.size(); ++v) result.pathway[v] = result.cost[v] <= most ? 1 : 0;
  keep_joining_parts(grid, query, result);
  result.pathway_voxels = static_cast<std::size_t>(std::count(result.pathway.begin(), result.pathway.end(), 1));
  const double voxel = std::abs(dot(grid.axes[0], cross(grid.axes[1], grid.axes[2])));
  result.pathway_volume = static_cast<double>(result.pathway_voxels) * voxel;
}

/// Where an end of the path may be: a single voxel is a place, its middle.
std::span<const VertexId> free_end(const Region& region) {
  return region.voxels.size() > 1 ? std::span<const VertexId>(region.voxels) : std::span<const VertexId>();
}

/// Follows the stages back from the end, each to its own sources, where the one before goes on. The path is free to
/// leave `from` and to enter `to` where it likes; between the stages it passes the middle of a voxel.
Path trace_back(const GridDomain& domain, const std::vector<Stage>& stages, const ConnectQuery& query,
                std::vector<std::string>& notes) {
  Path joined;
  VertexId at = cheapest(query.to, stages.back().times);
  for (std::size_t s = stages.size(); s-- > 0;) {
    EndRegions regions;
    if (s + 1 == stages.size()) regions.start = free_end(query.to);
    if (s == 0) regions.finish = free_end(query.from);
    const GridPathTracer tracer(domain.grid, domain.metric, domain.mask, stages[s].times, stages[s].sources);
    const Path leg = tracer.from(domain.grid.position(at), {}, regions);
    const std::size_t skip = joined.points.empty() ? 0 : 1;  // the joint is in both legs
    joined.points.insert(joined.points.end(), leg.points.begin() + static_cast<std::ptrdiff_t>(skip), leg.points.end());
    joined.times.insert(joined.times.end(), leg.times.begin() + static_cast<std::ptrdiff_t>(skip), leg.times.end());
    joined.length += leg.length;
    joined.travel_time += leg.travel_time;
    joined.bridges += leg.bridges;
    if (leg.end != PathEnd::source || leg.source < 0) {
      joined.end = leg.end;
      joined.why = leg.why;
      notes.push_back(fmt::format("the path does not reach its beginning ({}); use it with care", leg.why));
      break;
    }
    at = stages[s].sources.vertices[static_cast<std::size_t>(leg.source)].vertex.in_whole();
  }
  std::reverse(joined.points.begin(), joined.points.end());
  std::reverse(joined.times.begin(), joined.times.end());
  return joined;
}

}  // namespace

std::vector<std::uint8_t> path_mask(std::span<const std::uint8_t> usable, std::span<const Region> exclude,
                                    std::span<const Region> stop, const Region& from, const Region& to) {
  std::vector<std::uint8_t> mask(usable.begin(), usable.end());
  const auto set = [&](const Region& region, std::uint8_t value) {
    for (const VertexId v : region.voxels) mask[v.index()] = value != 0 && usable[v.index()] != 0 ? 1 : 0;
  };
  for (const Region& region : stop) set(region, 0);
  set(from, 1);
  set(to, 1);
  for (const Region& region : exclude) set(region, 0);
  return mask;
}

Connector::Connector(GridDomain domain, const SolveOptions& options)
    : domain_(domain), solver_(domain, [&] {
        SolveOptions without = options;
        without.sources = Keep::no;
        return without;
      }()) {}

Connection Connector::connect(const ConnectQuery& query) {
  check(query);
  Connection result;
  std::vector<Stage> forward, backward;
  const std::size_t legs = query.waypoints.size() + 1;
  for (std::size_t leg = 0; leg < legs; ++leg) {
    std::array<Sources, 2> starts;
    if (leg == 0) {
      starts = {sources_at(query.from), sources_at(query.to)};
    } else {
      const Region &next = query.waypoints[leg - 1], &previous = query.waypoints[legs - 1 - leg];
      starts = {sources_at(next, forward.back().times), sources_at(previous, backward.back().times)};
      if (starts[0].empty()) throw_apart(query.from, reached_voxels(forward.front().times), next, next.voxels.size());
      if (starts[1].empty())
        throw_apart(query.to, reached_voxels(backward.front().times), previous, previous.voxels.size());
    }
    std::vector<Arrival> arrivals = solver_.solve_many(starts);
    for (Arrival& arrival : arrivals) add_work(result.work, arrival, result.solves++);
    forward.push_back({std::move(starts[0]), std::move(arrivals[0].times)});
    backward.push_back({std::move(starts[1]), std::move(arrivals[1].times)});
  }
  // Through x after `leg` waypoints: what it took to get there, and what the rest takes.
  result.cost.assign(forward.front().times.size(), std::numeric_limits<double>::infinity());
  for (std::size_t leg = 0; leg < legs; ++leg) {
    const std::vector<double>&before = forward[leg].times, &after = backward[legs - 1 - leg].times;
    for (std::size_t v = 0; v < result.cost.size(); ++v)
      result.cost[v] = std::min(result.cost[v], before[v] + after[v]);
  }
  result.least_cost = *std::min_element(result.cost.begin(), result.cost.end());
  if (!std::isfinite(result.least_cost))
    throw_apart(query.from, reached_voxels(forward.front().times), query.to, reached_voxels(backward.front().times));
  result.forward_cost = min_in(query.to, forward.back().times);
  result.backward_cost = min_in(query.from, backward.back().times);
  find_pathway(domain_.grid, query, result);
  result.path = trace_back(domain_, forward, query, result.notes);
  return result;
}

}  // namespace isochron
