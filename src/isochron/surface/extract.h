// Stages of `extract_surface` that materials share, and what it checks first.
#pragma once

#include <cstddef>

#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// The zero set of a spline by marching tetrahedra at half the lattice's spacing, in the lattice's frame: close enough
/// to measure distances to, where the lattice's own would be off by a good part of a voxel itself.
TriangleMesh fine_isosurface(const SplineField& field, int threads);

/// Bytes that so many particles need at the most, of all stages.
std::size_t extract_bytes(double particles, const Lattice& lattice);

/// Throws InputError when more particles are expected than `most` (0: any number) or than memory holds.
void check_particle_count(double expected, const Lattice& lattice, std::size_t most);

/// How far corners are moved at the most for volumes: a tenth of a voxel.
inline double max_volume_move(const Lattice& lattice) { return 0.1 * lattice.smallest_spacing(); }

}  // namespace isochron
