// The time bands that all ranks go through together, and how they agree that the solve is done.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "isochron/comm/collectives.h"
#include "isochron/core/timer.h"
#include "isochron/options.h"
#include "isochron/progress.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/ranks/local_solver.h"

namespace isochron::ranks {

/// What communication a solve took on one rank.
struct BandCounters {
  std::uint64_t bands = 0;       ///< that all ranks went through
  std::uint64_t agreements = 0;  ///< reductions, at least one a band
  std::uint64_t received = 0;    ///< messages
  double idle_seconds = 0;       ///< spent waiting for others with nothing to do
};

/// One rank's part of a solve: calls `run` on every rank, and all return when none has anything left to do.
///
/// Every rank works on the same band, the lowest in which any rank has work, until it has nothing left up to that band.
/// Then it contributes to a reduction: its own next band, and how many messages it has sent and received so far. While
/// it waits for the result it goes on receiving, and working on what comes; when nothing comes, it goes ahead with the
/// next bands as far as it can. The least of the next bands is the band that follows.
///
/// Why bands need no more agreement than that: times only fall, and every lowered time waits in a queue until it has
/// been pushed (a ghost's time when it is received). So a message that comes after its band has passed is late, not
/// lost: it is worked on in the current band, and costs a few pushes more. Work that was done ahead of what it needs is
/// repeated when that comes.
///
/// Why the end is exact. A rank contributes only when it has nothing queued in the bands up to the current one; say it
/// is idle when it has nothing queued at all, and its next band is `no_band`. Let two reductions that follow each other
/// both find every rank idle and find the same totals, as many messages received as sent. Totals of counts that never
/// fall are equal only if every rank contributed the same counts twice. Take a moment t after the last contribution to
/// the first reduction and before the first contribution to the second: there is one, because a rank contributes to the
/// second only when it knows the result of the first. At t each rank's counts are those that it contributed before and
/// after, so they are the totals of one moment: as many received as sent, no message is on its way. And no rank has
/// received anything between its two contributions, so each is still idle at t. With all ranks idle and no message on
/// its way nothing will ever happen again. (One reduction is not enough: its contributions are of different moments,
/// and a message that was received after its receiver contributed may hide behind another that was not.)
template <class T>
class Bands {
 public:
  /// Progress is that of all ranks' vertex updates, one a vertex of the whole. Without any it is not reported, and
  /// updates are not limited.
  Bands(Communicator& communicator, LocalSolver<T>& local, Outbox<T>& out, int tag, Pace pace, const Progress& progress,
        const ProblemSize& whole = {})
      : communicator_(communicator),
        local_(local),
        out_(out),
        tag_(tag),
        pace_(pace),
        progress_(progress),
        whole_(whole) {}

  /// Throws Cancelled on all ranks when one was cancelled. False, on all of them, when they gave up because the times
  /// do not settle.
  bool run() {
    Tally last = agree(false);
    for (bool quiet = false;;) {
      if (last.least != no_band) {
        band_ = static_cast<std::uint32_t>(last.least);
        ++counters_.bands;
        work();
      } else {
        receive();  // the reduction may be over before anybody looks
      }
      const Tally next = agree(pace_ == Pace::banded);
      if (next.sums[2] > 0 || given_up(next.sums[3])) {
        drain();
        if (next.sums[2] > 0) throw Cancelled();
        return false;
      }
      report(next);
      const bool none_waits = next.least == no_band && next.sums[0] == next.sums[1];
      if (quiet && none_waits && next.sums == last.sums) {
        if (progress_.report) progress_.report(1.0);
        return true;
      }
      quiet = none_waits;
      last = next;
    }
  }

  [[nodiscard]] const BandCounters& counters() const { return counters_; }

 private:
  /// Vertices processed between two looks at what has arrived.
  static constexpr std::size_t between_looks = 128;

  void report(const Tally& all) {
    if (!progress_.report || whole_.vertices == 0 || counters_.bands % 16 != 0) return;
    progress_.report(std::min(1.0, static_cast<double>(all.sums[3]) / static_cast<double>(whole_.vertices)));
  }

  /// Whether so many updates are more than a solve that ends can need.
  [[nodiscard]] bool given_up(std::int64_t updates) const {
    return whole_.vertices > 0 && static_cast<std::uint64_t>(updates) > max_updates(whole_);
  }
  bool advance(std::uint32_t band) {
    return local_.advance(band, between_looks, out_) &&
           !given_up(static_cast<std::int64_t>(local_.counters().vertex_updates));
  }

  /// Everything that can be done up to the band.
  void work() {
    if (pace_ == Pace::banded) {
      do receive();
      while (advance(band_));
    } else {
      receive();
      const std::uint32_t until = pace_ == Pace::local_solves ? no_band : band_;
      while (advance(until)) {
      }
    }
    out_.flush();
  }

  /// What it finds is sent when it finds nothing more, or with what the next band sends: nobody waits for it yet.
  bool work_ahead() {
    if (local_.work_ahead(between_looks, out_)) return true;
    out_.flush();
    return false;
  }

  /// Until no message is on its way. From the first reduction on nobody sends any more.
  void drain() {
    for (Tally all = agree(false); all.sums[0] != all.sums[1]; all = agree(false)) receive();
  }

  bool receive() {
    if (communicator_.takes_device_memory() && local_.takes_device_memory()) return receive_on_device();
    bool any = false;
    RankMessage message;
    while (communicator_.receive(tag_, message)) {
      any = true;
      ++counters_.received;
      const std::size_t count = message.bytes.size() / Outbox<T>::value_bytes;
      vertices_.resize(count);
      times_.resize(count);
      Unpack unpack(message.bytes);
      unpack.take_span(std::span<T>(times_));
      unpack.take_span(std::span<std::uint32_t>(vertices_));
      local_.accept(vertices_, times_);
    }
    return any;
  }

  bool receive_on_device() {
    bool any = false;
    while (communicator_.receive_on_device(tag_, device_message_)) {
      any = true;
      ++counters_.received;
      local_.accept_on_device(device_message_);
    }
    return any;
  }

  /// Contributes to a reduction and waits for its result; with `working`, works on what comes meanwhile.
  Tally agree(bool working) {
    out_.flush();  // what is not sent is not counted
    if (communicator_.watch) communicator_.watch();
    const std::int64_t stop = progress_.cancelled() ? 1 : 0;
    communicator_.start_tally(
        {local_.next_band(),
         {static_cast<std::int64_t>(out_.messages()), static_cast<std::int64_t>(counters_.received), stop,
          static_cast<std::int64_t>(local_.counters().vertex_updates)}});
    ++counters_.agreements;
    Tally all;
    Timer waiting;
    while (!communicator_.tally_done(all)) {
      const bool came = receive();
      const double waited = waiting.seconds();
      if (working && (came || work_ahead())) {
        counters_.idle_seconds += waited;
        if (came) work();
        waiting.restart();
      } else if (!came) {
        communicator_.pause();
      }
    }
    counters_.idle_seconds += waiting.seconds();
    return all;
  }

  Communicator& communicator_;
  LocalSolver<T>& local_;
  Outbox<T>& out_;
  int tag_;
  Pace pace_;
  const Progress& progress_;
  ProblemSize whole_;
  std::uint32_t band_ = 0;
  BandCounters counters_;
  std::vector<std::uint32_t> vertices_;
  std::vector<T> times_;
  DeviceMessage device_message_;
};

}  // namespace isochron::ranks
