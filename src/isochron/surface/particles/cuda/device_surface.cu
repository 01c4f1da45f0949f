#include "isochron/surface/particles/cuda/device_surface.h"

#include <algorithm>
#include <span>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/grouping.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/parallel.h"
#include "isochron/surface/particles/relax_loop.h"

namespace isochron::cuda {
namespace {

__global__ void place_seeds(SurfaceFields<float> fields, const Vec3f* seeds, std::uint32_t count,
                            Particle<float>* particles, std::uint32_t* kept) {
  const std::size_t i = thread_number();
  if (i > count) return;
  kept[i] = 0;
  if (i == count) return;
  const float size = fields.sizes.size(seeds[i]);
  const Projection<float> landed = project(fields.distance, seeds[i], size, 0.01F * size, 10);
  particles[i] = {landed.position, fields.sizes.size(landed.position), landed.normal, static_cast<float>(first_lambda)};
  kept[i] = landed.reached;
}

__global__ void compact(const Particle<float>* particles, const DeviceRecord* records, const std::uint32_t* ranks,
                        std::uint32_t count, std::uint32_t base, Particle<float>* to_particles,
                        DeviceRecord* to_records) {
  const std::size_t i = thread_number();
  if (i >= count || ranks[i + 1] == ranks[i]) return;
  const std::uint32_t to = base + ranks[i];
  to_particles[to] = particles[i];
  to_records[to] = records != nullptr ? records[i] : DeviceRecord{particles[i].position, unvisited, 0, 0};
}

}  // namespace

DeviceSurface::DeviceSurface(const SplineField& distance, const SizeField& sizes, int threads)
    : distance_(distance),
      sizes_(sizes),
      threads_(threads > 0 ? threads : hardware_threads()),
      coefficients_(distance.coefficients()),
      size_values_(std::span<const float>(sizes.values)) {
  fields_.distance = {coefficients_.data(), LatticeView<float>(distance.lattice())};
  fields_.sizes = {size_values_.data(), LatticeView<float>(sizes.lattice)};
  for (int a = 0; a < 3; ++a) corner_[a] = (distance.lattice().shape[a] - 1) * distance.lattice().spacing[a];
}

DeviceParticles DeviceSurface::place(const std::vector<Vec3d>& seeds) const {
  if (seeds.empty()) refuse_no_particles();
  std::vector<Vec3f> positions(seeds.size());
  std::transform(seeds.begin(), seeds.end(), positions.begin(), [](Vec3d p) {
    return Vec3f{static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
  });
  const DeviceArray<Vec3f> all{std::span<const Vec3f>(positions)};
  const auto count = static_cast<std::uint32_t>(seeds.size());
  DeviceArray<Particle<float>> placed(count);
  DeviceArray<std::uint32_t> kept(std::size_t{count} + 1);
  launch_for(kept.size(), place_seeds, fields_, all.data(), count, placed.data(), kept.data());
  exclusive_sum(kept);
  DeviceParticles particles = make_particles(last_of(kept));
  if (particles.count() == 0) refuse_no_particles();
  append_marked(placed, nullptr, kept, 0, particles);
  return particles;
}

void DeviceSurface::finish(const DeviceParticles& particles, Particles& result) const {
  const SurfaceFields<double> fields{distance_.view(), sizes_.view()};
  finish_particles(fields, downloaded(particles), threads_, result);
}

DeviceParticles make_particles(std::size_t count) {
  return {DeviceArray<Particle<float>>(count), DeviceArray<DeviceRecord>(count)};
}

void append_marked(const DeviceArray<Particle<float>>& particles, const DeviceRecord* records,
                   const DeviceArray<std::uint32_t>& ranks, std::uint32_t base, DeviceParticles& to) {
  const auto count = static_cast<std::uint32_t>(particles.size());
  launch_for(count, compact, particles.data(), records, ranks.data(), count, base, to.particles.data(),
             to.records.data());
}

std::vector<Particle<double>> downloaded(const DeviceParticles& particles) {
  const std::vector<Particle<float>> single = fetch_all(particles.particles);
  std::vector<Particle<double>> all(single.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (int a = 0; a < 3; ++a) all[i].position[a] = single[i].position[a];
    for (int a = 0; a < 3; ++a) all[i].normal[a] = single[i].normal[a];
    all[i].size = single[i].size;
  }
  return all;
}

}  // namespace isochron::cuda
