// Images: tensors with known answers (the two examples of paper 004, crossing fibres), flat seismic models, and three
// materials to take surfaces from.
#pragma once

#include <array>
#include <cstdint>

#include "isochron/core/vec.h"
#include "isochron/dist/block_partition.h"
#include "isochron/dist/image_part.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// A box of voxels along the axes, the first one at the origin.
struct ImageSize {
  std::array<std::uint32_t, 3> n{64, 64, 64};
  double spacing = 1;
};

/// The grid of that size. Throws UsageError when there are too few or too many voxels or no spacing.
ImageGrid image_grid(const ImageSize& size);

struct DiagonalTensorsOptions {
  ImageSize size{};
  double coupling = 0.9;  ///< the off-diagonal components; the diagonal ones are 1
};

/// One velocity tensor D everywhere (array `velocity_tensor`), fast along (1, 1, 1): paper 004, Example 1. Its
/// eigenvalues are 1 + 2c along the diagonal and 1 − c across. Throws UsageError unless D is positive definite.
Image generate_diagonal_tensors(const DiagonalTensorsOptions& options);
/// One part's box of it with the same values, made without the rest; so for all images here.
ImagePart generate_diagonal_tensors_part(const DiagonalTensorsOptions& options, const PartChoice& choice);

struct HelixTensorsOptions {
  ImageSize size{};
  double radius = 0.3;   ///< of the helix, as a share of the box's smaller side across z
  double tube = 0.08;    ///< radius of the tube around the helix, as the same share
  double turns = 2;      ///< from the first slice to the last
  double along = 1;      ///< eigenvalue of D along the helix
  double across = 1e-4;  ///< the other two, and all three outside the tube
};

/// Velocity tensors D (array `velocity_tensor`) along the tangent of a helix around the z axis through the box's
/// middle, inside a tube; outside they are isotropic. After paper 004, Example 2. Throws UsageError.
Image generate_helix_tensors(const HelixTensorsOptions& options);
ImagePart generate_helix_tensors_part(const HelixTensorsOptions& options, const PartChoice& choice);
/// The helix's centre line in the world: t = 0 in the first slice, 1 in the last.
Vec3d helix_point(const HelixTensorsOptions& options, double t);
/// The unit tangent there, upwards.
Vec3d helix_tangent(const HelixTensorsOptions& options, double t);
/// Radius of the tube in the world.
double helix_tube_radius(const HelixTensorsOptions& options);

struct CrossingFibersOptions {
  ImageSize size{{64, 64, 24}, 2};
  double angle = 60;           ///< between the bundles, degrees
  double radius = 0.12;        ///< of a bundle, as a share of the box's smallest side in the plane
  double along = 1.7e-3;       ///< diffusivity along a bundle, mm²/s
  double across = 0.2e-3;      ///< across it
  double background = 0.8e-3;  ///< isotropic, outside
  double noise = 0;            ///< standard deviation added to every component, as a share of `along`
  std::uint64_t seed = 1;
};

/// Diffusion tensors T (array `tensor`) of two straight round bundles in the plane z = middle that cross in the box's
/// middle, at ± angle/2 from the x axis; where they cross, T is their mean. Beside them the arrays `mask` (uint8: 1 in
/// the bundles) and `fa`. Throws UsageError.
Image generate_crossing_fibers(const CrossingFibersOptions& options);
ImagePart generate_crossing_fibers_part(const CrossingFibersOptions& options, const PartChoice& choice);

// ---- Flat seismic models: a speed per pixel; the second axis is the depth.

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

// ---- Three materials.

/// Lengths are shares of the box's smallest side.
struct PhantomOptions {
  ImageSize size{};
  double radius = 0.28;  ///< of the chamber across z, outside; along z it is 1.4 times as long
  double wall = 0.08;    ///< how thick its wall is
  double tube = 0.06;    ///< radius of the ring around its equator, which is sunk into the wall by half of that
};

/// A closed chamber in a ring. Arrays: `label` (uint8: 1 the wall, 2 what it encloses, 3 the ring, 0 outside) and
/// `density` (float: 0 outside, 100, 200 and 300 in labels 1 to 3, with a ramp of a voxel where two of them meet, as a
/// scanner's partial volumes have it). Throws UsageError for lengths that do not fit into each other or the box.
Image generate_phantom(const PhantomOptions& options);
/// One part's box of it with the same values, made without the rest.
ImagePart generate_phantom_part(const PhantomOptions& options, const PartChoice& choice);

}  // namespace isochron
