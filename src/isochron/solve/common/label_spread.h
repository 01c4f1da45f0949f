// Spreads the labels of sources from the vertices that start with one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/core/parallel.h"
#include "isochron/core/stop.h"
#include "isochron/solve/common/label_mix.h"
#include "isochron/types.h"

namespace isochron {

/// The vertices that one has its time from, all of them earlier than itself, and how much each counts.
template <int Most>
struct UpwindVertices {
  int count = 0;
  std::uint32_t vertex[Most] = {};
  float weight[Most] = {};

  void add(std::uint32_t v, float w) {
    vertex[count] = v;
    weight[count++] = w;
  }
};

/// Which vertices that stayed behind take the label of a neighbour.
enum class Adopting {
  sure,  ///< those that nobody is upwind of, from a neighbour that is not later
  any    ///< then all, the earliest first
};

/// Gives every vertex the mix of the labels of those that `upwind(v)`, its `UpwindVertices<Upwind::most>`, names, once
/// they all have theirs. What a vertex gets does not depend on the order.
template <class Upwind>
class LabelSpread {
 public:
  /// `label` has the labels to start with, −1 elsewhere, and has those of the largest shares after `finish`. Keeps a
  /// reference.
  LabelSpread(std::vector<std::int32_t>& label, Upwind upwind)
      : label_(label), rest_(label.size()), upwind_(std::move(upwind)) {}

  /// v gets a mix from outside, or none.
  void leave_out(std::uint32_t v) {
    if (label_[v] < 0) label_[v] = stuck;
  }

  /// Goes through the vertices `vertex(0)`, …, `vertex(count − 1)`, best by time: one that needs another goes there
  /// first. Threads share them; two may come to the same vertex, and to the same mix. Those that need a vertex that was
  /// left out, or have nobody upwind, stay behind.
  template <class At>
  void run(std::size_t count, const At& vertex, int threads) {
    constexpr std::size_t piece = 4096;
    std::atomic<std::size_t> next{0};
    std::vector<std::vector<std::uint32_t>> behind(static_cast<std::size_t>(std::max(1, threads)));
    const StoppableLoop loop;
    parallel_region(threads, [&](int thread, int) {
      std::vector<std::uint32_t> path;  // the last one is needed by the one before it, and so on
      for (std::size_t begin; (begin = next.fetch_add(piece, std::memory_order_relaxed)) < count;)
        loop(begin, std::min(begin + piece, count), [&](std::size_t k) {
          for (path.assign(1, vertex(k)); !path.empty();) {
            const std::uint32_t v = path.back(), missing = word(v) == unknown ? settle(v) : none;
            if (missing != none && missing != v && word(missing) != stuck) {
              path.push_back(missing);  // or it has a label by now, and v comes again
              continue;
            }
            if (missing != none && at(label_[v]).exchange(stuck, std::memory_order_relaxed) != stuck)
              behind[thread].push_back(v);
            path.pop_back();
          }
        });
    });
    for (const std::vector<std::uint32_t>& list : behind)
      for (const std::uint32_t v : list) wait(v, settle(v));
  }

  /// Gives a vertex that was left out or stayed behind its mix, and then those that waited for it. Returns all of them.
  const std::vector<std::uint32_t>& give(std::uint32_t vertex, const LabelMix& mix) {
    store(vertex, mix);
    given_.assign(1, vertex);
    for (std::size_t k = 0; k < given_.size() && !first_waiting_.empty(); ++k)
      for (std::uint32_t v = std::exchange(first_waiting_[given_[k]], none); v != none;) {
        const std::uint32_t next = next_waiting_[v], missing = settle(v);
        if (missing == none) given_.push_back(v);
        else wait(v, missing);
        v = next;
      }
    return given_;
  }

  /// Only edges that take no time, or so little that it is lost in rounding, leave a reached vertex without anyone
  /// upwind: it takes the label of a neighbour, and so do those that wait for it. Of several vertices whose times
  /// differ by rounding alone, the earliest need not be the one that the others have theirs from: then `any` is needed.
  ///
  /// `around` has `time(v)`, `owns(v)`, and calls `for_givers(v, visit)` and `for_takers(v, visit)` for the neighbours
  /// that v may take a label from and give one to. Returns whether some are left without a label.
  template <class Around>
  bool adopt(Adopting which, const Around& around) {
    const auto lacks = [&](std::uint32_t v) {
      return mix(v).first < 0 && around.owns(v) && around.time(v) < std::numeric_limits<double>::infinity();
    };
    const auto some_left = [&] { return std::any_of(alone_.begin(), alone_.end(), lacks); };
    const auto giver = [&](std::uint32_t v) {
      std::uint32_t first = none;
      around.for_givers(v, [&](std::uint32_t from) {
        if (mix(from).first >= 0 && (first == none || around.time(from) < around.time(first))) first = from;
      });
      return first;
    };
    using Entry = std::tuple<bool, double, std::uint32_t>;  // whether it is not sure, its time, the vertex
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    const auto consider = [&](std::uint32_t v) {
      if (!lacks(v)) return;
      const std::uint32_t from = giver(v);
      if (from == none) return;
      const bool sure = upwind_(v).count == 0 && around.time(from) <= around.time(v);
      if (sure || which == Adopting::any) next.emplace(!sure, around.time(v), v);
    };
    bool left = some_left();
    for (bool changed = left; changed && left; left = some_left()) {
      changed = false;
      if (which == Adopting::any)
        for (std::uint32_t v = 0; v < label_.size(); ++v) consider(v);
      else
        for (std::size_t k = 0; k < alone_.size(); ++k) consider(alone_[k]);
      while (!next.empty()) {
        const std::uint32_t v = std::get<2>(next.top());
        next.pop();
        if (!lacks(v)) continue;
        changed = true;
        for (const std::uint32_t labelled : give(v, mix(giver(v)))) around.for_takers(labelled, consider);
      }
    }
    return left;
  }

  /// Negative labels when v has none.
  [[nodiscard]] LabelMix mix(std::uint32_t v) {
    // Nearly all have one label alone, and what is not read need not be there.
    if (const std::int32_t one = word(v); one > mixed) return {one, -1, 0};
    const std::int32_t first = mixed - at(label_[v]).load(std::memory_order_acquire);
    return {first, at(rest_[v].second).load(std::memory_order_relaxed),
            at(rest_[v].share).load(std::memory_order_relaxed)};
  }
  /// Nothing can be given any more.
  void finish() {
    for (std::int32_t& label : label_)
      if (label < 0) label = label > mixed ? -1 : mixed - label;
  }

 private:
  static constexpr std::uint32_t none = VertexId::invalid_value;
  static constexpr std::int32_t unknown = -1, stuck = -2;
  static constexpr std::int32_t mixed = -3;  ///< less the first label, where there is a second one

  /// What a mix has beside its first label.
  struct Rest {
    std::int32_t second;
    float share;
  };

  template <class Value>
  static std::atomic_ref<Value> at(Value& value) {
    return std::atomic_ref<Value>(value);
  }
  [[nodiscard]] std::int32_t word(std::uint32_t v) const { return at(label_[v]).load(std::memory_order_relaxed); }

  void store(std::uint32_t v, const LabelMix& mix) {
    if (mix.second < 0) {
      at(label_[v]).store(mix.first, std::memory_order_relaxed);
      return;
    }
    at(rest_[v].second).store(mix.second, std::memory_order_relaxed);
    at(rest_[v].share).store(mix.second_share, std::memory_order_relaxed);
    at(label_[v]).store(mixed - mix.first, std::memory_order_release);
  }

  /// Gives v its mix; or returns one that it needs and that has none: itself when nobody is upwind.
  std::uint32_t settle(std::uint32_t v) {
    const UpwindVertices<Upwind::most>& from = upwind_(v);
    if (from.count == 0) return v;
    // Nearly everywhere there is one label alone.
    const std::int32_t one = word(from.vertex[0]);
    bool same = one >= 0;
    for (int k = 1; k < from.count; ++k) same = same && word(from.vertex[k]) == one;
    if (!same) return settle_mixed(v, from);
    at(label_[v]).store(one, std::memory_order_relaxed);
    return none;
  }
  std::uint32_t settle_mixed(std::uint32_t v, const UpwindVertices<Upwind::most>& from) {
    LabelMix mixes[Upwind::most];
    for (int k = 0; k < from.count; ++k) {
      mixes[k] = mix(from.vertex[k]);
      if (mixes[k].first < 0) return from.vertex[k];
    }
    store(v, blend(mixes, from.weight, from.count));
    return none;
  }

  void wait(std::uint32_t v, std::uint32_t missing) {
    if (missing == v) {
      alone_.push_back(v);
      return;
    }
    if (first_waiting_.empty()) {
      first_waiting_.assign(label_.size(), none);
      next_waiting_.assign(label_.size(), none);
    }
    next_waiting_[v] = std::exchange(first_waiting_[missing], v);
  }

  std::vector<std::int32_t>& label_;
  BigVector<Rest> rest_;  ///< of those with a second label
  static_assert(std::is_trivially_default_constructible_v<Rest>);
  Upwind upwind_;
  std::vector<std::uint32_t> first_waiting_;  ///< by vertex: one that waits for it
  std::vector<std::uint32_t> next_waiting_;   ///< by waiting vertex: another one that waits for the same
  std::vector<std::uint32_t> given_;
  std::vector<std::uint32_t> alone_;  ///< those that stayed behind because nobody is upwind of them
};

}  // namespace isochron
