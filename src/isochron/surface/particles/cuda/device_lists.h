// Particles on the device, their neighbours, and which of them move at the same time. For .cu files only.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/surface.h"
#include "isochron/surface/particles/neighbours.h"

namespace isochron::cuda {

/// What is known of a particle besides where it is.
struct DeviceRecord {
  Vec3f anchor;        ///< where it was when the lists were made
  float moved;         ///< at its last visit, in sizes
  float energy;        ///< at its last visit
  std::uint32_t work;  ///< of its last visit: evaluations of the energy, and from bit 16 on of the spline
};

/// `moved` of a particle that was not visited yet.
inline constexpr float unvisited = 1e30F;

struct DeviceParticles {
  DeviceArray<Particle<float>> particles;
  DeviceArray<DeviceRecord> records;

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(particles.size()); }
};

/// As `Bins`, with the frame they lie in and the sorted keys of the particles.
struct DeviceBins {
  BinFrame frame;
  float largest_size = 0;
  DeviceArray<std::uint64_t> keys;
  DeviceArray<Bin> bins;
  DeviceArray<std::uint32_t> slots;
  int bits = 0;

  [[nodiscard]] BinTable table() const { return {bins.data(), slots.data(), bits}; }
};

/// Where each particle's neighbours begin in `entries`, and the end.
struct DeviceLists {
  DeviceArray<std::uint32_t> offsets, entries;
};

/// As `Waves`. Without tasks every particle is one of its own; `first` counts in tasks then.
struct DeviceWaves {
  DeviceArray<std::uint32_t> order, tasks;
  std::vector<std::uint32_t> first;  ///< task of each wave, and the end
};

/// Sorts the particles into bins and anchors them where they are. `corner` is the far corner of the box that they lie
/// in; its near corner is the origin. Throws InputError when a size is not positive.
DeviceBins sort_into_bins(DeviceParticles& particles, Vec3d corner, BinKind kind, double reach);

DeviceLists list_neighbours(const DeviceParticles& particles, const DeviceBins& bins);

DeviceWaves waves_of_bins(const DeviceBins& bins);

/// Particles choose colours at random, of those that their neighbours do not have, and keep them when no neighbour with
/// a higher number chose the same. The few that have none after some rounds are in no wave.
DeviceWaves waves_by_colour(const DeviceLists& lists);

}  // namespace isochron::cuda
