#include "isochron/connect.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "isochron/connect/work.h"
#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/path.h"
#include "isochron/solver.h"

namespace isochron {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Regions that have voxels in the mask, as sources, and where they stand among all.
struct Ends {
  std::vector<Sources> sources;
  std::vector<std::size_t> place;
};

Ends ends_in_mask(const GridDomain& domain, std::span<const LabelledRegion> regions) {
  Ends ends;
  std::vector<bool> taken(domain.grid.voxel_count(), false);
  for (std::size_t i = 0; i < regions.size(); ++i) {
    Sources sources;
    for (const VertexId v : regions[i].region.voxels) {
      if (!domain.mask.empty() && domain.mask[v.index()] == 0) continue;
      if (taken[v.index()])
        throw InputError(fmt::format("'{}' overlaps another region (voxel {} is in both); give regions that are apart",
                                     regions[i].region.name, v.value));
      taken[v.index()] = true;
      sources.vertices.push_back({v, 0});
    }
    if (sources.empty()) continue;
    ends.sources.push_back(std::move(sources));
    ends.place.push_back(i);
  }
  if (ends.place.size() < 2)
    throw InputError(
        fmt::format("a connectome needs two regions or more (regions: {}, with voxels in the mask: {}); "
                    "give other labels or a wider mask",
                    regions.size(), ends.place.size()));
  return ends;
}

VertexId cheapest(const Sources& region, const std::vector<double>& times) {
  const auto best = std::min_element(
      region.vertices.begin(), region.vertices.end(),
      [&](const VertexSource& a, const VertexSource& b) { return times[a.vertex.index()] < times[b.vertex.index()]; });
  return best->vertex.in_whole();
}

/// Takes the field of each region and notes what it says of the others.
class Matrices {
 public:
  Matrices(const GridDomain& domain, const TensorField* tensors, const Ends& ends, int threads, Connectome& result)
      : domain_(domain),
        tensors_(tensors),
        ends_(ends),
        threads_(threads),
        result_(result),
        one_way_(result.size() * result.size(), infinity) {
    for (std::vector<double>* matrix : {&result.cost, &result.length, &result.normalised}) {
      matrix->assign(result.size() * result.size(), infinity);
      for (std::size_t i = 0; i < result.size(); ++i) (*matrix)[at(i, i)] = 0;
    }
    if (tensors != nullptr) result.anisotropy.assign(result.size() * result.size(), 0);
  }

  void take(std::size_t end, const Arrival& arrival) {
    const std::size_t i = ends_.place[end];
    const GridPathTracer tracer(domain_.grid, domain_.metric, domain_.mask, arrival.times, ends_.sources[end]);
    std::atomic<std::size_t> next{0}, unfinished{0};
    // On the GPU nobody else has work now; on the CPU others solve meanwhile, and this is one thread.
    parallel_region(threads_, [&](int, int) {
      for (std::size_t other; (other = next++) < ends_.place.size();)
        if (other != end && !note_pair(i, other, arrival, tracer)) ++unfinished;
    });
    result_.unfinished += unfinished;
    add_work(result_.work, arrival, result_.solves++);
  }

  /// After the last.
  void finish() {
    double difference = 0;
    for (std::size_t i = 0; i < result_.size(); ++i) {
      for (std::size_t j = i + 1; j < result_.size(); ++j) {
        const double there = one_way_[at(i, j)], back = one_way_[at(j, i)], length = result_.length[at(i, j)];
        const double cost = 0.5 * (there + back);
        if (!std::isfinite(cost)) {
          ++result_.unconnected;
          result_.length[at(i, j)] = result_.length[at(j, i)] = infinity;
          if (tensors_ != nullptr) result_.anisotropy[at(i, j)] = result_.anisotropy[at(j, i)] = 0;
          continue;
        }
        difference += std::abs(there - back) / cost;
        result_.cost[at(i, j)] = result_.cost[at(j, i)] = cost;
        result_.normalised[at(i, j)] = result_.normalised[at(j, i)] = cost / length;
      }
    }
    const std::size_t joined = result_.pairs() - result_.unconnected;
    result_.asymmetry = joined > 0 ? difference / static_cast<double>(joined) : 0;
  }

 private:
  /// False when there is a path that could not be traced to its end.
  bool note_pair(std::size_t i, std::size_t other, const Arrival& arrival, const GridPathTracer& tracer) {
    const std::size_t j = ends_.place[other];
    const VertexId nearest = cheapest(ends_.sources[other], arrival.times);
    one_way_[at(i, j)] = arrival.times[nearest.index()];
    if (j < i || !std::isfinite(one_way_[at(i, j)])) return true;
    // 80 regions have 3,160 paths, and to make one quicker takes fifty times as long as to trace it.
    const Path path = tracer.from(domain_.grid.position(nearest), {Shorten::no});
    result_.length[at(i, j)] = result_.length[at(j, i)] = path.length;
    if (tensors_ != nullptr)
      result_.anisotropy[at(i, j)] = result_.anisotropy[at(j, i)] =
          path_statistics(path.points, *tensors_, domain_.metric).mean_anisotropy;
    return path.end == PathEnd::source;
  }
  [[nodiscard]] std::size_t at(std::size_t row, std::size_t column) const { return row * result_.size() + column; }

  const GridDomain& domain_;
  const TensorField* tensors_;
  const Ends& ends_;
  int threads_;
  Connectome& result_;
  std::vector<double> one_way_;
};

}  // namespace

Connectome connect_all(const GridDomain& domain, std::span<const LabelledRegion> regions, const SolveOptions& options,
                       const TensorField* tensors) {
  const Ends ends = ends_in_mask(domain, regions);
  Connectome result;
  for (const LabelledRegion& region : regions) result.labels.push_back(region.label);
  SolveOptions solve_options = options;
  solve_options.sources = Keep::no;
  Solver solver(domain, solve_options);
  const int threads = options.backend == Backend::serial ? 1 : options.threads;
  Matrices matrices(domain, tensors, ends, threads > 0 ? threads : hardware_threads(), result);
  solver.solve_many(ends.sources, [&](std::size_t i, Arrival&& arrival) { matrices.take(i, arrival); });
  matrices.finish();
  return result;
}

namespace {

/// Indices into `points`: each the farthest from all before it, the first from the middle.
std::vector<std::size_t> farthest_points(const std::vector<Vec3d>& points, std::size_t count) {
  Vec3d middle;
  for (const Vec3d& p : points) middle += p;
  middle = middle / static_cast<double>(points.size());
  std::vector<double> distance2(points.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> chosen;
  const auto farthest_from = [&](const Vec3d& last) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3d d = points[i] - last;
      distance2[i] = std::min(distance2[i], dot(d, d));
      if (distance2[i] > distance2[best]) best = i;
    }
    return best;
  };
  chosen.push_back(farthest_from(middle));
  std::fill(distance2.begin(), distance2.end(), std::numeric_limits<double>::infinity());
  while (chosen.size() < count) chosen.push_back(farthest_from(points[chosen.back()]));
  return chosen;
}

}  // namespace

std::vector<std::int32_t> make_parcels(const ImageGrid& grid, std::span<const std::uint8_t> mask, std::size_t count,
                                       const SolveOptions& options) {
  if (count == 0) throw UsageError("0 parcels cannot be made; give at least 1");
  std::vector<VertexId> voxels;
  std::vector<Vec3d> points;
  for (std::size_t v = 0; v < mask.size(); ++v) {
    if (mask[v] == 0) continue;
    voxels.push_back(VertexId(v));
    points.push_back(grid.position(VertexId(v)));
  }
  if (voxels.size() < count)
    throw InputError(
        fmt::format("the mask cannot be cut into {} parcels (voxels: {}); ask for fewer", count, voxels.size()));
  Sources seeds;
  for (const std::size_t i : farthest_points(points, count)) seeds.vertices.push_back({voxels[i], 0});
  const Metric even = Metric::isotropic(1);
  SolveOptions solve_options = options;
  solve_options.sources = Keep::yes;
  const Arrival arrival = Solver(GridDomain{grid, even, mask}, solve_options).solve(seeds);
  std::vector<std::int32_t> labels(mask.size(), 0);
  for (std::size_t v = 0; v < labels.size(); ++v) labels[v] = arrival.source[v] + 1;  // −1 where unreached
  return labels;
}

}  // namespace isochron
