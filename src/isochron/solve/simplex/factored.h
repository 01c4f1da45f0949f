// Relax steps with additive factoring of one point source: the same interface as `Relaxer`, another local update.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "isochron/local/factored_update.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/simplex/metric_frame.h"
#include "isochron/solve/simplex/relax.h"

namespace isochron {

/// A vertex as the source sees it: its position in coordinates where the metric at the source is the identity, in
/// internal time units, and T0, its length.
struct alignas(32) SourceView {
  Vec3d position;
  double time;
};

/// The singular part T0(x) = |x − s| in the metric `m0` at the source, for all vertices in internal order. An onset
/// needs no mention: it is a constant in τ, which the weights carry over unchanged.
template <int Corners>
std::vector<SourceView> view_from_source(const SimplexProblem<double, Corners>& problem,
                                         const SimplexMesh<Corners>& mesh, Vec3d source, const SymTensor3d& m0) {
  const MetricFrame frame((1 / (problem.unit * problem.unit)) * m0, source);
  std::vector<SourceView> views(problem.vertex_count);
  for (std::size_t v = 0; v < views.size(); ++v) {
    const Vec3d p = frame.map(mesh.point(problem.user(static_cast<std::uint32_t>(v))));
    views[v] = {p, norm(p)};
  }
  return views;
}

/// Relax steps on a prepared problem with times factored by the singular part in `views`. Both must outlive it.
///
/// The interpolated time on a face is not linear, so an earlier target cannot be skipped even at corners that are acute
/// in the metric. Two bounds take the place of that filter. With n the direction from the source to the target t and p
/// the positions in its frame, T0(x) = |p| ≥ n·p (Cauchy–Schwarz), so f(λ) = T0(x_λ) + Σ λ_i τ_i + |t − x_λ| is at
/// least the function with n·p_i + τ_i interpolated linearly:
///   first,  f ≥ min_i (n·p_i + τ_i), since |t − x_λ| ≥ 0: a few products;
///   second, f ≥ the plain update with those times (in factored_update.h): the closed form, without iterating.
/// Either bound at or above the target's time settles the case. The first is, to first order, the test whether the
/// target is earlier than all corners of the face, which the plain update also skips.
template <int Corners, class Times>
class FactoredRelaxer {
 public:
  using Scalar = double;
  static constexpr double inf = std::numeric_limits<double>::infinity();

  FactoredRelaxer(const SimplexProblem<double, Corners>& problem, Times times, std::span<const SourceView> views)
      : problem_(problem), plain_(problem, times), views_(views) {}

  [[nodiscard]] const SimplexProblem<double, Corners>& problem() const { return problem_; }
  [[nodiscard]] const Times& times() const { return plain_.times(); }

  /// As in `Relaxer`.
  void prepare_farthest(std::uint32_t x) const { plain_.prepare_farthest(x); }
  void prepare_far(std::uint32_t x) const { plain_.prepare_far(x); }
  void prepare_near(std::uint32_t x) const { plain_.prepare_near(x); }

  /// As `Relaxer::push`. A corner that is acute in the metric waits for the vertices from `horizon` on: they are still
  /// to be processed and will push to it themselves.
  template <class Emit>
  std::uint64_t push(std::uint32_t x, double horizon, Emit&& emit) const {
    std::uint64_t solves = 0;
    const auto offer = [&](std::uint32_t target, const Face& face, const Lengths& lengths, double cut) {
      const double time = times().load(target);
      const Corner corners = load(face, cut);
      if (hopeless(views_[target], corners, time)) return;
      ++solves;
      const double candidate = update(target, corners, lengths, time).time;
      if (candidate < time) emit(target, candidate);
    };
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x))) {
      const auto& record = problem_.elements[incidence >> 2];
      const int own = Adjacency::corner_of(incidence);
      for (int step = 1; step < Corners; ++step) {
        const int t = (own + step) % Corners;
        offer(record.vertex(t), face_of(record, t), lengths_of(record, t), record.acute(t) ? horizon : inf);
      }
    }
    const auto& extra = problem_.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.face_offsets[x]; i < extra.face_offsets[x + 1]; ++i) {
        const auto& record = extra.records[extra.face_list[i] >> 2];
        offer(record.target, record.face, lengths_of(record), inf);
      }
    return solves;
  }

  /// As `Relaxer::pull`.
  double pull(std::uint32_t v, std::uint64_t& solves) const {
    double best = inf;
    for_each_face(v, [&](const Face& face, const Lengths& lengths) {
      ++solves;
      const double time = update(v, load(face, inf), lengths, best).time;
      if (time < best) best = time;
    });
    return best;
  }

  /// As `Relaxer::pull_with_weights`.
  [[nodiscard]] PullResult<double> pull_with_weights(std::uint32_t v) const {
    PullResult<double> best;
    for_each_face(v, [&](const Face& face, const Lengths& lengths) {
      const auto candidate = update(v, load(face, inf), lengths, best.time);
      if (!(candidate.time < best.time)) return;
      best.time = candidate.time;
      best.count = Corners - 1;
      for (int k = 0; k < Corners - 1; ++k) {
        best.vertex[k] = face[k];
        best.weight[k] = candidate.weight[k];
      }
    });
    return best;
  }

 private:
  using Record = ElementRecord<double, Corners>;
  using Face = std::array<std::uint32_t, Corners - 1>;
  using Corner = std::array<FactoredCorner<double>, Corners - 1>;
  using Lengths = std::conditional_t<Corners == 4, TetLengths<double>, TriangleLengths<double>>;

  /// In edge travel times. The update is above the minimum by at most this, and by about its square where the minimum
  /// is smooth: far below the tolerance of any schedule.
  static constexpr double slack = 1e-7;

  static Face face_of(const Record& record, int t) {
    Face face;
    for (int k = 0; k < Corners - 1; ++k) face[k] = record.vertex((t + 1 + k) % Corners);
    return face;
  }
  static Lengths lengths_of(const Record& record, int t) {
    if constexpr (Corners == 4) {
      return lengths_from(record.length, tet_views[t]);
    } else {
      const int a = (t + 1) % 3, b = (t + 2) % 3;
      return {record.length[edge_index(a, b)], record.length[edge_index(a, t)], record.length[edge_index(b, t)]};
    }
  }
  static Lengths lengths_of(const VirtualRecord<double, Corners>& record) {
    const auto& l = record.length;
    if constexpr (Corners == 4) return {l[0], l[1], l[2], l[3], l[4], l[5]};
    else return {l[0], l[1], l[2]};
  }

  /// Calls `visit(face, lengths)` for every face that v can be reached through.
  template <class Visit>
  void for_each_face(std::uint32_t v, Visit&& visit) const {
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v))) {
      const auto& record = problem_.elements[incidence >> 2];
      const int own = Adjacency::corner_of(incidence);
      visit(face_of(record, own), lengths_of(record, own));
    }
    const auto& extra = problem_.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
        const auto& record = extra.records[extra.target_list[i]];
        visit(record.face, lengths_of(record));
      }
  }

  /// Corners with times from `cut` on drop out.
  Corner load(const Face& face, double cut) const {
    Corner corners;
    for (int k = 0; k < Corners - 1; ++k) {
      const double u = times().load(face[k]);
      const SourceView& view = views_[face[k]];
      corners[k] = {view.position, u < cut ? u - view.time : inf};
    }
    return corners;
  }

  /// The first bound of the class comment, times T0 of the target. Infinite times make it false.
  static bool hopeless(const SourceView& target, const Corner& corners, double time) {
    if (!(time < inf)) return false;
    for (const auto& c : corners)
      if (dot(target.position, c.position) + target.time * (c.tau - time) < 0) return false;
    return target.time > 0;
  }

  /// Where the metric jumps, T0 inside a face can lie so far below its corners that a candidate is earlier than all it
  /// comes from, and times lower one another without end. They are then soon earlier than the source itself.
  /// Throws FactoringFailed for a time well before the first seed's, which is 0 inside.
  auto update(std::uint32_t target, const Corner& c, const Lengths& lengths, double limit) const {
    const FactoredGoal<double> goal{limit, slack * problem_.edge[target]};
    const auto candidate = [&] {
      if constexpr (Corners == 4) return factored_tet_update(views_[target].position, c[0], c[1], c[2], lengths, goal);
      else return factored_triangle_update(views_[target].position, c[0], c[1], lengths, goal);
    }();
    if (candidate.time < -4 * problem_.edge[target]) throw FactoringFailed();
    return candidate;
  }

  const SimplexProblem<double, Corners>& problem_;
  Relaxer<double, Corners, Times> plain_;
  std::span<const SourceView> views_;
};

}  // namespace isochron
