// The two relax steps every schedule is made of: push from a vertex through its elements, or pull to it from them.
#pragma once

#include "isochron/core/prefetch.h"
#include "isochron/local/simplex_update.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/solve/simplex/tet_push.h"
#include "isochron/solve/simplex/tet_view.h"

namespace isochron {

/// The lengths of a tetrahedron with corner x as the target and a, b, c as the face.
template <class T>
TetLengths<T> lengths_from(const std::array<T, 6>& l, const TetView& w) {
  return {l[w.ab], l[w.ac], l[w.bc], l[w.xa], l[w.xb], l[w.xc]};
}

/// A candidate of a pull with its provenance: the record (or virtual record) and the weights on its other corners.
template <class T>
struct PullResult {
  T time = std::numeric_limits<T>::infinity();
  std::array<std::uint32_t, 3> vertex{};
  std::array<T, 3> weight{};
  int count = 0;
};

/// Only the first so many: the others belong to somebody else.
struct FirstTargets {
  std::uint32_t count;
  [[nodiscard]] bool holds(std::uint32_t v) const { return v < count; }
  [[nodiscard]] std::uint32_t end() const { return count; }
};

/// Relax steps on a prepared problem, over times accessed through `Times`. Pushes go to `Targets` only.
template <class T, int Corners, class Times, class Targets = AllTargets>
class Relaxer {
 public:
  using Scalar = T;
  static constexpr T inf = std::numeric_limits<T>::infinity();

  Relaxer(const SimplexProblem<T, Corners>& problem, Times times, Targets targets = {})
      : problem_(problem),
        times_(times),
        targets_(targets),
        vectorise_(problem.obtuse_corners * obtuse_share_for_lanes > problem.elements.size() * Corners) {}

  [[nodiscard]] const SimplexProblem<T, Corners>& problem() const { return problem_; }
  [[nodiscard]] const Times& times() const { return times_; }

  /// Asks the memory for what `push(x)` will read first, to be called some vertices before: where x's elements are
  /// listed, then that list, then the elements.
  void prepare_farthest(std::uint32_t x) const {
    prefetch(reinterpret_cast<std::uintptr_t>(problem_.adjacency.offsets.data() + x));
    if constexpr (Corners == 4) prefetch(reinterpret_cast<std::uintptr_t>(problem_.lead_step.data() + x));
  }
  void prepare_far(std::uint32_t x) const {
    const std::uint32_t first = problem_.adjacency.offsets[x];
    if constexpr (Corners == 3) {
      const auto star = reinterpret_cast<std::uintptr_t>(problem_.stars.data() + first);
      prefetch(star);
      prefetch(star + 64);
    } else {
      const auto list = reinterpret_cast<std::uintptr_t>(problem_.adjacency.incidences.data() + first);
      const auto leads = reinterpret_cast<std::uintptr_t>(problem_.leads.data() + first);
      for (const std::uintptr_t line : {list, leads, list + 64, leads + 64}) prefetch(line);
    }
  }
  void prepare_near(std::uint32_t x) const {
    if constexpr (Corners == 4)
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x)))
        prefetch(reinterpret_cast<std::uintptr_t>(problem_.elements.data() + (incidence >> 2)));
  }

  /// Offers every element at x a chance to improve its other corners: calls `emit(target, candidate)` for candidates
  /// that beat the target's time. A corner of a triangle that is acute in the metric is skipped when it is earlier than
  /// x, one of a tetrahedron where its lead (`leads.h`) says that nothing comes through x so early. Acute corners do
  /// not use times from `horizon` on: those vertices are still to be processed and will push to it themselves. Returns
  /// the number of local solves. The problem must be prepared for pushes.
  template <class Emit>
  std::uint64_t push(std::uint32_t x, T horizon, Emit&& emit) const {
    const T ux = times_.load(x);
    std::uint64_t solves = 0;
    if constexpr (Corners == 4) {
      solves = vectorise_ ? push_tets_in_lanes(x, ux, horizon, emit) : push_tets(x, ux, horizon, emit);
    } else {
      for (const StarRecord<T>& star : problem_.star(x)) {
        const T ua = times_.load(star.a()), ub = times_.load(star.b());
        solves += push_edge(star.a(), star.acute_a(), ux, ua, ub, star.xb, star.xa, star.ab, horizon, emit);
        solves += push_edge(star.b(), star.acute_b(), ux, ub, ua, star.xa, star.xb, star.ab, horizon, emit);
      }
    }
    if (!problem_.virtual_elements.empty()) solves += push_virtual(x, emit);
    return solves;
  }

  /// The earliest arrival at v from its elements as the times stand now. Returns it and adds to `solves`.
  T pull(std::uint32_t v, std::uint64_t& solves) const {
    T best = inf;
    if constexpr (Corners == 4) {
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v)))
        best = detail::smaller(
            best, tet_candidate(problem_.elements[incidence >> 2], tet_views[Adjacency::corner_of(incidence)]).time);
    } else {
      for (const StarRecord<T>& star : problem_.star(v)) best = detail::smaller(best, triangle_candidate(star).time);
    }
    solves += problem_.adjacency.valence(VertexId(v));
    if (!problem_.virtual_elements.empty()) {
      const auto& extra = problem_.virtual_elements;
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
        const T time = candidate(extra.records[extra.target_list[i]]).time;
        if (time < best) best = time;
        ++solves;
      }
    }
    return best;
  }

  /// Whether the elements of v bring the front to it by `now` + `slack`, as the times stand now. What takes hardly
  /// longer than `slack` to cross does not count: vertices close together would hold each other's times. Adds to
  /// `solves`.
  [[nodiscard]] bool arrives_by(std::uint32_t v, T now, T slack, std::uint64_t& solves) const {
    const auto arrives = [&](const auto& face, auto&& solve) {
      std::array<T, Corners - 1> u;
      T earliest = inf;
      for (int k = 0; k < Corners - 1; ++k) earliest = std::min(earliest, u[k] = times_.load(face[k]));
      if (!(earliest <= now + slack)) return false;  // no candidate is earlier
      ++solves;
      const auto candidate = solve();
      if (!(candidate.time <= now + slack)) return false;
      T crossing = candidate.time;
      for (int k = 0; k < Corners - 1; ++k)
        if (candidate.weight[k] > 0) crossing -= candidate.weight[k] * u[k];
      return crossing > 2 * slack;
    };
    if constexpr (Corners == 4) {
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v))) {
        const Record& record = problem_.elements[incidence >> 2];
        const TetView& w = tet_views[Adjacency::corner_of(incidence)];
        if (arrives(std::array{record.vertex(w.a), record.vertex(w.b), record.vertex(w.c)},
                    [&] { return tet_candidate(record, w); }))
          return true;
      }
    } else {
      for (const StarRecord<T>& star : problem_.star(v))
        if (arrives(std::array{star.a(), star.b()}, [&] { return triangle_candidate(star); })) return true;
    }
    const auto& extra = problem_.virtual_elements;
    if (extra.empty()) return false;
    for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
      const auto& virtual_record = extra.records[extra.target_list[i]];
      if (arrives(virtual_record.face, [&] { return candidate(virtual_record); })) return true;
    }
    return false;
  }

  /// Calls `visit(target)`, maybe repeatedly, for the reached vertices that may have their time through x, whose own
  /// was `time`.
  template <class Visit>
  void for_dependents(std::uint32_t x, T time, Visit&& visit) const {
    const auto consider = [&](std::uint32_t target, bool acute) {
      const T now = times_.load(target);
      if (now < inf && !(acute && now <= time)) visit(target);
    };
    if constexpr (Corners == 4) {
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x))) {
        const Record& record = problem_.elements[incidence >> 2];
        for (int t = 0; t < Corners; ++t)
          if (t != Adjacency::corner_of(incidence)) consider(record.vertex(t), record.acute(t));
      }
    } else {
      for (const StarRecord<T>& star : problem_.star(x)) {
        consider(star.a(), star.acute_a());
        consider(star.b(), star.acute_b());
      }
    }
    const auto& extra = problem_.virtual_elements;
    if (extra.empty()) return;
    for (std::uint32_t i = extra.face_offsets[x]; i < extra.face_offsets[x + 1]; ++i)
      consider(extra.records[extra.face_list[i] >> 2].target, false);
  }

  /// As `pull`, with where it came from.
  [[nodiscard]] PullResult<T> pull_with_weights(std::uint32_t v) const {
    PullResult<T> best;
    const auto keep = [&](const auto& candidate, const std::array<std::uint32_t, Corners - 1>& face) {
      if (!(candidate.time < best.time)) return;
      best.time = candidate.time;
      best.count = Corners - 1;
      for (int k = 0; k < Corners - 1; ++k) {
        best.vertex[k] = face[k];
        best.weight[k] = candidate.weight[k];
      }
    };
    if constexpr (Corners == 4) {
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(v))) {
        const auto& record = problem_.elements[incidence >> 2];
        const TetView& w = tet_views[Adjacency::corner_of(incidence)];
        keep(tet_candidate(record, w), {record.vertex(w.a), record.vertex(w.b), record.vertex(w.c)});
      }
    } else {
      for (const StarRecord<T>& star : problem_.star(v)) keep(triangle_candidate(star), {star.a(), star.b()});
    }
    const auto& extra = problem_.virtual_elements;
    if (!extra.empty())
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
        const auto& record = extra.records[extra.target_list[i]];
        keep(candidate(record), record.face);
      }
    return best;
  }

  using Record = ElementRecord<T, Corners>;

  // What a pull takes the least of.

  FaceCandidate<T> tet_candidate(const Record& record, const TetView& w) const {
    const T ua = times_.load(record.vertex(w.a)), ub = times_.load(record.vertex(w.b)),
            uc = times_.load(record.vertex(w.c));
    if (!(ua < inf) && !(ub < inf) && !(uc < inf)) return {inf, {}};
    return detail::tet_update_scaled(ua, ub, uc, lengths_from(record.length, w));
  }

  EdgeCandidate<T> triangle_candidate(const StarRecord<T>& star) const {
    const T ua = times_.load(star.a()), ub = times_.load(star.b());
    if (!(ua < inf) && !(ub < inf)) return {inf, {}};
    return detail::triangle_update_scaled(ua, ub, {star.ab, star.xa, star.xb});
  }

  auto candidate(const VirtualRecord<T, Corners>& record) const {
    const auto& l = record.length;
    const T u0 = times_.load(record.face[0]), u1 = times_.load(record.face[1]);
    if constexpr (Corners == 4) {
      const T u2 = times_.load(record.face[2]);
      if (!(u0 < inf) && !(u1 < inf) && !(u2 < inf)) return FaceCandidate<T>{inf, {}};
      return detail::tet_update_scaled(u0, u1, u2, TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]});
    } else {
      if (!(u0 < inf) && !(u1 < inf)) return EdgeCandidate<T>{inf, {}};
      return detail::triangle_update_scaled(u0, u1, TriangleLengths<T>{l[0], l[1], l[2]});
    }
  }

 private:
  /// The leads of x's elements, one for each incidence.
  [[nodiscard]] const Leads* leads(std::uint32_t x) const {
    return problem_.leads.data() + problem_.adjacency.offsets[x];
  }

  template <class Emit>
  std::uint64_t push_tets(std::uint32_t x, T ux, T horizon, Emit&& emit) const {
    const T step = problem_.lead_step[x];
    const Leads* lead = leads(x);
    std::uint64_t solves = 0;
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x))) {
      const Record& record = problem_.elements[incidence >> 2];
      const TetView& w = tet_views[Adjacency::corner_of(incidence)];
      const T ua = times_.load(record.vertex(w.a)), ub = times_.load(record.vertex(w.b)),
              uc = times_.load(record.vertex(w.c));
      const auto& l = record.length;
      const auto gains = [&](int t, T ut) {
        return ut > ux + step * static_cast<T>(lead->of_corner[t]) && targets_.holds(record.vertex(t));
      };
      if (gains(w.a, ua))
        solves += push_corner(record, w.a, ux, ua, ub, uc, l[w.xb], l[w.xc], l[w.bc], l[w.xa], l[w.ab], l[w.ac],
                              horizon, emit);
      if (gains(w.b, ub))
        solves += push_corner(record, w.b, ux, ub, ua, uc, l[w.xa], l[w.xc], l[w.ac], l[w.xb], l[w.ab], l[w.bc],
                              horizon, emit);
      if (gains(w.c, uc))
        solves += push_corner(record, w.c, ux, uc, ua, ub, l[w.xa], l[w.xb], l[w.ab], l[w.xc], l[w.ac], l[w.bc],
                              horizon, emit);
      ++lead;
    }
    return solves;
  }

  /// Target t from x and the other two corners b, c of the element.
  template <class Emit>
  ISOCHRON_ALWAYS_INLINE std::uint64_t push_corner(const Record& record, int t, T ux, T ut, T ub, T uc, T xb, T xc,
                                                   T bc, T xt, T bt, T ct, T horizon, Emit&& emit) const {
    const T unseen = record.acute(t) ? horizon : inf;
    T time;
    T lambda;
    if (ub < unseen) {
      time = uc < unseen ? detail::push_time(ux, ub, uc, xb, xc, bc, xt, bt, ct)
                         : detail::edge_time(ub, ux, xb, bt, xt, lambda);
    } else {
      time = uc < unseen ? detail::edge_time(uc, ux, xc, ct, xt, lambda) : ux + std::sqrt(xt);
    }
    if (time < ut) emit(record.vertex(t), time);
    return 1;
  }

  /// Target t of a triangle from x and its other corner b.
  template <class Emit>
  ISOCHRON_ALWAYS_INLINE std::uint64_t push_edge(std::uint32_t target, bool acute, T ux, T ut, T ub, T xb, T xt, T bt,
                                                 T horizon, Emit&& emit) const {
    if (!targets_.holds(target)) return 0;
    T time;
    T lambda;
    if (acute) {
      if (ut <= ux) return 0;
      time = ub < horizon ? detail::edge_time(ub, ux, xb, bt, xt, lambda) : ux + std::sqrt(xt);
    } else {
      if (ut <= ux && ut <= ub) return 0;
      time = detail::edge_time(ub, ux, xb, bt, xt, lambda);
    }
    if (time < ut) emit(target, time);
    return 1;
  }

  /// The same with all targets of x solved at once.
  template <class Emit>
  std::uint64_t push_tets_in_lanes(std::uint32_t x, T ux, T horizon, Emit&& emit) const {
    TetPush<T> push{
        problem_.elements.data(), {}, leads(x), problem_.lead_step[x], times_.data, ux, horizon, targets_.end()};
    Offers<T> offers;
    std::uint64_t solves = 0;
    std::span<const std::uint32_t> left = problem_.adjacency.at(VertexId(x));
    while (!left.empty()) {
      push.incidences = left.first(std::min(left.size(), TetPush<T>::max_elements));
      solves += push_through(push, offers);
      for (int k = 0; k < offers.count; ++k) emit(offers.target[k], offers.time[k]);
      left = left.subspan(push.incidences.size());
      push.leads += push.incidences.size();
    }
    return solves;
  }

  template <class Emit>
  std::uint64_t push_virtual(std::uint32_t x, Emit&& emit) const {
    const auto& extra = problem_.virtual_elements;
    std::uint64_t solves = 0;
    for (std::uint32_t i = extra.face_offsets[x]; i < extra.face_offsets[x + 1]; ++i) {
      const auto& record = extra.records[extra.face_list[i] >> 2];
      // No candidate is earlier than the earliest corner of its face.
      const T now = times_.load(record.target);
      T earliest = inf;
      for (const std::uint32_t v : record.face) earliest = std::min(earliest, times_.load(v));
      if (now <= earliest) continue;
      ++solves;
      const T time = candidate(record).time;
      if (time < now) emit(record.target, time);
    }
    return solves;
  }

  /// Where corners are acute the horizon leaves most solves an edge or a triangle, and branches are cheaper than full
  /// lanes; from one obtuse corner in twenty on, lanes win (by a third to a half, bench/NOTES.md).
  static constexpr std::uint64_t obtuse_share_for_lanes = 20;

  const SimplexProblem<T, Corners>& problem_;
  Times times_;
  [[no_unique_address]] Targets targets_;
  bool vectorise_;
};

}  // namespace isochron
