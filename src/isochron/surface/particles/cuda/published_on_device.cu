#include "isochron/surface/particles/cuda/published_on_device.h"

#include <algorithm>
#include <numeric>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/surface/particles/cuda/device_lists.h"
#include "isochron/surface/particles/published_step.h"
#include "isochron/surface/particles/relax_loop.h"

namespace isochron::cuda {
namespace {

constexpr unsigned all_lanes = 0xffffffffU;
constexpr int lanes = 32, max_threads = 512, max_warps = max_threads / lanes;
constexpr std::size_t max_values = sizeof(Pull<float>) / sizeof(float);

// How many particles shared memory has room for: some for each thread, so that it allows as many blocks at a time as
// registers do, and what a block may have without asking.
constexpr std::uint32_t shared_per_thread = 8, max_shared = 1280;

// A block of threads for a neighbourhood. All of its threads do the same, but in a sum each adds up a part of the
// neighbourhood; all get the same sum, to the last bit, so they take the same branches.
struct BlockOfThreads {
  float (*sums)[max_values];  // of each warp, in shared memory

  template <class Sum, class Add>
  __host__ __device__ Sum sum(const Neighbourhood<float>& all, std::uint32_t but, const Add& add) const {
    static_assert(sizeof(Sum) % sizeof(float) == 0 && sizeof(Sum) <= sizeof(Pull<float>));
#if defined(__CUDA_ARCH__)
    Sum result{};
    for (std::uint32_t j = threadIdx.x; j < all.count; j += blockDim.x) {
      if (j != but) add(result, all.particles[j]);
    }
    constexpr std::size_t values = sizeof(Sum) / sizeof(float);
    auto* value = reinterpret_cast<float*>(&result);
#pragma unroll
    for (std::size_t v = 0; v < values; ++v) {
#pragma unroll
      for (int far = lanes / 2; far > 0; far /= 2) value[v] += __shfl_xor_sync(all_lanes, value[v], far);
    }
    __syncthreads();  // all have read the sums before these
    if (threadIdx.x % lanes == 0) {
#pragma unroll
      for (std::size_t v = 0; v < values; ++v) sums[threadIdx.x / lanes][v] = value[v];
    }
    __syncthreads();
    const unsigned warps = blockDim.x / lanes;
#pragma unroll
    for (std::size_t v = 0; v < values; ++v) {
      value[v] = sums[0][v];
      for (unsigned warp = 1; warp < warps; ++warp) value[v] += sums[warp][v];
    }
    return result;
#else
    return OneThread{}.sum<Sum>(all, but, add);
#endif
  }

  template <class T>
  __host__ __device__ void write(T& place, const T& value) const {
#if defined(__CUDA_ARCH__)
    __syncthreads();  // all have read what stands there
    if (threadIdx.x == 0) place = value;
    __syncthreads();
#else
    place = value;
#endif
  }
};

struct View {
  SurfaceFields<float> fields;
  Particle<float>* particles;
  BinTable table;
  const std::uint32_t* counts;  // of particles in the neighbourhood of each bin
  Particle<float>* scratch;     // for neighbourhoods that do not fit into shared memory
  std::uint32_t shared;         // how many particles fit
};

// Algorithm 2, for the bin of this block; all of its threads come here. The scratch memory has room for all particles,
// and no particle is in two neighbourhoods of a colour. Where in it a copy lies makes no difference.
__device__ Neighbourhood<float> copy_neighbourhood(const View& view, std::uint32_t number, std::uint32_t* used,
                                                   Particle<float>* shared) {
  __shared__ Particle<float>* place;
  const Bin bin = view.table.bins[number];
  const std::uint32_t count = view.counts[number];
  if (threadIdx.x == 0) place = count <= view.shared ? shared : view.scratch + atomicAdd(used, count);
  __syncthreads();
  Particle<float>* const to = place;
  std::uint32_t copied = 0;
  for_neighbourhood(view.table, bin, [&](const Bin& other) {
    const std::uint32_t size = other.end - other.begin;
    for (std::uint32_t j = threadIdx.x; j < size; j += blockDim.x) to[copied + j] = view.particles[other.begin + j];
    copied += size;
  });
  __syncthreads();
  return {to, bin.end - bin.begin, count};
}

struct Tally {
  unsigned long long moved, energies, splines;
};

extern __shared__ __align__(16) unsigned char shared_memory[];

// A block for each bin of a colour. `used`: how much of the scratch memory is taken.
__global__ void __launch_bounds__(max_threads) move_bins(View view, const std::uint32_t* bins, std::uint32_t* used,
                                                         float room, PublishedRules<float> rules, Tally* tally) {
  __shared__ float sums[max_warps][max_values];
  const std::uint32_t number = bins[blockIdx.x];
  const Neighbourhood<float> all =
      copy_neighbourhood(view, number, used, reinterpret_cast<Particle<float>*>(shared_memory));
  const BinWork work = move_bin(all, view.fields, room, rules, BlockOfThreads{sums});
  const std::uint32_t begin = view.table.bins[number].begin;
  for (std::uint32_t i = threadIdx.x; i < all.own; i += blockDim.x) view.particles[begin + i] = all.particles[i];
  if (threadIdx.x != 0) return;
  atomicAdd(&tally->moved, work.moved);
  atomicAdd(&tally->energies, work.energies);
  atomicAdd(&tally->splines, work.splines);
}

// Likewise, of particles that do not move now.
__global__ void __launch_bounds__(max_threads)
    find_energies(View view, const std::uint32_t* bins, std::uint32_t* used, float* energies) {
  __shared__ float sums[max_warps][max_values];
  const std::uint32_t number = bins[blockIdx.x];
  const Neighbourhood<float> all =
      copy_neighbourhood(view, number, used, reinterpret_cast<Particle<float>*>(shared_memory));
  const std::uint32_t begin = view.table.bins[number].begin;
  for (std::uint32_t i = 0; i < all.own; ++i) {
    const float energy = published_energy(all, i, BlockOfThreads{sums});
    if (threadIdx.x == 0) energies[begin + i] = energy;
  }
}

// Of each bin how many particles its neighbourhood has, and its place in the order of work: the most first.
// `pairs` counts the pairs of a particle of a bin and one of its neighbourhood.
__global__ void count_work(BinTable table, std::uint32_t count, std::uint32_t* counts, std::uint32_t* keys,
                           std::uint32_t* order, unsigned long long* pairs) {
  const std::size_t b = thread_number();
  if (b >= count) return;
  const Bin bin = table.bins[b];
  counts[b] = count_neighbourhood(table, bin);
  order[b] = static_cast<std::uint32_t>(b);
  const std::uint64_t work = std::uint64_t{bin.end - bin.begin} * counts[b];
  constexpr std::uint32_t most = ~std::uint32_t{0};
  keys[b] = most - (work < most ? static_cast<std::uint32_t>(work) : most);
  atomicAdd(pairs, work);
}

__global__ void find_colours(const Bin* bins, const std::uint32_t* order, std::uint32_t count, std::uint32_t* colours) {
  const std::size_t i = thread_number();
  if (i < count) colours[i] = bin_colour(bins[order[i]].key);
}

// Those that stay, each followed by the one that is added beside it; `marks` has a zero at its end.
__global__ void decide_fates(SurfaceFields<float> fields, PublishedControl<float> control,
                             const Particle<float>* particles, const float* energies, std::uint32_t count,
                             Particle<float>* next, std::uint32_t* marks, std::uint32_t* added) {
  const std::size_t i = thread_number();
  if (i > count) return;
  marks[2 * i] = 0;
  if (i == count) return;
  const Particle<float> here = particles[i];
  const PublishedFate<float> fate = published_fate(here, energies[i], i, fields, control);
  next[2 * i] = here;
  marks[2 * i] = fate.stays;
  next[2 * i + 1] = fate.newcomer;
  marks[2 * i + 1] = fate.splits;
  if (fate.splits) atomicAdd(added, 1);
}

class PublishedOnDevice {
 public:
  PublishedOnDevice(const DeviceSurface& surface, const ParticleOptions& options)
      : surface_(surface), options_(options) {
    rules_.lambda_step = static_cast<float>(options.lambda_step);
  }

  void place(const std::vector<Vec3d>& seeds) { particles_ = surface_.place(seeds); }

  void prepare() {
    bins_ = sort_into_bins(particles_, surface_.corner(), BinKind::uniform, published_length);
    room_ = static_cast<float>(published_length) * bins_.largest_size;
    const auto count = static_cast<std::uint32_t>(bins_.bins.size());
    counts_ = DeviceArray<std::uint32_t>(count);
    order_ = DeviceArray<std::uint32_t>(count);
    DeviceArray<std::uint32_t> keys(count);
    DeviceValue<unsigned long long> pairs;
    launch_for(count, count_work, bins_.table(), count, counts_.data(), keys.data(), order_.data(), pairs.data());
    // By colour, and those of a colour by their work: equal colours keep their order.
    sort_by_key(keys, order_, ~std::uint32_t{0});
    launch_for(count, find_colours, bins_.bins.data(), order_.data(), count, keys.data());
    sort_by_key(keys, order_, bin_colours - 1);
    colours_ = fetch_all(group_offsets(keys, bin_colours));
    choose_threads(static_cast<double>(pairs.read()) / particles_.count());
    scratch_ = DeviceArray<Particle<float>>(particles_.count());
    energies_ = DeviceArray<float>(particles_.count());
  }

  RelaxIteration sweep() {
    DeviceValue<Tally> tally;
    for_colours([&](std::size_t blocks, const std::uint32_t* bins, std::uint32_t* used) {
      launch(move_bins, blocks, threads_, shared_bytes(), view(), bins, used, room_, rules_, tally.data());
    });
    for_colours([&](std::size_t blocks, const std::uint32_t* bins, std::uint32_t* used) {
      launch(find_energies, blocks, threads_, shared_bytes(), view(), bins, used, energies_.data());
    });
    const Tally found = tally.read();
    const std::vector<float> energies = fetch_all(energies_);
    RelaxIteration result;
    result.particles = particles_.count();
    result.energy = std::accumulate(energies.begin(), energies.end(), 0.0) /
                    static_cast<double>(std::max<std::size_t>(1, energies.size()));
    result.moved = found.moved;
    result.energy_evaluations = result.particles + found.energies;
    result.spline_evaluations = found.splines;
    return result;
  }

  DensityChange control(int iteration) {
    const std::uint32_t count = particles_.count();
    DeviceArray<Particle<float>> next(2 * std::size_t{count});
    DeviceArray<std::uint32_t> marks(2 * std::size_t{count} + 1);
    DeviceValue<std::uint32_t> splits;
    launch_for(std::size_t{count} + 1, decide_fates, surface_.fields(),
               published_control(options_, rules_.flatness, iteration), particles_.particles.data(), energies_.data(),
               count, next.data(), marks.data(), splits.data());
    exclusive_sum(marks);
    const std::uint32_t total = last_of(marks), added = splits.read();
    if (total == 0) return {};  // of a few that crowd one place, chance would remove all
    particles_ = make_particles(total);
    append_marked(next, nullptr, marks, 0, particles_);
    return {added, count + added - total};
  }

  [[nodiscard]] bool lists_are_old() const { return true; }
  [[nodiscard]] std::vector<Particle<double>> current() const { return downloaded(particles_); }
  void finish(Particles& result) const { surface_.finish(particles_, result); }

 private:
  // One for some four particles of the neighbourhood that the mean particle has.
  void choose_threads(double neighbours) {
    threads_ = lanes;
    while (threads_ < max_threads && 4 * threads_ < neighbours) threads_ *= 2;
    shared_ = std::min(shared_per_thread * static_cast<std::uint32_t>(threads_), max_shared);
  }
  [[nodiscard]] std::size_t shared_bytes() const { return shared_ * sizeof(Particle<float>); }
  [[nodiscard]] View view() {
    return {surface_.fields(), particles_.particles.data(), bins_.table(), counts_.data(), scratch_.data(), shared_};
  }
  // Calls `start(blocks, bins, used)` for each colour, with all of the scratch memory free.
  template <class Start>
  void for_colours(const Start& start) {
    DeviceArray<std::uint32_t> used(bin_colours);
    used.clear();
    for (std::size_t c = 0; c < bin_colours; ++c)
      start(std::size_t{colours_[c + 1] - colours_[c]}, order_.data() + colours_[c], used.data() + c);
  }

  const DeviceSurface& surface_;
  ParticleOptions options_;
  PublishedRules<float> rules_;
  float room_ = 0;  // how far a step may go: the largest h
  DeviceParticles particles_;
  DeviceBins bins_;
  DeviceArray<std::uint32_t> counts_;   // of the bins' neighbourhoods
  DeviceArray<std::uint32_t> order_;    // of the bins
  std::vector<std::uint32_t> colours_;  // where each begins in the order, and the end
  DeviceArray<Particle<float>> scratch_;
  DeviceArray<float> energies_;  // after all have moved
  int threads_ = lanes;
  std::uint32_t shared_ = 0;
};

}  // namespace

Particles relax_published(const DeviceSurface& surface, const std::vector<Vec3d>& seeds, const ParticleOptions& options,
                          const Progress& progress) {
  PublishedOnDevice relaxation(surface, options);
  relaxation.place(seeds);
  return run_relaxation<PublishedOnDevice, PublishedCourse>(relaxation, options, progress);
}

}  // namespace isochron::cuda
