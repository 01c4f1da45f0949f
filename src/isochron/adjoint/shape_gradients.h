// How barycentric weights change within an element.
#pragma once

#include <array>
#include <optional>

#include "isochron/types.h"

namespace isochron {

/// The gradients of a tetrahedron's barycentric weights; empty when it is flat.
inline std::optional<std::array<Vec3d, 4>> shape_gradients(const std::array<Vec3d, 4>& x) {
  const Vec3d a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
  const Vec3d bc = cross(b, c);
  const double volume = dot(a, bc);
  if (volume == 0) return std::nullopt;
  const Vec3d of_1 = bc / volume, of_2 = cross(c, a) / volume, of_3 = cross(a, b) / volume;
  return std::array<Vec3d, 4>{Vec3d{} - of_1 - of_2 - of_3, of_1, of_2, of_3};
}

/// Those of a triangle's, in its plane.
inline std::optional<std::array<Vec3d, 3>> shape_gradients(const std::array<Vec3d, 3>& x) {
  const Vec3d a = x[1] - x[0], b = x[2] - x[0];
  const Vec3d normal = cross(a, b);
  const double squared = dot(normal, normal);
  if (squared == 0) return std::nullopt;
  const Vec3d of_1 = cross(b, normal) / squared, of_2 = cross(normal, a) / squared;
  return std::array<Vec3d, 3>{Vec3d{} - of_1 - of_2, of_1, of_2};
}

}  // namespace isochron
