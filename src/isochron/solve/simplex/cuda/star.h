// How a tetrahedral mesh lies in device memory: by vertex, everything a push from it reads in one block.
#pragma once

#include <cstdint>

#include "isochron/types.h"

namespace isochron::cuda {

/// The tetrahedra at a vertex, or some of them when they are many. Memory of a star, in words of 4 bytes from
/// `8 · begin` bytes on: the ids of its neighbours; per tetrahedron one word about its other corners a, b, c; then six
/// arrays of squared lengths xa, xb, xc, ab, ac, bc, one value per tetrahedron.
struct StarHead {
  std::uint64_t begin : 40;
  std::uint64_t tets : 8;
  std::uint64_t neighbours : 8;
  float lead_step;     ///< what leads are counted in
  std::uint32_t next;  ///< another star of the same vertex; 0: none
};
static_assert(sizeof(StarHead) == 16);

inline constexpr unsigned max_neighbours = 48;  ///< of a star: what a tile's table in shared memory holds
inline constexpr unsigned max_tets = 64;        ///< of a star that was not cut
inline constexpr unsigned cut_tets = 16;        ///< of a star that was: 3 · 16 ≤ 48 neighbours in any mesh

/// A word about a tetrahedron of vertex x: for each of its other corners the place in the neighbour list, in 6 bits,
/// and then the level of its lead, in 4. A lead is a lower bound of how much later than x an arrival through x is there
/// (leads.h): `no_lead` says that none is known, other levels count steps from `lead_of_zero` on.
inline constexpr unsigned place_bits = 6, lead_bits = 4;
inline constexpr unsigned no_lead = 0, lead_of_zero = 5, max_lead = 15;
static_assert(max_neighbours <= 1U << place_bits && max_lead < 1U << lead_bits);

ISOCHRON_HD constexpr unsigned place_of(std::uint32_t word, unsigned corner) {
  return (word >> (place_bits * corner)) & ((1U << place_bits) - 1);
}
ISOCHRON_HD constexpr unsigned lead_level_of(std::uint32_t word, unsigned corner) {
  return (word >> (3 * place_bits + lead_bits * corner)) & ((1U << lead_bits) - 1);
}
ISOCHRON_HD constexpr std::uint32_t place_word(unsigned place, unsigned corner) {
  return place << (place_bits * corner);
}
ISOCHRON_HD constexpr std::uint32_t lead_word(unsigned level, unsigned corner) {
  return level << (3 * place_bits + lead_bits * corner);
}

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
