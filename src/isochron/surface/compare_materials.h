// Whether a mesh shows all that a label map has, material by material.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/multi_label.h"
#include "isochron/surface/tetrahedra/tetrahedralize.h"
#include "isochron/surface/triangulate/compare.h"

namespace isochron {

/// How a component of a material's border came out.
struct MaterialDifference {
  std::int32_t material = 0;  ///< label
  SurfaceDifference border;
};

/// Compares the border of each material with the isosurface of its field, but for components below a voxel's volume
/// that only the mesh has. The mesh is in the lattice's frame; `sides` has the labels of the image. Throws Cancelled.
std::vector<MaterialDifference> material_differences(const MultiLabelField& field, const TriangleMesh& mesh,
                                                     std::span<const RegionSides> sides, int threads,
                                                     const Progress& progress = {});

/// The borders of all materials, those between two of them once, by marching tetrahedra at `times` as many points along
/// each axis as the lattice has, in its frame. Throws Cancelled.
TriangleMesh material_isosurface(const MultiLabelField& field, int times, int threads, const Progress& progress = {});

}  // namespace isochron
