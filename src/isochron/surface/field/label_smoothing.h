// From a staircase of voxels to a smooth level field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/surface.h"

namespace isochron {

/// The width to smooth with by default, in voxels.
constexpr double usual_label_smoothing = 1;
/// No object keeps its shape beyond this, and what it takes grows with the width.
constexpr double max_smoothing = 64;

/// A level field whose zero set is the smoothed surface of the voxels where `inside` is not 0: negative in those, in
/// units of voxels, and exact only near the surface (it stops growing at ±5). The distance to the voxels' faces is
/// smoothed over `width` voxels by a kernel that leaves quadratic functions alone, so that curved surfaces do not
/// shrink; nowhere does it change by more than half a voxel or its sign.
std::vector<float> smoothed_level(const Lattice& lattice, std::span<const std::uint8_t> inside, double width,
                                  int threads);

/// Where `smoothed_level` stops growing.
constexpr float farthest_level = 5;

/// The least that levels at voxels are, so that signs are clear.
constexpr float min_level = 0.02F;

/// Convolves values with a Gaussian of `width` points along each axis.
void gaussian(const Lattice& lattice, double width, int threads, std::vector<float>& values);

/// Convolves values with a Gaussian of `width` points along each axis and again with its complement: 2G − G∗G, which
/// leaves quadratic functions as they are.
void smooth(const Lattice& lattice, double width, int threads, std::vector<float>& values);

}  // namespace isochron
