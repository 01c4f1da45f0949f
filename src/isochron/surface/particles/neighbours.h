// Particles sorted into cubes (one width for all as in paper 002, section 3.4, or a hierarchy of widths by size), and
// which of them interact.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/step.h"
#include "isochron/types.h"

namespace isochron {

/// Which cube of which level. The fields together are the key that bins are sorted by.
struct BinPlace {
  int level;
  int cell[3];

  static constexpr int cell_bits = 19, levels = 64;
  ISOCHRON_HD static BinPlace of_key(std::uint64_t key) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << cell_bits) - 1;
    BinPlace place{static_cast<int>(key >> (3 * cell_bits)), {}};
    for (int a = 0; a < 3; ++a) place.cell[a] = static_cast<int>(key >> (a * cell_bits) & mask);
    return place;
  }
  [[nodiscard]] ISOCHRON_HD std::uint64_t key() const {
    std::uint64_t all = static_cast<std::uint64_t>(level);
    for (int a = 2; a >= 0; --a) all = all << cell_bits | static_cast<std::uint64_t>(cell[a]);
    return all;
  }
};

/// The smallest and largest size of some particles, and the box that they lie in.
struct ParticleBox {
  Vec3d low, high;
  double smallest, largest;
};
/// At least one particle.
ParticleBox particle_box(std::span<const Particle<double>> particles);

/// The widths of the bins, and which particle lies where. A bin is at least `reach` sizes wide for every particle in
/// it. So two particles that are closer than `reach` times the smaller of their sizes lie in touching bins when they
/// are of one level, and no other level need be searched farther than that distance or a width of its own bins.
class BinFrame {
 public:
  BinFrame() = default;
  BinFrame(const ParticleBox& box, BinKind kind, double reach);

  [[nodiscard]] ISOCHRON_HD int level_count() const { return level_count_; }
  [[nodiscard]] ISOCHRON_HD double width(int level) const { return std::ldexp(narrowest_, level); }
  [[nodiscard]] ISOCHRON_HD int level(double size) const {
    if (level_count_ == 1) return 0;
    const int level = std::ilogb(size / smallest_);
    return level < 0 ? 0 : (level < level_count_ ? level : level_count_ - 1);
  }
  [[nodiscard]] ISOCHRON_HD int cell(double width, int axis, double coordinate) const {
    const double at = (coordinate - low_[axis]) / width;
    constexpr double last = (1 << BinPlace::cell_bits) - 1;
    return at > 0 ? static_cast<int>(at < last ? at : last) : 0;
  }
  template <class T>
  [[nodiscard]] ISOCHRON_HD BinPlace place(const Particle<T>& particle) const {
    BinPlace at{level(particle.size), {}};
    for (int a = 0; a < 3; ++a) at.cell[a] = cell(width(at.level), a, particle.position[a]);
    return at;
  }
  [[nodiscard]] ISOCHRON_HD double reach() const { return reach_; }

 private:
  Vec3d low_;
  double smallest_ = 0, narrowest_ = 0, reach_ = 0;
  int level_count_ = 1;
};

/// Bins whose numbers agree modulo 3 along each axis have the same of 27 colours: no bin touches two of a colour.
inline constexpr std::size_t bin_colours = 27;
ISOCHRON_HD inline std::uint32_t bin_colour(std::uint64_t key) {
  const BinPlace place = BinPlace::of_key(key);
  std::uint32_t colour = 0;
  for (int a = 2; a >= 0; --a) colour = 3 * colour + static_cast<std::uint32_t>(place.cell[a] % 3);
  return colour;
}

/// Particles [begin, end) lie in bin `key`.
struct Bin {
  std::uint64_t key = 0;
  std::uint32_t begin = 0, end = 0;
};

/// Finds bins by their keys: a hash table of their numbers with 2^`bits` slots, a slot's followers being tried next.
struct BinTable {
  const Bin* bins;
  const std::uint32_t* slots;
  int bits;

  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  [[nodiscard]] ISOCHRON_HD std::uint32_t first_slot(std::uint64_t key) const {
    return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
  }
  [[nodiscard]] ISOCHRON_HD std::uint32_t next_slot(std::uint32_t slot) const {
    return (slot + 1) & ((std::uint32_t{1} << bits) - 1);
  }
  /// The particles of a bin; none where there is no such bin.
  [[nodiscard]] ISOCHRON_HD Bin find(std::uint64_t key) const {
    for (std::uint32_t at = first_slot(key);; at = next_slot(at)) {
      const std::uint32_t entry = slots[at];
      if (entry == empty) return {};
      if (bins[entry].key == key) return bins[entry];
    }
  }
};

/// Bins over particles that are sorted by their keys.
class Bins {
 public:
  Bins() = default;
  /// `keys` are sorted, one a particle.
  explicit Bins(std::span<const std::uint64_t> keys);

  [[nodiscard]] std::span<const Bin> all() const { return bins_; }
  [[nodiscard]] BinTable table() const { return {bins_.data(), slots_.data(), bits_}; }

 private:
  std::vector<Bin> bins_;
  std::vector<std::uint32_t> slots_;
  int bits_ = 0;
};

/// The bits of a table for so many bins: at least every other slot stays empty.
int bin_table_bits(std::size_t bins);

/// The order that sorts particles into their bins, and their keys in that order. Particles of a bin keep their order.
struct BinOrder {
  std::vector<std::uint32_t> order;
  std::vector<std::uint64_t> keys;
};
BinOrder bin_order(const BinFrame& frame, std::span<const Particle<double>> particles, int threads);

// ---- The lists of neighbours a particle interacts with, and which particles may move at the same time.

/// Calls `visit(j)` for every particle on the sheet of `here` within the frame's reach times the smaller of their
/// sizes, but not for particle i. Symmetric to the last bit: i is found from j when j is found from i.
template <class T, class Visit>
ISOCHRON_HD void find_neighbours(const BinFrame& frame, const BinTable& bins, const Particle<T>* particles,
                                 const Particle<T>& here, std::uint32_t i, Visit&& visit) {
  for (int level = 0; level < frame.level_count(); ++level) {
    const double width = frame.width(level), own = frame.reach() * here.size;
    const double radius = (1 + 1e-6) * (own < width ? own : width);  // rounding loses no neighbour
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

/// The numbers of the bins of each colour, in order.
std::array<std::vector<std::uint32_t>, bin_colours> bins_by_colour(const Bins& bins);

/// Bins whose numbers agree modulo 3 along each axis move together: 27 waves, a bin a task (paper 002, section 4). For
/// bins of one level.
Waves waves_of_bins(const Bins& bins);

/// Particles are coloured one after another with the first colour that none of their neighbours has; a colour is a
/// wave.
Waves waves_by_colour(const NeighbourLists& lists);

}  // namespace isochron
