// The two relax steps every schedule is made of: push from a vertex through its elements, or pull to it from them.
#pragma once

#include "isochron/core/prefetch.h"
#include "isochron/local/push_batch.h"
#include "isochron/local/simplex_update.h"
#include "isochron/solve/common/state.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// The other corners of a tetrahedron seen from corner x, and where its six lengths are.
struct TetView {
  int a, b, c;
  int xa, xb, xc, ab, ac, bc;
};
constexpr TetView tet_view(int x) {
  const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
  return {a,
          b,
          c,
          edge_index(x, a),
          edge_index(x, b),
          edge_index(x, c),
          edge_index(a, b),
          edge_index(a, c),
          edge_index(b, c)};
}
inline constexpr TetView tet_views[4] = {tet_view(0), tet_view(1), tet_view(2), tet_view(3)};

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
  }
  void prepare_far(std::uint32_t x) const {
    const std::uint32_t first = problem_.adjacency.offsets[x];
    if constexpr (Corners == 3) {
      const auto star = reinterpret_cast<std::uintptr_t>(problem_.stars.data() + first);
      prefetch(star);
      prefetch(star + 64);
    } else {
      prefetch(reinterpret_cast<std::uintptr_t>(problem_.adjacency.incidences.data() + first));
    }
  }
  void prepare_near(std::uint32_t x) const {
    if constexpr (Corners == 4)
      for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x)))
        prefetch(reinterpret_cast<std::uintptr_t>(problem_.elements.data() + (incidence >> 2)));
  }

  /// Offers every element at x a chance to improve its other corners: calls `emit(target, candidate)` for candidates
  /// that beat the target's time. A corner that is acute in the metric is skipped when it is earlier than x, and does
  /// not use times from `horizon` on: those vertices are still to be processed and will push to it themselves. Returns
  /// the number of local solves.
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

 private:
  using Record = ElementRecord<T, Corners>;

  template <class Emit>
  std::uint64_t push_tets(std::uint32_t x, T ux, T horizon, Emit&& emit) const {
    std::uint64_t solves = 0;
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x)))
      solves +=
          push_tet(problem_.elements[incidence >> 2], tet_views[Adjacency::corner_of(incidence)], ux, horizon, emit);
    return solves;
  }

  template <class Emit>
  std::uint64_t push_tet(const Record& record, const TetView& w, T ux, T horizon, Emit&& emit) const {
    const T ua = times_.load(record.vertex(w.a));
    const T ub = times_.load(record.vertex(w.b));
    const T uc = times_.load(record.vertex(w.c));
    const auto& l = record.length;
    std::uint64_t solves = 0;
    solves +=
        push_corner(record, w.a, ux, ua, ub, uc, l[w.xb], l[w.xc], l[w.bc], l[w.xa], l[w.ab], l[w.ac], horizon, emit);
    solves +=
        push_corner(record, w.b, ux, ub, ua, uc, l[w.xa], l[w.xc], l[w.ac], l[w.xb], l[w.ab], l[w.bc], horizon, emit);
    solves +=
        push_corner(record, w.c, ux, uc, ua, ub, l[w.xa], l[w.xb], l[w.ab], l[w.xc], l[w.ac], l[w.bc], horizon, emit);
    return solves;
  }

  /// Target t from x and the other two corners b, c of the element.
  template <class Emit>
  ISOCHRON_ALWAYS_INLINE std::uint64_t push_corner(const Record& record, int t, T ux, T ut, T ub, T uc, T xb, T xc,
                                                   T bc, T xt, T bt, T ct, T horizon, Emit&& emit) const {
    if (!targets_.holds(record.vertex(t))) return 0;
    T time;
    T lambda;
    if (record.acute(t)) {
      if (ut <= ux) return 0;
      if (ub < horizon) {
        time = uc < horizon ? detail::push_time(ux, ub, uc, xb, xc, bc, xt, bt, ct)
                            : detail::edge_time(ub, ux, xb, bt, xt, lambda);
      } else {
        time = uc < horizon ? detail::edge_time(uc, ux, xc, ct, xt, lambda) : ux + std::sqrt(xt);
      }
    } else {
      if (ut <= ux && ut <= ub && ut <= uc) return 0;
      time = detail::push_time(ux, ub, uc, xb, xc, bc, xt, bt, ct);
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
    Batch batch;
    std::uint64_t solves = 0;
    for (const std::uint32_t incidence : problem_.adjacency.at(VertexId(x))) {
      if (batch.count + 3 > Batch::capacity) solves += flush(batch, ux, emit);
      add_targets(batch, problem_.elements[incidence >> 2], tet_views[Adjacency::corner_of(incidence)], ux, horizon);
    }
    return solves + flush(batch, ux, emit);
  }

  /// Local solves that wait for the vector unit, with their targets.
  struct Batch {
    static constexpr int capacity = FaceBatch<T>::capacity;
    FaceBatch<T> lanes;
    T ut[capacity];
    std::uint32_t target[capacity];
    int count = 0;
  };

  /// Adds target t of an element if it can gain: an acute corner from x when it is later than x, another from any
  /// earlier corner. Every lane is written and kept by the count, without a branch.
  void put(Batch& batch, const Record& record, int t, T ux, T horizon, T ut, T ub, T uc, T xb, T xc, T bc, T xt, T bt,
           T ct) const {
    const int n = batch.count;
    const bool acute = record.acute(t);
    const auto seen = [&](T time) { return (acute & (!(time < horizon))) ? inf : time; };
    FaceBatch<T>& lanes = batch.lanes;
    lanes.ub[n] = seen(ub);
    lanes.uc[n] = seen(uc);
    lanes.lxb[n] = xb;
    lanes.lxc[n] = xc;
    lanes.lbc[n] = bc;
    lanes.lxt[n] = xt;
    lanes.lbt[n] = bt;
    lanes.lct[n] = ct;
    batch.ut[n] = ut;
    batch.target[n] = record.vertex(t);
    const bool gains = (ut > ux) | ((!acute) & ((ut > ub) | (ut > uc)));
    batch.count = n + static_cast<int>(gains & targets_.holds(record.vertex(t)));
  }

  void add_targets(Batch& batch, const Record& record, const TetView& w, T ux, T horizon) const {
    const auto& l = record.length;
    const T ua = times_.load(record.vertex(w.a)), ub = times_.load(record.vertex(w.b)),
            uc = times_.load(record.vertex(w.c));
    put(batch, record, w.a, ux, horizon, ua, ub, uc, l[w.xb], l[w.xc], l[w.bc], l[w.xa], l[w.ab], l[w.ac]);
    put(batch, record, w.b, ux, horizon, ub, ua, uc, l[w.xa], l[w.xc], l[w.ac], l[w.xb], l[w.ab], l[w.bc]);
    put(batch, record, w.c, ux, horizon, uc, ua, ub, l[w.xa], l[w.xb], l[w.ab], l[w.xc], l[w.ac], l[w.bc]);
  }

  /// Solves what the batch holds and offers each target the best of the candidates that beat its time: it is lowered
  /// once, where threads share the times. Returns the number of solves.
  template <class Emit>
  static std::uint64_t flush(Batch& batch, T ux, Emit&& emit) {
    FaceBatch<T>& lanes = batch.lanes;
    solve_faces(lanes, ux, batch.count);
    int offers = 0;  // the first entries of `target` and `ut` become those, behind where they are read
    for (int i = 0; i < batch.count; ++i) {
      if (lanes.thin[i] > T(0)) [[unlikely]]
        lanes.time[i] = detail::any_push_time(ux, lanes.ub[i], lanes.uc[i], lanes.lxb[i], lanes.lxc[i], lanes.lbc[i],
                                              lanes.lxt[i], lanes.lbt[i], lanes.lct[i]);
      const T time = lanes.time[i];
      if (!(time < batch.ut[i])) continue;
      int place = 0;
      while (place < offers && batch.target[place] != batch.target[i]) ++place;
      if (place == offers) {
        batch.target[offers] = batch.target[i];
        batch.ut[offers++] = time;
      } else {
        batch.ut[place] = detail::smaller(batch.ut[place], time);
      }
    }
    for (int k = 0; k < offers; ++k) emit(batch.target[k], batch.ut[k]);
    const auto solves = static_cast<std::uint64_t>(batch.count);
    batch.count = 0;
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

  /// Where corners are acute the horizon leaves most solves an edge or a triangle, and branches are cheaper than full
  /// lanes; from one obtuse corner in twenty on, lanes win (by a third to a half, bench/NOTES.md).
  static constexpr std::uint64_t obtuse_share_for_lanes = 20;

  const SimplexProblem<T, Corners>& problem_;
  Times times_;
  [[no_unique_address]] Targets targets_;
  bool vectorise_;
};

}  // namespace isochron
