// Particles sorted into cubes: one width for all (paper 002, section 3.4), or a hierarchy of widths by size.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

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
  [[nodiscard]] std::uint64_t key() const {
    std::uint64_t all = static_cast<std::uint64_t>(level);
    for (int a = 2; a >= 0; --a) all = all << cell_bits | static_cast<std::uint64_t>(cell[a]);
    return all;
  }
};

/// The widths of the bins, and which particle lies where. Bins are at least `reach` sizes wide for every particle in
/// them, so whatever two particles' distance is below `reach` times the smaller of their sizes, they lie in touching
/// bins of the same level, or one level's bins overlap the other's ball.
class BinFrame {
 public:
  BinFrame() = default;
  /// At least one particle.
  BinFrame(std::span<const Particle<double>> particles, BinKind kind, double reach);

  [[nodiscard]] int level_count() const { return level_count_; }
  [[nodiscard]] double width(int level) const { return std::ldexp(narrowest_, level); }
  [[nodiscard]] int level(double size) const {
    if (level_count_ == 1) return 0;
    const int level = std::ilogb(size / smallest_);
    return level < 0 ? 0 : (level < level_count_ ? level : level_count_ - 1);
  }
  [[nodiscard]] int cell(int level, int axis, double coordinate) const {
    const double at = (coordinate - low_[axis]) / width(level);
    const double last = (1 << BinPlace::cell_bits) - 1;
    return at > 0 ? static_cast<int>(at < last ? at : last) : 0;
  }
  [[nodiscard]] BinPlace place(const Particle<double>& particle) const {
    const int at = level(particle.size);
    return {at, {cell(at, 0, particle.position.x), cell(at, 1, particle.position.y), cell(at, 2, particle.position.z)}};
  }
  [[nodiscard]] double reach() const { return reach_; }

 private:
  Vec3d low_;
  double smallest_ = 0, narrowest_ = 0, reach_ = 0;
  int level_count_ = 1;
};

/// Bins over particles that are sorted by their keys: particles [begin, end) lie in bin `key`.
struct Bin {
  std::uint64_t key = 0;
  std::uint32_t begin = 0, end = 0;
};

class Bins {
 public:
  Bins() = default;
  /// `keys` are sorted, one a particle.
  explicit Bins(std::span<const std::uint64_t> keys);

  [[nodiscard]] std::span<const Bin> all() const { return bins_; }
  /// The particles of a bin; none where there is no such bin.
  [[nodiscard]] Bin find(std::uint64_t key) const {
    for (std::size_t at = slot(key);; at = (at + 1) & (table_.size() - 1)) {
      const std::uint32_t entry = table_[at];
      if (entry == empty) return {};
      if (bins_[entry].key == key) return bins_[entry];
    }
  }

 private:
  static constexpr std::uint32_t empty = ~std::uint32_t{0};
  [[nodiscard]] std::size_t slot(std::uint64_t key) const { return (key * 0x9e3779b97f4a7c15ULL) >> shift_; }

  std::vector<Bin> bins_;
  std::vector<std::uint32_t> table_;
  int shift_ = 0;
};

/// The order that sorts particles into their bins, and their keys in that order. Particles of a bin keep their order.
struct BinOrder {
  std::vector<std::uint32_t> order;
  std::vector<std::uint64_t> keys;
};
BinOrder bin_order(const BinFrame& frame, std::span<const Particle<double>> particles, int threads);

}  // namespace isochron
