// The Hilbert curve, and the frame that lays it over a set of points. For host and device.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "isochron/types.h"

namespace isochron {

/// The Hilbert curve as a state machine (Hamilton and Rau-Chaplin 2007). A state is where the curve enters a cell and
/// along which axis it leaves; one step takes `levels` bits of each coordinate to as many groups of key bits.
template <int Dim>
struct HilbertTable {
  static constexpr int levels = 2;
  static constexpr unsigned states = Dim << Dim;
  static constexpr unsigned cells = 1U << (levels * Dim);
  struct Step {
    std::uint8_t key;
    std::uint8_t state;
  };
  std::array<std::array<Step, cells>, states> step{};

  static constexpr unsigned mask = (1U << Dim) - 1;
  static constexpr unsigned rotate_left(unsigned x, unsigned by) {
    by %= Dim;
    return ((x << by) | (x >> (Dim - by))) & mask;
  }

  /// One level: `cell` has one bit per axis.
  static constexpr Step advance(unsigned state, unsigned cell) {
    unsigned entry = state / Dim;
    const unsigned axis = state % Dim;
    const unsigned gray = rotate_left(cell ^ entry, Dim - (axis + 1) % Dim);
    unsigned rank = gray;
    for (unsigned shift = 1; shift < Dim; ++shift) rank ^= gray >> shift;
    const unsigned even = rank == 0 ? 0 : (rank - 1) / 2 * 2;
    entry ^= rotate_left(even ^ (even >> 1), axis + 1);
    const unsigned turned = rank == 0 ? 0 : (rank % 2 == 0 ? rank - 1 : rank);
    const unsigned turn = static_cast<unsigned>(std::countr_one(turned)) % Dim;
    return {static_cast<std::uint8_t>(rank), static_cast<std::uint8_t>(entry * Dim + (axis + turn + 1) % Dim)};
  }

  constexpr HilbertTable() {
    for (unsigned state = 0; state < states; ++state)
      for (unsigned cell = 0; cell < cells; ++cell) {
        unsigned key = 0, now = state;
        for (int level = levels - 1; level >= 0; --level) {
          unsigned bits = 0;
          for (int axis = 0; axis < Dim; ++axis) bits |= ((cell >> (axis * levels + level)) & 1U) << axis;
          const Step one = advance(now, bits);
          key = (key << Dim) | one.key;
          now = one.state;
        }
        step[state][cell] = {static_cast<std::uint8_t>(key), static_cast<std::uint8_t>(now)};
      }
  }

  [[nodiscard]] ISOCHRON_HD std::uint64_t key(const std::array<std::uint32_t, Dim>& cell, int bits) const {
    std::uint64_t result = 0;
    unsigned state = 0;
    for (int shift = bits - levels; shift >= 0; shift -= levels) {
      unsigned index = 0;
      for (int axis = 0; axis < Dim; ++axis) index |= ((cell[axis] >> shift) & 3U) << (axis * levels);
      const Step next = step[state][index];
      result = (result << (levels * Dim)) | next.key;
      state = next.state;
    }
    return result;
  }
};

/// A cubic frame of cells over a box of points.
struct CurveFrame {
  Vec3d low;
  int axes[3];   ///< the longest side of the box first
  int dim;       ///< axes that the curve follows: 2 for flat sets of points
  int bits;      ///< of a cell's number along an axis
  double scale;  ///< cells per length

  /// Where a point lies on the curve; `Dim` must be `dim`. A NaN goes to 0.
  template <int Dim>
  [[nodiscard]] ISOCHRON_HD std::uint64_t key(const HilbertTable<Dim>& table, const Vec3d& point) const {
    const double last = static_cast<double>((1U << bits) - 1);
    std::array<std::uint32_t, Dim> cell{};
    for (int k = 0; k < Dim; ++k) {
      const double x = (point[axes[k]] - low[axes[k]]) * scale;
      cell[k] = x > 0 ? static_cast<std::uint32_t>(x < last ? x : last) : 0;
    }
    return table.key(cell, bits);
  }
};

}  // namespace isochron
