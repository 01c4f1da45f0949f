// What one rank of a distributed solve does by itself: the interface between the bands that all ranks go through
// together and whoever computes the times of one part (a core, a GPU; a mesh, an image).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "isochron/arrival.h"
#include "isochron/dist/halo.h"

namespace isochron::ranks {

/// After all bands: nothing is left to do.
inline constexpr std::uint32_t no_band = 0xffffffffU;

/// Computes the times of one part's own vertices from its own and its ghosts' times. It never changes a ghost by
/// itself. Bands are numbered by time, alike on all ranks.
template <class T>
class LocalSolver {
 public:
  LocalSolver() = default;
  LocalSolver(const LocalSolver&) = delete;
  LocalSolver& operator=(const LocalSolver&) = delete;
  virtual ~LocalSolver() = default;

  /// The first band in which there may be work; `no_band` when there is none at all.
  [[nodiscard]] virtual std::uint32_t next_band() = 0;

  /// Does some of the work up to the end of a band, about `most` vertices of it. Puts the times of border vertices that
  /// are new to the neighbours into `out`. Returns false when nothing was left to do in those bands; then `out` has
  /// been given everything that the ghosts do not know.
  virtual bool advance(std::uint32_t band, std::size_t most, Outbox<T>& out) = 0;

  /// Does some of the work of the bands after the current one, about `most` vertices of it, when there is nothing else
  /// to do. What turns out to have come too early is corrected. Returns false when it found nothing.
  virtual bool work_ahead([[maybe_unused]] std::size_t most, [[maybe_unused]] Outbox<T>& out) { return false; }

  /// Takes times of ghosts as their owners sent them, in any order; later ones than those known change nothing.
  virtual void accept(std::span<const std::uint32_t> vertices, std::span<const T> times) = 0;

  /// Whether it also takes messages of `Outbox` in device memory, as they are.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  virtual void accept_on_device([[maybe_unused]] const DeviceMessage& message) {}

  /// The work done so far.
  [[nodiscard]] virtual Counters counters() const = 0;
};

}  // namespace isochron::ranks
