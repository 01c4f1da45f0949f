// How a tetrahedral mesh lies in device memory: by vertex, everything a push from it reads in one block.
#pragma once

#include <cstdint>

#include "isochron/types.h"

namespace isochron::cuda {

/// The tetrahedra at a vertex, or some of them when they are many. Memory of a star, in words of 4 bytes from
/// `8 · begin` bytes on: the ids of its neighbours; per tetrahedron one word that says which neighbours are its other
/// corners a, b, c; then six arrays of squared lengths xa, xb, xc, ab, ac, bc, one value per tetrahedron.
struct StarHead {
  std::uint64_t begin;
  std::uint16_t tets;
  std::uint16_t neighbours;
  std::uint32_t next;  ///< another star of the same vertex; 0: none
};

inline constexpr unsigned max_neighbours = 48;  ///< of a star: what a tile's table in shared memory holds
inline constexpr unsigned max_tets = 64;        ///< of a star that was not cut
inline constexpr unsigned cut_tets = 16;        ///< of a star that was: 3 · 16 ≤ 48 neighbours in any mesh

/// Corner word: three bytes with places in the neighbour list, then one bit for each that is obtuse.
inline constexpr std::uint32_t obtuse_bit = 1U << 24;

/// Words before the lengths, kept even for lengths of 8 bytes.
ISOCHRON_HD constexpr std::uint32_t words_before_lengths(std::uint32_t tets, std::uint32_t neighbours) {
  return (tets + neighbours + 1) & ~1U;
}
/// Size of a star in units of 8 bytes.
template <class T>
ISOCHRON_HD constexpr std::uint32_t star_units(std::uint32_t tets, std::uint32_t neighbours) {
  return (words_before_lengths(tets, neighbours) * 4 + tets * 6 * static_cast<std::uint32_t>(sizeof(T)) + 7) / 8;
}

}  // namespace isochron::cuda
