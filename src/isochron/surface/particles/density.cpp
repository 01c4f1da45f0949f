#include "isochron/surface/particles/density.h"

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

// Whether nobody nearby wants to act more; of equals the first may.
bool acts(std::size_t i, const std::vector<double>& urges, const NeighbourLists& lists) {
  const double own = std::abs(urges[i]);
  if (own == certain_urge<double>) return true;
  for (const std::uint32_t j : lists.of(i)) {
    const double other = std::abs(urges[j]);
    if (other > own || (other == own && j < i)) return false;
  }
  return true;
}

}  // namespace

DensityPlan plan_density(std::span<const Particle<double>> particles, const BinFrame& frame, const Bins& bins,
                         const NeighbourLists& lists, const SurfaceFields<double>& fields,
                         const DensityRules<double>& rules, std::uint64_t seed, std::uint64_t iteration, int threads) {
  const std::size_t count = particles.size();
  std::vector<double> urges(count);
  parallel_for(threads, count, [&](std::size_t i) {
    const Particle<double>& here = particles[i];
    const ListedNeighbours neighbours{particles.data(), lists.of(i)};
    const auto energies = neighbours.sum<Energies<double>>([&](Energies<double>& sum, const Particle<double>& other) {
      add_energy(sum, here.position, here.size, other);
    });
    urges[i] = density_urge(energies.plain, neighbours.list.size(), particle_chance(seed, iteration, i), rules);
  });
  DensityPlan plan;
  for (std::size_t i = 0; i < count; ++i) {
    if (urges[i] == 0 || !acts(i, urges, lists)) continue;
    if (urges[i] < 0) {
      plan.deleted.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    const Particle<double>& here = particles[i];
    const Vec3d place = emptiest_place(here, ListedNeighbours{particles.data(), lists.of(i)});
    const Projection<double> landed = project(fields.distance, place, here.size, 0.02 * here.size, 8);
    if (!landed.reached || !(dot(landed.normal, here.normal) > 0)) continue;
    const Particle<double> newcomer{landed.position, fields.sizes.size(landed.position), landed.normal, here.lambda};
    if (newcomer_energy(frame, bins.table(), particles.data(), newcomer) < most_crowded * ideal_energy) {
      plan.added.push_back(newcomer);
    }
  }
  return plan;
}

}  // namespace isochron
