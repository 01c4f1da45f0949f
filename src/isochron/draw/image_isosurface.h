// Surfaces of equal value in images.
#pragma once

#include <span>

#include "isochron/image.h"
#include "isochron/mesh.h"

namespace isochron {

enum class Enclose {
  above,  ///< values larger than the level are inside
  below   ///< smaller ones
};

/// The surface around the voxels on one side of a level, in world coordinates whatever the image's axes, facing away
/// from them; linear between voxels (see `marching_tetrahedra`). Always closed: beyond the image is outside, half a
/// voxel from its outer voxels, and so are values that are not finite. Throws UsageError for a level that is not
/// finite, InputError when the image has another number of values than voxels.
TriangleMesh image_isosurface(const ImageGrid& grid, std::span<const float> values, double level, Enclose side);

/// The vertices' unit normals, as the mean of the triangles around weighted by their areas.
std::vector<Vec3f> vertex_normals(const TriangleMesh& mesh);

}  // namespace isochron
