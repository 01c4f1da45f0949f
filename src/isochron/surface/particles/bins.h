// Particles sorted into cubes: one width for all (paper 002, section 3.4), or a hierarchy of widths by size.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/host_device.h"
#include "isochron/core/vec.h"
#include "isochron/surface/particles/particle.h"

namespace isochron {

enum class BinKind {
  uniform,  ///< as wide as the largest size's reach
  adaptive  ///< a level for each doubling of the size, as wide as the reach of the sizes in it
};

/// Which cube of which level. The fields together are the key that bins are sorted by.
struct BinPlace {
  int level;
  int cell[3];

  static constexpr int cell_bits = 19, levels = 64;
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

/// Bins whose numbers agree modulo 3 along each axis have the same of 27 colours.
ISOCHRON_HD inline std::uint32_t bin_colour(std::uint64_t key) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << BinPlace::cell_bits) - 1;
  std::uint32_t colour = 0;
  for (int a = 2; a >= 0; --a) {
    colour = 3 * colour + static_cast<std::uint32_t>((key >> (a * BinPlace::cell_bits) & mask) % 3);
  }
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

}  // namespace isochron
