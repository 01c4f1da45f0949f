#include "bench/paper/tracts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/delimited_text.h"
#include "isochron/error.h"
#include "isochron/io/text.h"
#include "tracts_text.h"

namespace isochron::bench {
namespace {

Tract tract_in(std::string_view line, std::size_t number) {
  const std::vector<std::string_view> fields = split_text(line, ",");
  if (fields.size() != 10)
    throw InputError(
        fmt::format("line {}: {} fields; give brain, name and twice x, y, z, radius", number, fields.size()));
  std::array<double, 8> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = parse_number<double>(fields[i + 2]);
    if (!value) throw InputError(fmt::format("line {}: '{}' is no number", number, fields[i + 2]));
    values[i] = *value;
  }
  return {std::string(fields[0]),
          std::string(fields[1]),
          {{values[0], values[1], values[2]}, values[3]},
          {{values[4], values[5], values[6]}, values[7]}};
}

/// Which voxels are in a region.
std::vector<bool> membership(const ImageGrid& grid, const Region& region) {
  std::vector<bool> in(grid.voxel_count(), false);
  for (const VertexId v : region.voxels) in[v.index()] = true;
  return in;
}

std::vector<bool> inside(const ImageGrid& grid, const std::vector<Vec3d>& points, const std::vector<bool>& set) {
  std::vector<bool> result;
  for (const Vec3d& p : points) {
    const auto voxel = grid.voxel_at(p);
    result.push_back(voxel && set[voxel->index()]);
  }
  return result;
}

/// Whether a point is in a voxel of the region or on its faces, where paths end that are free to enter it.
bool ends_in(const ImageGrid& grid, const Vec3d& point, const Region& region) {
  constexpr double half = 0.5 + 1e-6;
  const Vec3d at = grid.index_of(point);
  return std::any_of(region.voxels.begin(), region.voxels.end(), [&](VertexId v) {
    const auto [i, j, k] = grid.index(v);
    return std::abs(at.x - i) <= half && std::abs(at.y - j) <= half && std::abs(at.z - k) <= half;
  });
}

/// What a pathway has to be: solved soundly, joined, and its path in the mask from one end to the other.
std::optional<std::string> fault_of(const Connection& found, const Brain& brain, const ConnectQuery& query) {
  const Arrival& work = found.work;
  if (!work.converged || !work.residual || !work.residual->passed()) return "residual check";
  if (found.path.end != PathEnd::source) return "the path ends early: " + found.path.why;
  std::vector<bool> usable;
  for (const std::uint8_t u : brain.metric.usable) usable.push_back(u != 0);
  const std::vector<Vec3d>& points = found.path.points;
  const auto in_mask = inside(brain.grid, points, usable);
  if (!std::all_of(in_mask.begin(), in_mask.end(), [](bool in) { return in; })) return "the path leaves the mask";
  if (!ends_in(brain.grid, points.front(), query.from) || !ends_in(brain.grid, points.back(), query.to))
    return "the path misses an end";
  const auto touches = [&](const Region& region) {
    return std::any_of(region.voxels.begin(), region.voxels.end(),
                       [&](VertexId v) { return found.pathway[v.index()] != 0; });
  };
  if (!touches(query.from) || !touches(query.to)) return "the pathway misses an end";
  for (std::size_t v = 0; v < found.pathway.size(); ++v)
    if (found.pathway[v] != 0 && !usable[v]) return "the pathway leaves the mask";
  return std::nullopt;
}

/// Streamlines from either end to the other, cut off at the ends.
class Tracked {
 public:
  Tracked(const Brain& brain, const ConnectQuery& query, int seeds_per_axis, int threads)
      : grid_(brain.grid), in_from_(membership(grid_, query.from)), in_to_(membership(grid_, query.to)) {
    const TensorField field{brain.grid, brain.tensors, brain.metric.usable};
    StreamlineOptions options;
    options.seeds_per_axis = seeds_per_axis;
    options.threads = threads;
    add(track_streamlines(field, query.from, query.to, options));
    add(track_streamlines(field, query.to, query.from, options));
  }

  std::size_t seeds = 0;
  std::vector<std::vector<Vec3d>> lines;

 private:
  void add(const Streamlines& tracked) {
    seeds += tracked.seeds;
    for (const Streamline& line : tracked.lines) {
      if (!line.reaches) continue;
      auto piece = between_ends(line.points, inside(grid_, line.points, in_from_), inside(grid_, line.points, in_to_));
      if (!piece.empty()) lines.push_back(std::move(piece));
    }
  }

  const ImageGrid& grid_;
  std::vector<bool> in_from_, in_to_;
};

}  // namespace

std::vector<Tract> read_tracts(std::string_view text) {
  std::vector<Tract> tracts;
  std::size_t number = 0;
  for (const std::string_view line : split_text(text, "\n")) {
    ++number;
    if (!line.empty() && line.front() != '#') tracts.push_back(tract_in(line, number));
  }
  return tracts;
}

std::vector<Tract> tracts_of(const Brain& brain) {
  std::vector<Tract> tracts = read_tracts(tracts_text);
  std::erase_if(tracts, [&](const Tract& tract) { return tract.brain != brain.name; });
  return tracts;
}

std::optional<Tract> tract_named(const Brain& brain, std::string_view name) {
  for (Tract& tract : tracts_of(brain))
    if (tract.name == name) return std::move(tract);
  return std::nullopt;
}

double mean_closest_distance(const std::vector<Vec3d>& points, const std::vector<Vec3d>& others) {
  double sum = 0;
  for (const Vec3d& p : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec3d& q : others) nearest = std::min(nearest, norm(p - q));
    sum += nearest;
  }
  return sum / static_cast<double>(points.size());
}

std::vector<Vec3d> between_ends(const std::vector<Vec3d>& line, const std::vector<bool>& in_from,
                                const std::vector<bool>& in_to) {
  std::optional<std::size_t> last_from, last_to;
  std::size_t first = 0, count = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_from[i]) last_from = i;
    if (in_to[i]) last_to = i;
    if (!last_from || !last_to || (!in_from[i] && !in_to[i])) continue;
    const std::size_t start = std::min(*last_from, *last_to);
    if (count == 0 || i - start + 1 < count) {
      first = start;
      count = i - start + 1;
    }
  }
  const auto begin = line.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void note_tracts(Report& report, const Brain& brain) {
  report.note("Ends are spheres, in bench/paper/tracts.csv.");
  if (!brain.is_real()) report.note("A generated phantom is in place of the brain: " + missing_brain() + ".");
}

ConnectQuery query_of(const Brain& brain, const Tract& tract, double epsilon) {
  const auto region = [&](const SphereRegion& sphere, const char* end) {
    return inside_mask(make_region({tract.name + ", " + end, sphere}, brain.grid, {}), brain.grid, brain.metric.usable);
  };
  ConnectQuery query;
  query.from = region(tract.from, "first end");
  query.to = region(tract.to, "second end");
  query.epsilon = epsilon;
  return query;
}

FoundTract find_tract(const Brain& brain, const Tract& tract, double epsilon, const SolveOptions& options) {
  FoundTract result;
  result.query = query_of(brain, tract, epsilon);
  result.found = Connector(brain.domain(), options).connect(result.query);
  result.bad = fault_of(result.found, brain, result.query);
  return result;
}

TractComparison compare_tract(const Brain& brain, const Tract& tract, int seeds_per_axis, const SolveOptions& options) {
  FoundTract pathway = find_tract(brain, tract, ConnectQuery().epsilon, options);
  TractComparison result;
  result.found = std::move(pathway.found);
  result.bad = std::move(pathway.bad);
  const Tracked tracked(brain, pathway.query, seeds_per_axis, options.threads);
  result.seeds = tracked.seeds;
  result.reaching = tracked.lines.size();
  if (result.reaching == 0) return result;
  std::vector<Vec3d> points;
  std::vector<bool> passed(brain.grid.voxel_count(), false);
  for (const auto& line : tracked.lines)
    for (const Vec3d& p : line) {
      points.push_back(p);
      if (const auto voxel = brain.grid.voxel_at(p)) passed[voxel->index()] = true;
    }
  result.path_to_lines = mean_closest_distance(result.found.path.points, points);
  result.lines_to_path = mean_closest_distance(points, result.found.path.points);
  std::size_t both = 0, lines = 0;
  for (std::size_t v = 0; v < passed.size(); ++v) {
    lines += passed[v] ? 1 : 0;
    both += passed[v] && result.found.pathway[v] != 0 ? 1 : 0;
  }
  result.dice = 2 * static_cast<double>(both) / static_cast<double>(lines + result.found.pathway_voxels);
  result.lines_inside = static_cast<double>(both) / static_cast<double>(lines);
  return result;
}

}  // namespace isochron::bench
