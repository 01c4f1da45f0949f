// Who a particle interacts with, kept in lists, and which particles may move at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface/particles/bins.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/step.h"

namespace isochron {

/// Calls `visit(j)` for every particle on the sheet of `here` within the frame's reach times the smaller of their
/// sizes, but not for particle i. Symmetric to the last bit: i is found from j when j is found from i.
template <class T, class Visit>
ISOCHRON_HD void find_neighbours(const BinFrame& frame, const BinTable& bins, const Particle<T>* particles,
                                 const Particle<T>& here, std::uint32_t i, Visit&& visit) {
  for (int level = 0; level < frame.level_count(); ++level) {
    const double width = frame.width(level), own = frame.reach() * here.size;
    const double radius = (1 + 1e-6) * (own < width ? own : width);  // rounding loses nobody
    int first[3], last[3];
    for (int a = 0; a < 3; ++a) {
      first[a] = frame.cell(width, a, here.position[a] - radius);
      last[a] = frame.cell(width, a, here.position[a] + radius);
    }
    BinPlace place{level, {}};
    for (place.cell[2] = first[2]; place.cell[2] <= last[2]; ++place.cell[2]) {
      for (place.cell[1] = first[1]; place.cell[1] <= last[1]; ++place.cell[1]) {
        for (place.cell[0] = first[0]; place.cell[0] <= last[0]; ++place.cell[0]) {
          const Bin bin = bins.find(place.key());
          for (std::uint32_t j = bin.begin; j < bin.end; ++j) {
            const Particle<T>& there = particles[j];
            const Vec3<T> apart = here.position - there.position;
            const T reach = static_cast<T>(frame.reach()) * (here.size < there.size ? here.size : there.size);
            if (dot(apart, apart) < reach * reach && j != i && same_sheet(here, there)) visit(j);
          }
        }
      }
    }
  }
}

/// The energy that a particle would have which is not there yet. The others lie near enough to where they were sorted
/// into bins that all its neighbours are found.
template <class T>
ISOCHRON_HD T newcomer_energy(const BinFrame& frame, const BinTable& bins, const Particle<T>* particles,
                              const Particle<T>& newcomer) {
  Energies<T> sum;
  find_neighbours(frame, bins, particles, newcomer, BinTable::empty,
                  [&](std::uint32_t j) { add_energy(sum, newcomer.position, newcomer.size, particles[j]); });
  return sum.plain;
}

/// The neighbours of every particle: those on its sheet within the frame's reach times the smaller size.
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
