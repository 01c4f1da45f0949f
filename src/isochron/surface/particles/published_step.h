// The scheme of paper 002 as published: its energy and constants, and what one worker does with a bin. For host and
// device.
//
// The paper's h is not the length of an edge: at its ideal energy of 3.462 (section 3.3) a hexagonal lattice has edges
// of 0.657 h. Sizes are edge lengths here too, so h is a size over 0.657.
#pragma once

#include <cmath>
#include <cstdint>

#include "isochron/surface.h"
#include "isochron/surface/particles/density.h"
#include "isochron/surface/particles/neighbours.h"
#include "isochron/surface/particles/particle.h"
#include "isochron/surface/particles/step.h"
#include "isochron/types.h"

namespace isochron {

/// Section 3.3. (In a lattice of edges h equations 1 and 2 give `ideal_energy`; 3.462 is 6 × 0.577, six times the
/// scaled distance there.)
inline constexpr double published_ideal_energy = 3.462;
/// Edges of the hexagonal lattice that has this energy, in h: its first three rings count.
inline constexpr double published_spacing = 0.6574081490918813;
/// h, in sizes: how wide bins are and how far a step may go.
inline constexpr double published_length = 1 / published_spacing;

/// Equations 1 to 4: no weights.
struct PublishedPairs {
  static constexpr double reach = energy_reach * published_length;  ///< in sizes
  template <class T>
  ISOCHRON_HD static constexpr T weight(T /*pair_size*/) {
    return 1;
  }
  template <class T>
  ISOCHRON_HD static constexpr T per_reach(T pair_reach) {
    return 1 / pair_reach;
  }
};

/// Section 3.2. The diagonal of the Hessian is multiplied by 1 + λ (Marquardt). The Hessian is that in the tangent
/// plane: the diagonal of the one in space may be negative, since it is negative along the normal. λ is multiplied by
/// 10 after a step that does not help and divided by it after one that does ("increased or decreased"). Algorithm 1 to
/// the letter only increases it: on balls and rings particles then freeze with mean radius ratios of 0.80 to 0.83,
/// against 0.92 to 0.94 so and 0.91 to 0.92 in the paper's Table 1. The paper has no first, smallest and largest λ:
/// ours are taken.
template <class T>
struct PublishedRules {
  using Pairs = PublishedPairs;
  T lambda_step = 10;
  T largest_lambda = StepRules<T>{}.largest_lambda;
  T smallest_lambda = StepRules<T>{}.smallest_lambda;
  T stretch = 1, rest = 0;
  T flatness = StepRules<T>{}.flatness;  ///< equation 5 is repeated until it corrects less

  ISOCHRON_HD bool damped(const Pull<T>& pull, T lambda, T* step) const {
    const T a = (1 + lambda) * pull.bend[0], b = pull.bend[1], c = (1 + lambda) * pull.bend[2];
    const T determinant = a * c - b * b;
    if (!(determinant < 0 || determinant > 0)) return false;
    step[0] = (b * pull.slope[1] - c * pull.slope[0]) / determinant;
    step[1] = (b * pull.slope[0] - a * pull.slope[1]) / determinant;
    return true;
  }
  template <class Fields>
  ISOCHRON_HD T size_at(const Particle<T>& /*from*/, const Fields& fields, Vec3<T> there) const {
    return fields.sizes.size(there);
  }
  ISOCHRON_HD constexpr bool may_land(const Particle<T>& /*from*/, Vec3<T> /*normal*/) const { return true; }
};

// ---- Bins and their neighbourhoods (sections 3.4, 4.1 and 5.3).

/// Calls `visit(bin)` for a bin and then for the others of the 27 around it that have particles.
template <class Visit>
ISOCHRON_HD void for_neighbourhood(const BinTable& table, const Bin& bin, Visit&& visit) {
  visit(bin);
  const BinPlace middle = BinPlace::of_key(bin.key);
  constexpr int last = (1 << BinPlace::cell_bits) - 1;
  for (int k = 0; k < 27; ++k) {
    const int steps[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    BinPlace place = middle;
    bool inside = k != 13;  // the middle
    for (int a = 0; a < 3; ++a) {
      place.cell[a] += steps[a];
      inside = inside && place.cell[a] >= 0 && place.cell[a] <= last;
    }
    if (!inside) continue;
    const Bin other = table.find(place.key());
    if (other.end > other.begin) visit(other);
  }
}

/// How many particles a bin and those around it have.
ISOCHRON_HD inline std::uint32_t count_neighbourhood(const BinTable& table, const Bin& bin) {
  std::uint32_t count = 0;
  for_neighbourhood(table, bin, [&](const Bin& other) { count += other.end - other.begin; });
  return count;
}

/// Copies of the particles of a bin, `own` of them, and then of those around it.
template <class T>
struct Neighbourhood {
  Particle<T>* particles;
  std::uint32_t own, count;
};

/// What a worker of one thread does with a neighbourhood. On a GPU a block of threads takes its place, whose threads
/// share `sum` (section 5.2), and of which one writes.
struct OneThread {
  /// The sum over all particles but one.
  template <class Sum, class T, class Add>
  ISOCHRON_HD Sum sum(const Neighbourhood<T>& all, std::uint32_t but, const Add& add) const {
    Sum result{};
    for (std::uint32_t j = 0; j < but; ++j) add(result, all.particles[j]);
    for (std::uint32_t j = but + 1; j < all.count; ++j) add(result, all.particles[j]);
    return result;
  }
  template <class T>
  ISOCHRON_HD void write(T& place, const T& value) const {
    place = value;
  }
};

/// All particles of a neighbourhood but one, for `step_particle`.
template <class T, class Worker>
struct CopiedNeighbours {
  const Neighbourhood<T>& all;
  std::uint32_t but;
  const Worker& worker;

  template <class Sum, class Add>
  [[nodiscard]] ISOCHRON_HD Sum sum(const Add& add) const {
    return worker.template sum<Sum>(all, but, add);
  }
};

struct BinWork {
  std::uint32_t moved = 0, energies = 0, splines = 0;
};

/// Moves the particles of a bin, one after another, within their neighbourhood; each by at most `room`.
template <class T, class Fields, class Worker>
ISOCHRON_HD BinWork move_bin(const Neighbourhood<T>& all, const Fields& fields, T room, const PublishedRules<T>& rules,
                             const Worker& worker) {
  BinWork work;
  for (std::uint32_t i = 0; i < all.own; ++i) {
    const Step<T> step =
        step_particle(all.particles[i], fields, CopiedNeighbours<T, Worker>{all, i, worker}, room, rules);
    worker.write(all.particles[i], step.particle);
    work.moved += step.moved > 0;
    work.energies += static_cast<std::uint32_t>(step.energies);
    work.splines += static_cast<std::uint32_t>(step.splines);
  }
  return work;
}

/// The energy of particle i of a bin.
template <class T, class Worker>
ISOCHRON_HD T published_energy(const Neighbourhood<T>& all, std::uint32_t i, const Worker& worker) {
  const Particle<T>& here = all.particles[i];
  const auto energies = worker.template sum<Energies<T>>(all, i, [&](Energies<T>& sum, const Particle<T>& other) {
    add_energy<PublishedPairs>(sum, here.position, here.size, other);
  });
  return energies.plain;
}

// ---- Density (section 3.3).

/// −1: the particle is removed; 1: one is added beside it; 0: neither. `chance` in [0, 1) is the random bias: the
/// farther the energy is beyond a limit, the likelier.
template <class T>
ISOCHRON_HD int published_change(T energy, T chance, const DensityRules<T>& rules) {
  const T ratio = energy / T(published_ideal_energy);
  if (rules.may_split && ratio < chance * rules.split_below) return 1;
  return chance * ratio > rules.delete_above ? -1 : 0;
}

/// Where a particle is added: an edge away in a random direction of the tangent plane (the paper does not say where).
template <class T>
ISOCHRON_HD Vec3<T> published_newcomer(const Particle<T>& parent, T chance) {
  const TangentPlane<T> plane(parent.normal);
  const T angle = T(6.283185307179586) * chance;
  return parent.position + (parent.size * std::cos(angle)) * plane.u + (parent.size * std::sin(angle)) * plane.v;
}

/// The rules of density control after one sweep, the same for all particles.
template <class T>
struct PublishedControl {
  DensityRules<T> density;
  T flatness;  ///< as in `PublishedRules`
  std::uint64_t seed, sweep;
};

template <class T>
PublishedControl<T> published_control(const ParticleOptions& options, T flatness, int sweep) {
  return {{static_cast<T>(options.split_below), static_cast<T>(options.delete_above),
           options.density == DensityControl::full},
          flatness,
          options.seed,
          static_cast<std::uint64_t>(sweep)};
}

/// What becomes of a particle.
template <class T>
struct PublishedFate {
  bool stays = true, splits = false;
  Particle<T> newcomer{};  ///< where it splits, on the surface
};

/// Of particle i, as they are sorted into bins.
template <class T, class Fields>
ISOCHRON_HD PublishedFate<T> published_fate(const Particle<T>& here, T energy, std::size_t i, const Fields& fields,
                                            const PublishedControl<T>& control) {
  const auto chance = [&](std::uint64_t draw) {
    return static_cast<T>(particle_chance(control.seed, 2 * control.sweep + draw, i));
  };
  PublishedFate<T> fate;
  const int change = published_change(energy, chance(0), control.density);
  fate.stays = change >= 0;
  if (change <= 0) return fate;
  const Vec3<T> place = published_newcomer(here, chance(1));
  const Projection<T> landed = fields.put(place, here.size, control.flatness * here.size, 8);
  fate.splits = landed.reached;
  fate.newcomer = {landed.position, fields.sizes.size(landed.position), landed.normal, here.lambda};
  return fate;
}

}  // namespace isochron
