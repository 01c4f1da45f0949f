// The banded schedule on one part of a mesh, by a team of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>
#include <vector>

#include "isochron/solve/ranks/local_solver.h"
#include "isochron/solve/schedules/banded/banded_team.h"

namespace isochron::ranks {

/// As `BandedLocal`, with the phases of `BandedTeam`: the thread that leads the team receives and sends between two of
/// them. Acute corners ignore times beyond the band, so bands may only go up. `Relax` must have shared times.
///
/// It has to be called inside of `lead`.
template <class Relax>
class TeamLocal final : public LocalSolver<typename Relax::Scalar> {
  using T = typename Relax::Scalar;

 public:
  /// As for `BandedLocal`.
  TeamLocal(const Relax& relax, SolveState<T>& state, const Halo& halo, BandTuning tuning, int threads)
      : relax_(relax),
        state_(state),
        halo_(halo),
        sent_(halo.border(), std::numeric_limits<T>::infinity()),
        team_(relax, state, tuning, threads, Watch{this}, halo.border() > 0 ? worth_a_phase : Team::worth_a_phase),
        news_(team_.threads()) {}

  /// Calls `work` with the other threads at the service of this solver.
  template <class Work>
  void lead(Work&& work) {
    team_.lead(std::forward<Work>(work));
  }

  [[nodiscard]] std::uint32_t next_band() override { return team_.next_bucket(); }

  /// One phase, however much it is.
  bool advance(std::uint32_t band, std::size_t, Outbox<T>& out) override {
    band_ = band;
    const std::uint32_t next = team_.next_bucket();
    if (next == no_band || next > band) return false;
    if (halo_.border() > 0 && (opened_ == no_band || next > opened_)) open(next, out);
    team_.process(next);
    send_new(out);
    return true;
  }

  /// However little is asked for: phases that small would take longer than what is done in them.
  bool work_ahead(std::size_t, Outbox<T>& out) override {
    for (std::uint32_t step = 1; step <= bands_ahead; ++step)
      if (team_.process_ahead(std::max(band_, team_.current()) + step, ahead_share * team_.threads())) {
        send_new(out);
        return true;
      }
    return false;
  }

  void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const std::uint32_t v = vertices[i];
      if (relax_.times().lower(v, times[i], T(0))) team_.add(v, times[i]);
    }
  }

  [[nodiscard]] Counters counters() const override { return team_.counters(); }
  /// That a thread has waited for others of the team, on average.
  [[nodiscard]] double waited_seconds() const { return team_.waited_seconds(); }

 private:
  /// For each thread, where there is a border. Neighbours wait for what it gives, so it is not left for later as soon
  /// as without any.
  static constexpr std::size_t worth_a_phase = 4;
  /// Vertices for each thread in a phase ahead; and bands that a team with nothing else to do goes ahead.
  static constexpr std::size_t ahead_share = 32;
  static constexpr std::uint32_t bands_ahead = 2;

  struct Watch {
    TeamLocal* solver;
    void operator()(int thread, std::uint32_t v) const { solver->note(thread, v); }
  };
  using Team = BandedTeam<Relax, Watch>;
  /// Places in the border whose times one thread has found new.
  struct alignas(128) News {
    std::vector<std::uint32_t> borders;
  };

  /// Sends what waits in the border before it is processed, so that the neighbours can work on the same band at the
  /// same time.
  void open(std::uint32_t bucket, Outbox<T>& out) {
    opened_ = bucket;
    team_.each_waiting(bucket, [&](std::uint32_t v) {
      if (const std::uint32_t border = new_border(v); border != Halo::none) out.put(border, sent_[border]);
    });
    out.flush();
  }
  void send_new(Outbox<T>& out) {
    for (News& news : news_) {
      for (const std::uint32_t border : news.borders) out.put(border, sent_[border]);
      news.borders.clear();
    }
  }
  void note(int thread, std::uint32_t v) {
    if (const std::uint32_t border = new_border(v); border != Halo::none)
      news_[static_cast<std::size_t>(thread)].borders.push_back(border);
  }
  /// The place of a vertex whose time the neighbours do not have, and now will; or none.
  std::uint32_t new_border(std::uint32_t v) {
    if (sent_.empty() || v >= halo_.border_of.size()) return Halo::none;
    const std::uint32_t border = halo_.border_of[v];
    if (border == Halo::none) return Halo::none;
    // Two threads may process v in one phase, and the one that has read the higher time may come here last.
    const std::atomic_ref<T> sent(sent_[border]);
    const T time = relax_.times().load(v);
    T before = sent.load(std::memory_order_relaxed);
    do {
      if (!(time < before)) return Halo::none;
    } while (!sent.compare_exchange_weak(before, time, std::memory_order_relaxed));
    return border;
  }

  const Relax& relax_;
  SolveState<T>& state_;
  const Halo& halo_;
  std::vector<T> sent_;  ///< by place in the border: the time the neighbours have
  Team team_;
  std::vector<News> news_;          ///< by thread
  std::uint32_t opened_ = no_band;  ///< the last bucket whose border was sent
  std::uint32_t band_ = 0;          ///< that all are in
};

}  // namespace isochron::ranks
