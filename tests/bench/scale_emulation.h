// The schedule of a distributed solve on real parts of a real mesh, all ranks played by one thread: what the counts and
// the simulation of bench/paper/scale_*.cpp are compared with.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "isochron/parts.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron::bench {

enum class EmulatedRule {
  quiet,  ///< a band is repeated until no rank has work in it
  meet    ///< every round is the next band that has work; late values go into it
};

struct Emulated {
  std::uint64_t bands = 0, rounds = 0, messages = 0, values = 0, halo = 0;
  std::uint64_t pairs = 0;  ///< of ranks with a message, band by band: messages if each band had one round
  std::uint64_t pushes = 0, ghost_pushes = 0;  ///< from owned vertices and from ghosts
  std::uint64_t solves = 0, ghost_solves = 0;  ///< local solves of those
  std::vector<double> times;                   ///< of the whole mesh
};

/// One rank: its part, its copies of times, and its vertices to push from in buckets of half an edge, as the solver has
/// them.
class EmulatedRank {
 public:
  using Problem = SimplexProblem<double, 4>;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  EmulatedRank(const TetMesh& mesh, const Metric& metric, std::span<const std::uint32_t> rank_of, std::uint32_t rank)
      : part_(cut_part(mesh, rank_of, rank)), problem_(prepare_topology<double, 4>(part_.mesh, KeepOrder::yes, 1)) {
    std::vector<ElementId> elements;
    for (const std::uint64_t e : part_.global_element) elements.emplace_back(e);
    apply_metric(problem_, part_.mesh, metric.of(elements), 1);
    time_.assign(part_.mesh.vertex_count(), infinity);
    bucket_of_.assign(part_.mesh.vertex_count(), none);
    for (std::size_t v = 0; v < part_.global_vertex.size(); ++v)
      local_[part_.global_vertex[v]] = static_cast<std::uint32_t>(v);
  }

  [[nodiscard]] const MeshPart<4>& part() const { return part_; }
  [[nodiscard]] double time(std::size_t v) const { return time_[v] * problem_.unit; }
  /// The earliest that waits.
  [[nodiscard]] double next_time() const {
    double first = infinity;
    for (const auto& [number, bucket] : buckets_) {
      for (const std::uint32_t v : bucket)
        if (bucket_of_[v] == number) first = std::min(first, time(v));
      if (first < infinity) break;
    }
    return first;
  }

  void offer(std::uint64_t global, double time) {
    const auto it = local_.find(global);
    if (it != local_.end()) lower(it->second, time / problem_.unit);
  }

  /// Pushes everything before `end`; calls `reached` with the number and time of owned vertices, each time one is
  /// pushed.
  void drain(double end, Emulated& counts, const std::function<void(std::uint64_t, double)>& reached) {
    const Relaxer<double, 4, PlainTimes<double>> relax(problem_, PlainTimes<double>{time_.data()});
    for (auto it = buckets_.begin(); it != buckets_.end() && static_cast<double>(it->first) * bucket_width() < end;) {
      const auto [number, bucket] = *it;
      std::vector<std::uint32_t> later;
      it->second.clear();
      for (const std::uint32_t v : bucket) {
        if (bucket_of_[v] != number) continue;  // it was lowered since and waits in an earlier bucket
        if (time(v) >= end) {
          later.push_back(v);
          continue;
        }
        bucket_of_[v] = none;
        push(relax, v, counts, reached);
      }
      it->second.insert(it->second.end(), later.begin(), later.end());
      const bool done = it->second.size() == later.size();
      if (it->second.empty()) buckets_.erase(it);
      it = buckets_.begin();
      if (done && it != buckets_.end() && it->first == number) break;  // the rest lies beyond the band
    }
  }

 private:
  static constexpr std::int64_t none = -1;

  [[nodiscard]] double bucket_width() const { return 0.5 * problem_.mean_edge * problem_.unit; }

  template <class Relax>
  void push(const Relax& relax, std::uint32_t v, Emulated& counts,
            const std::function<void(std::uint64_t, double)>& reached) {
    const bool owned = part_.owns(VertexId(v));
    if (owned) reached(part_.global_vertex[v], time(v));
    const std::uint64_t solves = relax.push(v, infinity, [&](std::uint32_t target, double candidate) {
      if (part_.owns(VertexId(target))) lower(target, candidate);  // a ghost's time comes from its owner
    });
    (owned ? counts.pushes : counts.ghost_pushes) += 1;
    (owned ? counts.solves : counts.ghost_solves) += solves;
  }

  /// A vertex that waits takes any gain, one that was pushed only what counts.
  void lower(std::uint32_t v, double time) {
    const double least = bucket_of_[v] == none && time_[v] < infinity ? 1e-6 * problem_.edge[v] : 0;
    if (!(time < time_[v] - least)) return;
    time_[v] = time;
    const auto number = static_cast<std::int64_t>(time * problem_.unit / bucket_width());
    if (bucket_of_[v] == number) return;
    bucket_of_[v] = number;
    buckets_[number].push_back(v);
  }

  MeshPart<4> part_;
  Problem problem_;
  std::vector<double> time_;
  std::map<std::uint64_t, std::uint32_t> local_;
  std::map<std::int64_t, std::vector<std::uint32_t>> buckets_;  ///< entries that `bucket_of_` does not name are stale
  std::vector<std::int64_t> bucket_of_;
};

/// Solves from one vertex; `width` of a band in units of time.
inline Emulated emulate(const TetMesh& mesh, const Metric& metric, std::span<const std::uint32_t> rank_of,
                        std::uint32_t ranks, VertexId source, double width, EmulatedRule rule) {
  std::vector<EmulatedRank> rank;
  for (std::uint32_t r = 0; r < ranks; ++r) rank.emplace_back(mesh, metric, rank_of, r);
  Emulated counts;
  std::map<std::uint64_t, std::vector<std::uint32_t>> copies;  // who else holds a vertex
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const MeshPart<4>& part = rank[r].part();
    for (std::size_t v = part.owned; v < part.global_vertex.size(); ++v) copies[part.global_vertex[v]].push_back(r);
    counts.halo += part.global_vertex.size() - part.owned;
  }
  rank[rank_of[source.index()]].offer(source.index(), 0);
  std::set<std::int64_t> bands;
  std::int64_t last = -1;
  std::set<std::array<std::int64_t, 3>> pairs;
  while (true) {
    double first = EmulatedRank::infinity;
    for (const EmulatedRank& r : rank) first = std::min(first, r.next_time());
    if (first == EmulatedRank::infinity) break;
    auto band = static_cast<std::int64_t>(first / width);
    if (rule == EmulatedRule::meet) band = std::max(band, last + 1);
    last = band;
    bands.insert(band);
    ++counts.rounds;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint64_t, double>> sent;
    for (std::uint32_t r = 0; r < ranks; ++r)
      rank[r].drain(static_cast<double>(band + 1) * width, counts, [&](std::uint64_t v, double time) {
        if (const auto it = copies.find(v); it != copies.end())
          for (const std::uint32_t to : it->second) sent[{r, to}][v] = time;
      });
    counts.messages += sent.size();
    for (const auto& [pair, values] : sent) {
      counts.values += values.size();
      pairs.insert({band, pair.first, pair.second});
      for (const auto& [v, time] : values) rank[pair.second].offer(v, time);
    }
  }
  counts.bands = bands.size();
  counts.pairs = pairs.size();
  counts.times.resize(mesh.vertex_count());
  for (const EmulatedRank& r : rank)
    for (std::size_t v = 0; v < r.part().owned; ++v) counts.times[r.part().global_vertex[v]] = r.time(v);
  return counts;
}

}  // namespace isochron::bench
