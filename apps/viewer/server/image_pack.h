// What the scenes of images say about their voxels, and how they send surfaces.
#pragma once

#include <span>
#include <string>

#include "apps/viewer/server/wire.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron::viewer {

/// Entries of /api/state that every image has: bounds (of whole voxels), units, shape, spacing and affine (voxel to
/// world, 16 numbers row by row), and those of meshes, empty.
Json describe_image(const ImageGrid& grid, std::string_view kind, const std::string& units);

/// The shape of an array with a value (or several) for each voxel: the last axis first, as the values lie in memory.
Pack::Shape volume_shape(const ImageGrid& grid);
/// `name` as an array of that shape.
void add_volume(Pack& pack, std::string_view name, const ImageGrid& grid, std::span<const float> values);

/// `<prefix>points` and `<prefix>triangles`.
void add_mesh(Pack& pack, const std::string& prefix, const TriangleMesh& mesh, const std::string& units);
void add_vectors(Pack& pack, const std::string& name, std::span<const Vec3f> vectors);

}  // namespace isochron::viewer
