// The banded schedule on one part of a mesh.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "isochron/solve/ranks/local_solver.h"
#include "isochron/solve/schedules/banded/banded.h"

namespace isochron::ranks {

/// Buckets of time as in `banded_serial`, with one bucket for each band. `Relax` pushes to owned vertices only; those
/// are the first `halo.border_of.size()` ones, ghosts come behind them.
///
/// A border vertex is sent when its bucket comes up, before anything in it is pushed, so that the neighbours can work
/// on the same band at the same time; and once more when it is pushed, if its time has changed since.
///
/// Acute corners may ignore times beyond the band (`Horizon::band`) as long as bands only go up: what was pushed before
/// lies before the end of the current band then (or of the last one that was worked on ahead), so all that lies beyond
/// it is still queued. Solving a part to its end
/// more than once needs `Horizon::none`.
template <class Relax>
class BandedLocal final : public LocalSolver<typename Relax::Scalar> {
  using T = typename Relax::Scalar;

 public:
  /// `state.seeds` are owned vertices and have their times. Keeps references.
  BandedLocal(const Relax& relax, SolveState<T>& state, const Halo& halo, BandTuning tuning)
      : relax_(relax),
        state_(state),
        halo_(halo),
        reach_(tuning.horizon == Horizon::band ? T(0) : std::numeric_limits<T>::infinity()),
        ring_(relax.problem().vertex_count, band_scale(tuning, relax.problem().mean_edge)),
        on_border_(halo.border_of.size()),
        sent_(halo.border(), std::numeric_limits<T>::infinity()) {
    for (std::size_t v = 0; v < on_border_.size(); ++v) on_border_[v] = halo.border_of[v] != Halo::none;
    for (const std::uint32_t v : state.seeds) ring_.add(v, state.time[v]);
  }

  [[nodiscard]] std::uint32_t next_band() override { return ring_.first_bucket(); }

  bool advance(std::uint32_t band, std::size_t most, Outbox<T>& out) override {
    while (true) {
      const std::uint32_t first = ring_.first_bucket();
      if (first == no_band || first > band) {
        close(band);
        return false;
      }
      ring_.move_to(first);
      if (band != no_band && (opened_ == no_band || first > opened_)) open(first, out);
      const std::uint64_t before = counters_.vertex_updates;
      if (!drain(most, out)) return true;
      const std::uint64_t done = counters_.vertex_updates - before;
      most -= done < most ? done : most;
      if (most == 0) return true;
    }
  }

  bool work_ahead(std::size_t most, Outbox<T>& out) override {
    if (ahead_of_ != ring_.current()) {
      ahead_of_ = ring_.current();
      looked_at_ = {};
    }
    for (std::uint32_t step = 1; step <= bands_ahead; ++step) {
      std::size_t& place = looked_at_[step - 1];
      const std::size_t before = place;
      place = ring_.take_ahead(relax_, ring_.current() + step, place, most, [&](std::uint32_t x, T horizon) {
        reach_ = std::max(reach_, horizon);
        send(x, out);
        push(x, reach_);
      });
      if (place > before) return true;
    }
    return false;
  }

  void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const std::uint32_t v = vertices[i];
      if (relax_.times().lower(v, times[i], T(0))) ring_.add(v, times[i]);
    }
  }

  [[nodiscard]] Counters counters() const override { return counters_; }

 private:
  /// Bands that a rank with nothing else to do goes ahead (bench/NOTES.md).
  static constexpr std::uint32_t bands_ahead = 2;

  /// Some of the current bucket; true when it is empty then.
  bool drain(std::size_t most, Outbox<T>& out) {
    return ring_.drain_some(relax_, most, [&](std::uint32_t x, T horizon) {
      send(x, out);
      push(x, std::max(horizon, reach_));
    });
  }
  void push(std::uint32_t x, T reach) {
    ++counters_.vertex_updates;
    counters_.local_solves += push_and_queue(relax_, state_, ring_, x, reach);
  }

  void open(std::uint32_t bucket, Outbox<T>& out) {
    opened_ = bucket;
    ++counters_.rounds;
    for (const std::uint32_t v : ring_.current_entries())
      if (on_border(v) && ring_.waits_in_current(v)) send(v, out);
    out.flush();
  }

  /// What comes now for this band or one before it waits in this one. Without bands it goes where its time belongs.
  void close(std::uint32_t band) {
    if (band == no_band) ring_.move_to(0);
    else if (band > ring_.current()) ring_.move_to(band);
  }

  [[nodiscard]] bool on_border(std::uint32_t v) const { return v < on_border_.size() && on_border_[v]; }

  void send(std::uint32_t v, Outbox<T>& out) {
    if (!on_border(v)) return;
    const std::uint32_t border = halo_.border_of[v];
    if (sent_[border] == relax_.times().load(v)) return;
    sent_[border] = relax_.times().load(v);
    out.put(border, sent_[border]);
  }

  const Relax& relax_;
  SolveState<T>& state_;
  const Halo& halo_;
  T reach_;  ///< the least horizon of a push
  BucketRing<T> ring_;
  std::vector<bool> on_border_;                       ///< by vertex, small enough to stay in the cache
  std::vector<T> sent_;                               ///< by place in the border: the time the neighbours have
  std::uint32_t opened_ = no_band;                    ///< the last bucket whose border was sent
  std::uint32_t ahead_of_ = no_band;                  ///< the band that `looked_at_` is about
  std::array<std::size_t, bands_ahead> looked_at_{};  ///< by band after it: entries that were taken already, or left
  Counters counters_;
};

}  // namespace isochron::ranks
