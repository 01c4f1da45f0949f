// What is recovered in one pass after a schedule has ended: the residual, the upwind weights, and who reached whom.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/label_spread.h"
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
      result.worst_vertex = problem.user(part.vertex);
    }
  return result;
}

/// Finds the source of every vertex (−1: unreached). `label` holds the sources of the seeds that kept their time, −1
/// elsewhere. A vertex has its source from the earlier ones of the vertices its first arrival came from, see
/// `LabelSpread`. Only the first `vertices` are looked at: others may be given a label, and then `adopt` goes on from
/// there.
template <class Relax>
class LabelSpreader {
  using T = typename Relax::Scalar;

 public:
  LabelSpreader(const Relax& relax, std::vector<std::int32_t>& label, int threads,
                std::size_t vertices = std::numeric_limits<std::size_t>::max())
      : relax_(relax),
        label_(label),
        vertices_(std::min(vertices, relax.problem().vertex_count)),
        from_(vertices_),
        labels_(label, Upwind{&from_}) {
    stoppable_for(threads, vertices_, [&](std::size_t i) { find_upwind(static_cast<std::uint32_t>(i)); });
    for (std::size_t v = 0; v < relax.problem().vertex_count; ++v)
      if (v >= vertices_ || !reached(static_cast<std::uint32_t>(v))) labels_.leave_out(static_cast<std::uint32_t>(v));
  }

  void spread() {
    start();
    adopt(Adopting::any);
    finish();
  }
  void start() {
    // The rest is little work, and threads would meet on the way to the sources.
    labels_.run(
        vertices_, [](std::size_t k) { return static_cast<std::uint32_t>(k); }, 1);
  }

  void finish() { labels_.finish(); }
  [[nodiscard]] LabelMix mix(std::uint32_t v) { return labels_.mix(v); }
  void give(std::uint32_t v, const LabelMix& mix) { labels_.give(v, mix); }
  bool adopt(Adopting which) { return labels_.adopt(which, Around{relax_, vertices_}); }

 private:
  struct Upwind {
    static constexpr int most = 3;
    const std::vector<UpwindVertices<most>>* from;
    const UpwindVertices<most>& operator()(std::uint32_t v) const { return (*from)[v]; }
  };

  [[nodiscard]] bool reached(std::uint32_t v) const {
    return relax_.times().load(v) < std::numeric_limits<T>::infinity();
  }

  void find_upwind(std::uint32_t v) {
    if (label_[v] >= 0 || !reached(v)) return;
    const T time = relax_.times().load(v);
    const auto pulled = relax_.pull_with_weights(v);
    for (int k = 0; k < pulled.count; ++k)
      if (pulled.weight[k] > T(0) && relax_.times().load(pulled.vertex[k]) < time)
        from_[v].add(pulled.vertex[k], static_cast<float>(pulled.weight[k]));
  }

  /// What `LabelSpread::adopt` asks for.
  struct Around {
    const Relax& relax;
    std::size_t vertices;

    [[nodiscard]] double time(std::uint32_t v) const { return static_cast<double>(relax.times().load(v)); }
    [[nodiscard]] bool owns(std::uint32_t v) const { return v < vertices; }
    template <class Visit>
    void for_takers(std::uint32_t v, Visit&& visit) const {
      const auto& problem = relax.problem();
      for (const std::uint32_t incidence : problem.adjacency.at(VertexId(v)))
        for (int c = 0; c < static_cast<int>(problem.elements[0].corner.size()); ++c)
          visit(problem.elements[incidence >> 2].vertex(c));
    }
    template <class Visit>
    void for_givers(std::uint32_t v, Visit&& visit) const {
      for_takers(v, visit);
      const auto pulled = relax.pull_with_weights(v);  // through virtual elements too
      for (int k = 0; k < pulled.count; ++k) visit(pulled.vertex[k]);
    }
  };

  const Relax& relax_;
  std::vector<std::int32_t>& label_;
  std::size_t vertices_;
  std::vector<UpwindVertices<Upwind::most>> from_;
  LabelSpread<Upwind> labels_;
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
    Upwind& upwind = result[problem.user(v).index()];
    for (int k = 0; k < from.count; ++k) {
      upwind.vertices[k] = problem.user(from.vertex[k]);
      upwind.weights[k] = static_cast<float>(from.weight[k]);
    }
  });
  return result;
}

}  // namespace isochron
