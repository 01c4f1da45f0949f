// Who a particle interacts with, kept in lists, and which particles may move at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface/particles/bins.h"
#include "isochron/surface/particles/particle.h"

namespace isochron {

/// The neighbours of every particle: those on its sheet within the frame's reach times the smaller size. Symmetric.
class NeighbourLists {
 public:
  NeighbourLists() = default;
  /// The particles are sorted into `bins`.
  NeighbourLists(const BinFrame& frame, const Bins& bins, std::span<const Particle<double>> particles, int threads);

  [[nodiscard]] std::size_t particle_count() const { return offsets_.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t particle) const {
    return std::span(entries_).subspan(offsets_[particle], offsets_[particle + 1] - offsets_[particle]);
  }

 private:
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::uint32_t> entries_;
};

/// Sums over a list of neighbours, for `step_particle`.
struct ListedNeighbours {
  const Particle<double>* particles;
  std::span<const std::uint32_t> list;

  template <class Sum, class Add>
  [[nodiscard]] Sum sum(const Add& add) const {
    Sum all{};
    for (const std::uint32_t j : list) add(all, particles[j]);
    return all;
  }
};

/// Who moves when: waves one after another, the tasks of a wave at the same time, the particles of a task in order. No
/// particle of a task is a neighbour of one in another task of the same wave, so the result does not depend on how
/// tasks are spread over threads.
struct Waves {
  std::vector<std::uint32_t> order;  ///< particles
  std::vector<std::uint32_t> tasks;  ///< where each begins in `order`, and the end
  std::vector<std::uint32_t> waves;  ///< where each begins in `tasks`, and the end

  [[nodiscard]] std::size_t wave_count() const { return waves.size() - 1; }
};

/// Bins whose numbers agree modulo 3 along each axis move together: 27 waves, a bin a task (paper 002, section 4). For
/// bins of one level.
Waves waves_of_bins(const Bins& bins);

/// Particles are coloured one after another with the first colour that none of their neighbours has; a colour is a
/// wave.
Waves waves_by_colour(const NeighbourLists& lists);

}  // namespace isochron
