// Adding particles where there are too few and removing them where there are too many (paper 002, section 3.3).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/core/random.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/step.h"
#include "isochron/types.h"

namespace isochron {

/// The random number of [0, 1) that belongs to a particle in an iteration.
ISOCHRON_HD inline double particle_chance(std::uint64_t seed, std::uint64_t iteration, std::uint64_t particle) {
  Random random(seed + 0x632be59bd9b4e019ULL * iteration);
  return Random(random.bits() ^ (particle * 0x9e3779b97f4a7c15ULL)).uniform();
}

/// Where energies say that something is to be done, in parts of the ideal energy.
template <class T>
struct DensityRules {
  T split_below, delete_above;
  bool may_split;
};

/// Of a particle that acts without asking its neighbours.
template <class T>
inline constexpr T certain_urge = T(1e9);

/// How much a particle wants to split (above 0) or to go (below 0), with the random bias in (0, 1] that keeps a crowd
/// from going together. Far from the ideal, numbers are beyond all others': a third of such particles act, whatever
/// their neighbours do, so that far too few or far too many do not take forever to mend.
template <class T>
ISOCHRON_HD T density_urge(T energy, std::size_t neighbours, T chance, const DensityRules<T>& rules) {
  constexpr std::size_t hardly_a_component = 6;
  constexpr T hardly_any = T(0.25), a_crowd = T(2.5), share = T(0.35);
  const T ratio = energy / T(ideal_energy);
  if (rules.may_split && ratio < rules.split_below) {
    return ratio < hardly_any && chance < share ? certain_urge<T> : (1 - ratio) * (1 - chance);
  }
  if (ratio > rules.delete_above && neighbours >= hardly_a_component) {
    if (ratio > a_crowd) return chance < share ? -certain_urge<T> : T(0);
    return -(ratio - 1) * (1 - chance);
  }
  return 0;
}

/// Where a newcomer would have more than this, in parts of the ideal energy, there is no gap: its parent lacks energy
/// since it does not see those beyond a sharp ridge. (The middle of a triangle of the ideal lattice has 3.1.)
inline constexpr double max_crowded = 2.7;

/// The emptiest place around a particle: of some points half a size to a size away in the tangent plane, where the
/// fields hold them, the one where the energy would be least.
template <class T, class Neighbours, class Fields>
ISOCHRON_HD Vec3<T> emptiest_place(const Particle<T>& particle, const Neighbours& neighbours, const Fields& fields) {
  constexpr int directions = 12, rings = 2;
  const TangentPlane<T> plane(particle.normal);
  Vec3<T> best = particle.position;
  T least = -1;
  for (int k = 0; k < directions * rings; ++k) {
    const T angle = T(6.283185307179586) * T(k % directions) / directions;
    const T far = particle.size * (k < directions ? T(0.6) : T(0.9));
    const Vec3<T> there = particle.position + (far * std::cos(angle)) * plane.u + (far * std::sin(angle)) * plane.v;
    if (!fields.holds(there)) continue;
    Energies<T> energies = neighbours.template sum<Energies<T>>(
        [&](Energies<T>& sum, const Particle<T>& neighbour) { add_energy(sum, there, particle.size, neighbour); });
    add_energy(energies, there, particle.size, particle);
    if (least < 0 || energies.plain < least) {
      least = energies.plain;
      best = there;
    }
  }
  return best;
}

struct DensityChange {
  std::size_t added = 0, deleted = 0;
};

struct DensityPlan {
  std::vector<std::uint32_t> deleted;   ///< in order
  std::vector<Particle<double>> added;  ///< on the surface
};

/// Whether no neighbour wants to act more; of equals the first one acts.
inline bool has_most_urge(std::size_t i, const std::vector<double>& urges, const NeighbourLists& lists) {
  const double own = std::abs(urges[i]);
  if (own == certain_urge<double>) return true;
  for (const std::uint32_t j : lists.of(i)) {
    const double other = std::abs(urges[j]);
    if (other > own || (other == own && j < i)) return false;
  }
  return true;
}

/// One round: of the particles that want to split or go, those act that want it most among their neighbours.
template <class Fields>
DensityPlan plan_density(std::span<const Particle<double>> particles, const BinFrame& frame, const Bins& bins,
                         const NeighbourLists& lists, const Fields& fields, const DensityRules<double>& rules,
                         std::uint64_t seed, std::uint64_t iteration, int threads) {
  const std::size_t count = particles.size();
  std::vector<double> urges(count);
  parallel_for(threads, count, [&](std::size_t i) {
    const Particle<double>& here = particles[i];
    if (is_fixed(here)) return;
    const ListedNeighbours neighbours{particles.data(), lists.of(i)};
    const auto energies = neighbours.sum<Energies<double>>([&](Energies<double>& sum, const Particle<double>& other) {
      add_energy(sum, here.position, here.size, other);
    });
    urges[i] = density_urge(energies.plain, neighbours.list.size(), particle_chance(seed, iteration, i), rules);
  });
  DensityPlan plan;
  for (std::size_t i = 0; i < count; ++i) {
    if (urges[i] == 0 || !has_most_urge(i, urges, lists)) continue;
    if (urges[i] < 0) {
      plan.deleted.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const Particle<double>& here = particles[i];
    const Vec3d place = emptiest_place(here, ListedNeighbours{particles.data(), lists.of(i)}, fields);
    const Projection<double> landed = fields.put(place, here.size, 0.02 * here.size, 8);
    if (!landed.reached || !(dot(landed.normal, here.normal) > 0)) continue;
    const Particle<double> newcomer{landed.position, fields.sizes.size(landed.position), landed.normal, here.lambda};
    if (newcomer_energy(frame, bins.table(), particles.data(), newcomer) < max_crowded * ideal_energy) {
      plan.added.push_back(newcomer);
    }
  }
  return plan;
}

}  // namespace isochron
