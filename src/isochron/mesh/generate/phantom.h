// An image of three materials to take surfaces from.
#pragma once

#include "isochron/mesh/generate/tensor_images.h"
#include "isochron/mesh/image.h"

namespace isochron {

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
