#include "isochron/surface/particles/published_relaxation.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "isochron/core/parallel.h"

namespace isochron {

PublishedRelaxation::PublishedRelaxation(const SurfaceFields<double>& fields, const ParticleOptions& options)
    : fields_(fields),
      options_(options),
      threads_(granted_threads(options.threads > 0 ? options.threads : hardware_threads())) {
  rules_.lambda_step = options.lambda_step;
}

// Bins as wide as the largest h (section 3.4).
void PublishedRelaxation::prepare() {
  const ParticleBox box = particle_box(particles_);
  const BinFrame frame(box, BinKind::uniform, published_length);
  const BinOrder sorted = bin_order(frame, particles_, threads_);
  const std::vector<Particle<double>> particles = std::move(particles_);
  particles_.resize(particles.size());
  parallel_for(threads_, particles.size(), [&](std::size_t i) { particles_[i] = particles[sorted.order[i]]; });
  energies_.assign(particles_.size(), 0);
  bins_ = Bins(sorted.keys);
  colours_ = bins_by_colour(bins_);
  room_ = published_length * box.largest;
  // No thread may run out of memory between barriers: the others would wait for ever.
  std::uint32_t most = 0;
  for (const Bin& bin : bins_.all()) most = std::max(most, count_neighbourhood(bins_.table(), bin));
  copies_.resize(static_cast<std::size_t>(threads_));
  for (Copies& copies : copies_) copies.resize(most);
}

Neighbourhood<double> PublishedRelaxation::copy_neighbourhood(const Bin& bin, Copies& copies) const {
  const BinTable table = bins_.table();
  auto to = copies.begin();
  for_neighbourhood(table, bin, [&](const Bin& other) {
    to = std::copy(particles_.begin() + other.begin, particles_.begin() + other.end, to);
  });
  return {copies.data(), bin.end - bin.begin, static_cast<std::uint32_t>(to - copies.begin())};
}

BinWork PublishedRelaxation::process(const Bin& bin, Copies& copies) {
  const Neighbourhood<double> all = copy_neighbourhood(bin, copies);
  const BinWork work = move_bin(all, fields_, room_, rules_, OneThread{});
  std::copy(all.particles, all.particles + all.own, particles_.begin() + bin.begin);
  return work;
}

void PublishedRelaxation::find_energies(const Bin& bin, Copies& copies) {
  const Neighbourhood<double> all = copy_neighbourhood(bin, copies);
  for (std::uint32_t i = 0; i < all.own; ++i) energies_[bin.begin + i] = published_energy(all, i, OneThread{});
}

RelaxIteration PublishedRelaxation::sweep() {
  std::vector<RelaxIteration> parts(static_cast<std::size_t>(threads_));
  SpinBarrier barrier(threads_);
  const std::span<const Bin> bins = bins_.all();
  parallel_region(threads_, [&](int thread, int team) {
    Copies& copies = copies_[static_cast<std::size_t>(thread)];
    RelaxIteration own;
    const auto part_of = [&](std::size_t count, int part) {
      return count * static_cast<std::size_t>(part) / static_cast<std::size_t>(team);
    };
    for (const std::vector<std::uint32_t>& colour : colours_) {
      for (std::size_t b = part_of(colour.size(), thread); b < part_of(colour.size(), thread + 1); ++b) {
        const BinWork work = process(bins[colour[b]], copies);
        own.moved += work.moved;
        own.energy_evaluations += work.energies;
        own.spline_evaluations += work.splines;
      }
      barrier.arrive_and_wait();
    }
    for (std::size_t b = part_of(bins.size(), thread); b < part_of(bins.size(), thread + 1); ++b)
      find_energies(bins[b], copies);
    parts[static_cast<std::size_t>(thread)] = own;
  });
  RelaxIteration result;
  result.particles = particles_.size();
  result.energy_evaluations = particles_.size();
  for (const RelaxIteration& part : parts) {
    result.moved += part.moved;
    result.energy_evaluations += part.energy_evaluations;
    result.spline_evaluations += part.spline_evaluations;
  }
  result.energy = std::accumulate(energies_.begin(), energies_.end(), 0.0) /
                  static_cast<double>(std::max<std::size_t>(1, result.particles));
  return result;
}

DensityChange PublishedRelaxation::control(int iteration) {
  const auto control = published_control(options_, rules_.flatness, iteration);
  DensityChange done;
  Copies next;
  next.reserve(particles_.size());
  for (std::size_t i = 0; i < particles_.size(); ++i) {
    const PublishedFate<double> fate = published_fate(particles_[i], energies_[i], i, fields_, control);
    if (fate.stays) next.push_back(particles_[i]);
    if (fate.splits) next.push_back(fate.newcomer);
    done.deleted += !fate.stays;
    done.added += fate.splits;
  }
  if (next.empty()) return {};  // of a few that crowd one place, chance would remove all
  particles_ = std::move(next);
  return done;
}

}  // namespace isochron
