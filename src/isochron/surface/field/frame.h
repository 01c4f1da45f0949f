// Where a lattice lies in the world.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "isochron/core/vec.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// A rotation (or mirroring) and a shift: lattice positions, which are in world lengths already, to the world and back.
struct LatticeFrame {
  Vec3d origin{};
  std::array<Vec3d, 3> axis{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};  ///< unit vectors, orthogonal

  [[nodiscard]] Vec3d to_world(const Vec3d& p) const { return origin + to_world_direction(p); }
  [[nodiscard]] Vec3d to_world_direction(const Vec3d& v) const { return v.x * axis[0] + v.y * axis[1] + v.z * axis[2]; }
  [[nodiscard]] Vec3d to_lattice(const Vec3d& world) const {
    const Vec3d v = world - origin;
    return {dot(v, axis[0]), dot(v, axis[1]), dot(v, axis[2])};
  }
  /// True when the axes are left-handed: triangles have to be turned round on their way to the world.
  [[nodiscard]] bool mirrors() const { return dot(axis[0], cross(axis[1], axis[2])) < 0; }
};

/// The frame of an image whose axes are orthogonal, with its first voxel at the origin of the lattice. Throws
/// InputError for a grid without usable or with sheared axes; `what` names the image.
LatticeFrame frame_of(const ImageGrid& grid, const std::string& what);

/// The same for an image that surfaces are taken from: throws InputError also when it is flat or has another number of
/// values than voxels.
LatticeFrame checked_frame(const ImageGrid& grid, std::size_t values);

}  // namespace isochron
