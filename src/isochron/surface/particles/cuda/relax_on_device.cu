#include "isochron/surface/particles/cuda/relax_on_device.h"

#include <algorithm>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/surface/particles/cuda/device_lists.h"
#include "isochron/surface/particles/cuda/device_surface.h"
#include "isochron/surface/particles/cuda/published_on_device.h"
#include "isochron/surface/particles/density.h"
#include "isochron/surface/particles/relax_loop.h"
#include "isochron/surface/particles/step.h"

namespace isochron::cuda {
namespace {

// A few lanes of a warp that sum over a particle's neighbours together; all of them get the same sum, to the last bit,
// so they take the same branches. For `step_particle`.
template <int Lanes>
struct LaneNeighbours {
  const Particle<float>* particles;
  const std::uint32_t *begin, *end;

  __device__ static int lane() { return static_cast<int>(threadIdx.x) % Lanes; }
  __device__ static unsigned mask() {
    if constexpr (Lanes == 32) return 0xffffffffU;
    else return ((1U << Lanes) - 1) << (threadIdx.x % 32 / Lanes * Lanes);
  }

  template <class Sum, class Add>
  __host__ __device__ Sum sum(const Add& add) const {
    Sum all{};
#if defined(__CUDA_ARCH__)
    for (const std::uint32_t* at = begin + lane(); at < end; at += Lanes) add(all, particles[*at]);
    static_assert(sizeof(Sum) % sizeof(float) == 0);
    if constexpr (Lanes > 1) {
      auto* values = reinterpret_cast<float*>(&all);
#pragma unroll
      for (std::size_t v = 0; v < sizeof(Sum) / sizeof(float); ++v) {
#pragma unroll
        for (int far = 1; far < Lanes; far *= 2) values[v] += __shfl_xor_sync(mask(), values[v], far);
      }
    }
#endif
    return all;
  }
};

struct View {
  SurfaceFields<float> fields;
  Particle<float>* particles;
  DeviceRecord* records;
  const std::uint32_t *offsets, *entries;

  template <int Lanes>
  __device__ LaneNeighbours<Lanes> neighbours(std::uint32_t i) const {
    return {particles, entries + offsets[i], entries + offsets[i + 1]};
  }
};

template <int Lanes>
__device__ bool rests(const View& view, std::uint32_t i, float rest) {
  const LaneNeighbours<Lanes> neighbours = view.neighbours<Lanes>(i);
  bool busy = view.records[i].moved > rest;
  for (const std::uint32_t* at = neighbours.begin + neighbours.lane(); at < neighbours.end; at += Lanes) {
    busy |= view.records[*at].moved > rest;
  }
  return __any_sync(neighbours.mask(), busy) == 0;
}

// Moves one particle; all lanes of its group come here.
template <int Lanes>
__device__ void visit(const View& view, const StepRules<float>& rules, std::uint32_t i) {
  DeviceRecord record = view.records[i];
  const Particle<float> particle = view.particles[i];
  Step<float> step{particle, record.energy, 0, 0, 0};
  if (!rests<Lanes>(view, i, rules.rest)) {
    const float room = static_cast<float>(list_slack) * particle.size - norm(particle.position - record.anchor);
    step = step_particle(particle, view.fields, view.neighbours<Lanes>(i), room > 0 ? room : 0.0F, rules);
  }
  if (LaneNeighbours<Lanes>::lane() == 0) {
    record.moved = step.moved;
    record.energy = step.energy;
    record.work = static_cast<std::uint32_t>(step.energies) | static_cast<std::uint32_t>(step.splines) << 16;
    view.particles[i] = step.particle;
    view.records[i] = record;
  }
}

// A group of lanes for each task of a wave. Without tasks every place of the order is one.
template <int Lanes>
__global__ void move_particles(View view, StepRules<float> rules, const std::uint32_t* order,
                               const std::uint32_t* tasks, std::uint32_t first, std::uint32_t count) {
  const auto group = static_cast<std::uint32_t>(thread_number() / Lanes);
  if (group >= count) return;
  const std::uint32_t task = first + group;
  const std::uint32_t begin = tasks != nullptr ? tasks[task] : task,
                      end = tasks != nullptr ? tasks[task + 1] : task + 1;
  for (std::uint32_t at = begin; at < end; ++at) {
    visit<Lanes>(view, rules, order[at]);
    __syncwarp(LaneNeighbours<Lanes>::mask());  // the next particle of the task sees this one's new place
  }
}

struct Tally {
  double energy;
  unsigned long long moved, resting, energies, splines, far;
};

template <class T>
__device__ T warp_sum(T value) {
  for (int far = 16; far > 0; far /= 2) value += __shfl_xor_sync(0xffffffffU, value, far);
  return value;
}

__global__ void tally_up(const Particle<float>* particles, const DeviceRecord* records, std::uint32_t count,
                         Tally* tally) {
  double energy = 0;
  unsigned moved = 0, resting = 0, energies = 0, splines = 0, far = 0;
  for (std::size_t i = thread_number(); i < count; i += std::size_t{gridDim.x} * blockDim.x) {
    const DeviceRecord record = records[i];
    energy += record.energy;
    moved += record.moved > 0;
    resting += record.work == 0;
    energies += record.work & 0xffff;
    splines += record.work >> 16;
    const Particle<float>& particle = particles[i];
    far += norm(particle.position - record.anchor) > 0.5F * static_cast<float>(list_slack) * particle.size;
  }
  energy = warp_sum(energy);
  const unsigned counts[5] = {warp_sum(moved), warp_sum(resting), warp_sum(energies), warp_sum(splines), warp_sum(far)};
  if (threadIdx.x % 32 != 0) return;
  atomicAdd(&tally->energy, energy);
  atomicAdd(&tally->moved, counts[0]);
  atomicAdd(&tally->resting, counts[1]);
  atomicAdd(&tally->energies, counts[2]);
  atomicAdd(&tally->splines, counts[3]);
  atomicAdd(&tally->far, counts[4]);
}

__global__ void find_urges(View view, std::uint32_t count, DensityRules<float> rules, std::uint64_t seed,
                           std::uint64_t iteration, float* urges) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const Particle<float> here = view.particles[i];
  const auto neighbours = view.neighbours<1>(static_cast<std::uint32_t>(i));
  const auto energies = neighbours.sum<Energies<float>>(
      [&](Energies<float>& sum, const Particle<float>& other) { add_energy(sum, here.position, here.size, other); });
  urges[i] = density_urge(energies.plain, static_cast<std::size_t>(neighbours.end - neighbours.begin),
                          static_cast<float>(particle_chance(seed, iteration, i)), rules);
}

// Whether no neighbour wants to act more; of equals the first one acts.
__device__ bool acts(const View& view, std::uint32_t i, const float* urges) {
  const float own = fabsf(urges[i]);
  if (own == certain_urge<float>) return true;
  for (std::uint32_t at = view.offsets[i]; at < view.offsets[i + 1]; ++at) {
    const std::uint32_t j = view.entries[at];
    const float other = fabsf(urges[j]);
    if (other > own || (other == own && j < i)) return false;
  }
  return true;
}

// Which particles stay, and which are split.
__global__ void decide(View view, BinFrame frame, BinTable table, std::uint32_t count, const float* urges,
                       std::uint32_t* kept, std::uint32_t* added, Particle<float>* offspring) {
  const std::size_t place = thread_number();
  if (place > count) return;
  kept[place] = place < count;
  added[place] = 0;
  if (place == count || urges[place] == 0) return;
  const auto i = static_cast<std::uint32_t>(place);
  if (!acts(view, i, urges)) return;
  if (urges[i] < 0) {
    kept[i] = 0;
    for (std::uint32_t at = view.offsets[i]; at < view.offsets[i + 1]; ++at) {
      view.records[view.entries[at]].moved = unvisited;
    }
    return;
  }
  const Particle<float> here = view.particles[i];
  const Vec3f there = emptiest_place(here, view.neighbours<1>(i), view.fields);
  const Projection<float> landed = project(view.fields.distance, there, here.size, 0.02F * here.size, 8);
  if (!landed.reached || !(dot(landed.normal, here.normal) > 0)) return;
  const Particle<float> newcomer{landed.position, view.fields.sizes.size(landed.position), landed.normal, here.lambda};
  if (!(newcomer_energy(frame, table, view.particles, newcomer) < static_cast<float>(max_crowded * ideal_energy))) {
    return;
  }
  offspring[i] = newcomer;
  added[i] = 1;
}

class DeviceRelaxation {
 public:
  DeviceRelaxation(const DeviceSurface& surface, const ParticleOptions& options)
      : surface_(surface), options_(options) {
    rules_.lambda_step = static_cast<float>(options.lambda_step);
  }

  void place(const std::vector<Vec3d>& seeds) { particles_ = surface_.place(seeds); }

  void prepare() {
    bins_ = sort_into_bins(particles_, surface_.corner(), options_.bins, list_reach);
    lists_ = list_neighbours(particles_, bins_);
    waves_ = options_.bins == BinKind::uniform ? waves_of_bins(bins_) : waves_by_colour(lists_);
  }

  RelaxIteration sweep() {
    for (std::size_t w = 0; w + 1 < waves_.first.size(); ++w) {
      const std::uint32_t first = waves_.first[w], count = waves_.first[w + 1] - first;
      if (options_.bins == BinKind::uniform) move<32, 32>(first, count);
      else move<8, 128>(first, count);
    }
    DeviceValue<Tally> tally;
    constexpr std::size_t max_blocks = 528;
    const std::uint32_t count = particles_.count();
    launch(tally_up, std::min<std::size_t>(max_blocks, (count + launch_threads - 1) / launch_threads), launch_threads,
           0, particles_.particles.data(), particles_.records.data(), count, tally.data());
    const Tally found = tally.read();
    far_ = found.far;
    RelaxIteration result;
    result.particles = count;
    result.energy = found.energy / count;
    result.moved = found.moved;
    result.resting = found.resting;
    result.energy_evaluations = found.energies;
    result.spline_evaluations = found.splines;
    return result;
  }

  DensityChange control(int iteration) {
    const DensityRules<float> rules{static_cast<float>(options_.split_below), static_cast<float>(options_.delete_above),
                                    options_.density == DensityControl::full};
    const std::uint32_t count = particles_.count();
    DeviceArray<float> urges(count);
    launch_for(count, find_urges, view(), count, rules, options_.seed, static_cast<std::uint64_t>(iteration),
               urges.data());
    DeviceArray<std::uint32_t> kept(std::size_t{count} + 1), added(std::size_t{count} + 1);
    DeviceArray<Particle<float>> offspring(count);
    launch_for(kept.size(), decide, view(), bins_.frame, bins_.table(), count, urges.data(), kept.data(), added.data(),
               offspring.data());
    exclusive_sum(kept);
    exclusive_sum(added);
    const std::uint32_t stay = last_of(kept), come = last_of(added);
    if (stay != count || come > 0) {
      DeviceParticles next = make_particles(std::size_t{stay} + come);
      append_marked(particles_.particles, particles_.records.data(), kept, 0, next);
      append_marked(offspring, nullptr, added, stay, next);
      particles_ = std::move(next);
    }
    return {come, count - stay};
  }

  [[nodiscard]] bool lists_are_old() const { return far_share * far_ > particles_.count(); }

  [[nodiscard]] std::vector<Particle<double>> current() const { return downloaded(particles_); }
  void finish(Particles& result) const { surface_.finish(particles_, result); }

 private:
  [[nodiscard]] View view() {
    return {surface_.fields(), particles_.particles.data(), particles_.records.data(), lists_.offsets.data(),
            lists_.entries.data()};
  }
  template <int Lanes, int Threads>
  void move(std::uint32_t first, std::uint32_t count) {
    const std::size_t threads = std::size_t{count} * Lanes;
    launch(move_particles<Lanes>, (threads + Threads - 1) / Threads, Threads, 0, view(), rules_, waves_.order.data(),
           waves_.tasks.data(), first, count);
  }

  const DeviceSurface& surface_;
  ParticleOptions options_;
  StepRules<float> rules_;
  DeviceParticles particles_;
  DeviceBins bins_;
  DeviceLists lists_;
  DeviceWaves waves_;
  std::size_t far_ = 0;
};

}  // namespace

Particles relax_on_device(const SplineField& distance, const SizeField& sizes, const std::vector<Vec3d>& seeds,
                          const ParticleOptions& options, const Progress& progress) {
  require_device();
  const DeviceSurface surface(distance, sizes, options.threads);
  if (options.scheme == ParticleScheme::published) return relax_published(surface, seeds, options, progress);
  DeviceRelaxation relaxation(surface, options);
  relaxation.place(seeds);
  return run_relaxation(relaxation, options, progress);
}

}  // namespace isochron::cuda
