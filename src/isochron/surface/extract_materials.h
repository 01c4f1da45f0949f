// Whether a mesh of the surfaces between all materials shows all of each one.
#pragma once

#include <span>
#include <vector>

#include "isochron/surface.h"
#include "isochron/surface/field/multi_label.h"

namespace isochron {

/// Compares the border of each material with the isosurface of its field, but for components below a voxel's volume
/// that only the mesh has. The mesh is in the lattice's frame; `sides` has the labels of the image. Throws Cancelled.
std::vector<MaterialDifference> material_differences(const MultiLabelField& field, const TriangleMesh& mesh,
                                                     std::span<const RegionSides> sides, int threads,
                                                     const Progress& progress = {});

/// The borders of all materials, those between two of them once, by marching tetrahedra at `times` as many points along
/// each axis as the lattice has, in its frame. Throws Cancelled.
TriangleMesh material_isosurface(const MultiLabelField& field, int times, int threads, const Progress& progress = {});

}  // namespace isochron
