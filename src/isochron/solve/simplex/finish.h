// What is recovered in one pass after a schedule has ended: the residual, the upwind weights, and who reached whom.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// The fixed-point check. `pinned[v]` marks the seeds, vertices that start with a time: they may be earlier than their
/// elements say, not later, and not later than their own time either. Only the first `vertices` are checked.
template <class Relax>
Residual residual_pass(const Relax& relax, const std::vector<std::uint8_t>& pinned,
                       const std::vector<SeedTime<typename Relax::Scalar>>& seeds, double limit, int threads,
                       std::size_t vertices = std::numeric_limits<std::size_t>::max()) {
  using T = typename Relax::Scalar;
  const auto& problem = relax.problem();
  const std::size_t checked = std::min(vertices, problem.vertex_count);
  constexpr T inf = std::numeric_limits<T>::infinity();
  struct Part {
    double worst = 0;
    std::uint32_t vertex = VertexId::invalid_value;
  };
  std::vector<Part> parts(static_cast<std::size_t>(std::max(1, threads)));
  const StoppableLoop loop;
  parallel_region(threads, [&](int thread, int team) {
    Part& part = parts[thread];
    std::uint64_t solves = 0;
    loop(checked * thread / team, checked * (thread + 1) / team, [&](std::size_t i) {
      const auto v = static_cast<std::uint32_t>(i);
      const T now = relax.times().load(v);
      const T again = relax.pull(v, solves);
      if (now == again) return;
      if (pinned[v] != 0 && !(again < now)) return;
      const double difference = now < inf && again < inf ? counted_difference(now, again, problem.edge[v])
                                                         : std::numeric_limits<double>::infinity();
      if (difference > part.worst) part = {difference, v};
    });
  });
  for (const auto& [v, time] : seeds) {
    const T now = relax.times().load(v);
    if (now <= time) continue;
    const double difference = counted_difference(now, time, problem.edge[v]);
    if (difference > parts[0].worst) parts[0] = {difference, v};
  }
  Residual result;
  result.limit = limit;
  for (const Part& part : parts)
    if (part.worst > result.worst) {
      result.worst = part.worst;
      result.worst_vertex = VertexId(problem.user(part.vertex));
    }
  return result;
}

/// Finds the source of every vertex (−1: unreached). `label` holds the sources of the seeds that kept their time, −1
/// elsewhere. A vertex inherits from the earliest of the vertices its first arrival came from: that one is earlier than
/// itself, so the chain ends at a seed. Only the first `vertices` inherit: others may get a label from outside, and
/// then `spread` goes on from there.
template <class Relax>
class LabelSpreader {
  using T = typename Relax::Scalar;

 public:
  LabelSpreader(const Relax& relax, std::vector<std::int32_t>& label, int threads,
                std::size_t vertices = std::numeric_limits<std::size_t>::max())
      : relax_(relax),
        label_(label),
        vertices_(std::min(vertices, relax.problem().vertex_count)),
        parent_(relax.problem().vertex_count, none) {
    stoppable_for(threads, vertices_, [&](std::size_t i) { find_parent(static_cast<std::uint32_t>(i)); });
  }

  void spread() {
    follow_parents();
    // Only zero-length edges leave a reached vertex without an earlier parent: it shares its neighbour's time and
    // source, and so do those behind it.
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& record : relax_.problem().elements)
        for (std::size_t a = 0; a < record.corner.size(); ++a)
          for (std::size_t b = 0; b < record.corner.size(); ++b)
            if (share_label(record.vertex(static_cast<int>(a)), record.vertex(static_cast<int>(b)))) changed = true;
      if (changed) follow_parents();
    }
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;

  void find_parent(std::uint32_t v) {
    const T time = relax_.times().load(v);
    if (label_[v] >= 0 || !(time < std::numeric_limits<T>::infinity())) return;
    const auto from = relax_.pull_with_weights(v);
    T earliest = time;
    for (int k = 0; k < from.count; ++k) {
      const T candidate = relax_.times().load(from.vertex[k]);
      if (!(from.weight[k] > T(0)) || !(candidate < earliest)) continue;
      earliest = candidate;
      parent_[v] = from.vertex[k];
    }
  }

  void follow_parents() {
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      std::uint32_t end = v;
      path_.clear();
      for (; label_[end] < 0 && parent_[end] != none; end = parent_[end]) path_.push_back(end);
      for (const std::uint32_t p : path_) label_[p] = label_[end];
    }
  }

  bool share_label(std::uint32_t from, std::uint32_t to) {
    const T time = relax_.times().load(to);
    if (to >= vertices_ || label_[to] >= 0 || parent_[to] != none || label_[from] < 0 ||
        !(time < std::numeric_limits<T>::infinity()) || relax_.times().load(from) > time)
      return false;
    label_[to] = label_[from];
    return true;
  }

  const Relax& relax_;
  std::vector<std::int32_t>& label_;
  std::size_t vertices_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> path_;
};

/// The vertices and weights each reached vertex has its time from, in the user's numbering.
template <class Relax>
std::vector<Upwind> upwind_pass(const Relax& relax, const std::vector<std::uint8_t>& pinned, int threads) {
  const auto& problem = relax.problem();
  std::vector<Upwind> result(problem.vertex_count);
  stoppable_for(threads, problem.vertex_count, [&](std::size_t i) {
    const auto v = static_cast<std::uint32_t>(i);
    if (pinned[v] != 0) return;
    const auto from = relax.pull_with_weights(v);
    Upwind& upwind = result[problem.user(v)];
    for (int k = 0; k < from.count; ++k) {
      upwind.vertices[k] = VertexId(problem.user(from.vertex[k]));
      upwind.weights[k] = static_cast<float>(from.weight[k]);
    }
  });
  return result;
}

}  // namespace isochron
