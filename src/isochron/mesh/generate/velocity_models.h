// Flat seismic models: a speed per pixel, the second axis is the depth.
#pragma once

#include <array>
#include <cstdint>

#include "isochron/dist/block_partition.h"
#include "isochron/dist/image_part.h"
#include "isochron/mesh/image.h"

namespace isochron {

struct LayersOptions {
  std::array<std::uint32_t, 2> n{301, 101};  ///< pixels along x and down
  double spacing = 10;                       ///< m
  std::uint32_t layers = 8;
  double speed_top = 1500;     ///< m/s, of the first layer
  double speed_bottom = 4500;  ///< of the last; between them in equal steps
  double relief = 0.6;         ///< how far interfaces wave, as a share of half a layer: 0 is flat, below 1
  std::uint64_t seed = 1;
};

/// Layers with waving interfaces that do not cross; arrays `speed` (float) and `layer` (uint8, 0 on top). Throws
/// UsageError.
Image generate_layers(const LayersOptions& options);
/// One part's box of it with the same values, made without the rest; so for both models.
ImagePart generate_layers_part(const LayersOptions& options, const PartChoice& choice);

struct SaltOptions {
  std::array<std::uint32_t, 2> n{301, 101};
  double spacing = 10;         ///< m
  double speed_top = 1500;     ///< m/s at the surface
  double speed_bottom = 3500;  ///< at the bottom, linear between
  double speed_salt = 4500;
  double radius = 0.25;     ///< mean radius of the salt, as a share of the depth
  double roughness = 0.25;  ///< how far its outline leaves the circle, as a share of the radius: 0 to below 1
  std::uint64_t seed = 1;
};

/// A body of fast salt in the middle of a medium that gets faster with the depth; arrays `speed` (float) and `salt`
/// (uint8, 1 inside). Throws UsageError.
Image generate_salt(const SaltOptions& options);
ImagePart generate_salt_part(const SaltOptions& options, const PartChoice& choice);

}  // namespace isochron
