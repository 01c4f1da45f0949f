// Random directions and orthonormal frames.
#pragma once

#include "isochron/core/random.h"
#include "isochron/types.h"

namespace isochron::test {

inline Vec3d random_unit(Random& random) {
  const double x = random.normal(), y = random.normal(), z = random.normal();
  return Vec3d{x, y, z} / norm(Vec3d{x, y, z});
}

/// Three orthonormal axes, right-handed.
struct RandomFrame {
  Vec3d axis[3];

  explicit RandomFrame(Random& random) {
    axis[0] = random_unit(random);
    const Vec3d across = cross(axis[0], random_unit(random));
    axis[1] = across / norm(across);
    axis[2] = cross(axis[0], axis[1]);
  }
};

}  // namespace isochron::test
