// The banded schedule on one part of a mesh or an image that a GPU holds.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "isochron/solve/ranks/cuda/device_part.h"
#include "isochron/solve/ranks/local_solver.h"
#include "isochron/solve/ranks/rank_engine.h"
#include "isochron/solve/schedules/banded/banded.h"

namespace isochron::ranks {

/// The width of a band in those of the CPU, on meshes, and in mean shortest steps, on images. A GPU wants thousands of
/// vertices at a time and some microseconds before it starts on them, so its bands are wide; inside a band the order is
/// that of rounds. Chosen by counting (bench/NOTES.md), not yet measured on several GPUs.
inline constexpr double device_bands = 8, device_steps = 4;

/// Bands of a part on a device, alike on all ranks.
template <class T>
BandScale<T> device_scale(BandTuning tuning, T mean_edge) {
  tuning.buckets = BandScale<T>::last_of_all + 1;  // what is behind the horizon lies on one list, however late
  return band_scale(tuning, mean_edge);
}

/// As `BandedLocal`, with the times on the device: what is here says when it does what.
///
/// Border times in a band are sent when the band comes up, before anything in it is pushed, so that the neighbours can
/// work on it at the same time; then again after every few rounds, those that have changed.
template <class T>
class DeviceLocal final : public LocalSolver<T> {
 public:
  /// `state.seeds` are owned vertices and have their times. Keeps references; the part is cleared.
  DeviceLocal(DevicePart<T>& part, const SolveState<T>& state, const Halo& halo, BandScale<T> scale)
      : part_(part), scale_(scale), has_border_(halo.border() > 0) {
    part.clear(state.tolerance);
    for (const std::uint32_t v : state.seeds) {
      vertices_.push_back(v);
      times_.push_back(state.time[v]);
    }
  }

  [[nodiscard]] std::uint32_t next_band() override {
    if (lower_accepted()) standing_ = part_.standing();
    if (standing_.near > 0) return band_;
    return standing_.far > 0 ? scale_.place(standing_.far_least, opened_ ? band_ + 1 : 0) : no_band;
  }

  bool advance(std::uint32_t band, std::size_t, Outbox<T>& out) override {
    band = std::min(band, BandScale<T>::last_of_all);
    const bool opens = !opened_ || band > band_;
    if (opens) {
      opened_ = true;
      band_ = band;
      part_.open(scale_.horizon(band));
    }
    const bool accepted = lower_accepted();
    if (!accepted && standing_.near == 0 && !(opens && standing_.far > 0)) return false;
    part_.push(!has_border_ ? rounds_alone : opens ? 0 : rounds_between_looks);
    standing_ = part_.standing();
    if (standing_.changed > 0) send(out);
    return standing_.near > 0;
  }

  void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) override {
    vertices_.insert(vertices_.end(), vertices.begin(), vertices.end());
    times_.insert(times_.end(), times.begin(), times.end());
  }

  [[nodiscard]] bool takes_device_memory() const override { return true; }
  void accept_on_device(const DeviceMessage& message) override {
    part_.lower(message);
    lowered_ = true;
  }

  [[nodiscard]] Counters counters() const override {
    Counters counters;
    counters.local_solves = standing_.solves;
    counters.vertex_updates = standing_.updates;
    counters.rounds = standing_.rounds;
    return counters;
  }

 private:
  /// Rounds between two looks at what has arrived (bench/NOTES.md), and of a part that nobody waits for.
  static constexpr std::uint32_t rounds_between_looks = 4, rounds_alone = 256;

  /// True when something was accepted since the part's standing was known.
  bool lower_accepted() {
    const bool any = std::exchange(lowered_, false) || !vertices_.empty();
    if (!vertices_.empty()) part_.lower(vertices_, times_);
    vertices_.clear();
    times_.clear();
    return any;
  }

  void send(Outbox<T>& out) {
    if (out.takes_device_memory()) {
      const std::vector<PackedMessage> messages = part_.pack(standing_.changed);
      for (std::size_t peer = 0; peer < messages.size(); ++peer)
        if (messages[peer].bytes > 0) out.send_from_device(peer, messages[peer].data, messages[peer].bytes);
      return;
    }
    part_.changed(changed_, standing_.changed);
    for (const BorderTime<T>& value : changed_) out.put(value.border, value.time);
    out.flush();
  }

  DevicePart<T>& part_;
  BandScale<T> scale_;
  bool has_border_;
  bool opened_ = false;   ///< a band was
  bool lowered_ = false;  ///< messages were accepted that came in device memory
  std::uint32_t band_ = 0;
  PartStanding<T> standing_;
  std::vector<std::uint32_t> vertices_;  ///< accepted, and not yet on the device
  std::vector<T> times_;
  std::vector<BorderTime<T>> changed_;
};

/// All ranks together, each with its part on the current device: goes through the bands until none has anything left to
/// do; `state` gets the times.
template <class T>
RankWork run_on_device(Communicator& communicator, const Halo& halo, DevicePart<T>& part, SolveState<T>& state,
                       const BandTuning& tuning, T mean_edge, Pace pace, const Progress& progress,
                       const ProblemSize& whole) {
  DeviceLocal<T> local(part, state, halo, device_scale(tuning, mean_edge));
  RankWork work = run_bands(communicator, halo, static_cast<LocalSolver<T>&>(local), pace, progress, whole);
  part.times(state.time);
  return work;
}

}  // namespace isochron::ranks
