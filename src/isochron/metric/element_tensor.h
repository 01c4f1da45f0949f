// The tensor of one element from what a metric stores about it. For host and device.
#pragma once

#include "isochron/core/host_device.h"
#include "isochron/core/vec.h"

namespace isochron {

/// Velocities along fibre, sheet and normal, in the caller's length over the caller's time.
struct Velocities {
  double fiber = 1;
  double sheet = 1;
  double normal = 1;
  friend bool operator==(const Velocities&, const Velocities&) = default;
};

ISOCHRON_HD inline SymTensor3d speed_tensor(double f) { return SymTensor3d::identity(1 / (f * f)); }

ISOCHRON_HD inline SymTensor3d widened(const SymTensor3f& m) { return {m.xx, m.xy, m.xz, m.yy, m.yz, m.zz}; }

ISOCHRON_HD inline SymTensor3f narrowed(const SymTensor3d& m) {
  return {static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
          static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)};
}

/// See `FiberMetric`; `sheet` is null where there are none.
ISOCHRON_HD inline SymTensor3d fiber_tensor(const Velocities& v, Vec3f fiber, const Vec3f* sheet) {
  const double slow_f = 1 / (v.fiber * v.fiber);
  const double slow_s = 1 / (v.sheet * v.sheet);
  const double slow_n = 1 / (v.normal * v.normal);
  Vec3d f{fiber.x, fiber.y, fiber.z};
  const double length = norm(f);
  if (!(length > 0)) return SymTensor3d::identity(slow_s);
  f = f / length;
  if (sheet != nullptr) {
    const Vec3d given{sheet->x, sheet->y, sheet->z};
    const Vec3d s = given - dot(given, f) * f;  // data sets are orthogonal only to their printed digits
    const double across = norm(s);
    if (across > 1e-4 * norm(given))
      return SymTensor3d::identity(slow_n) + SymTensor3d::outer(f, slow_f - slow_n) +
             SymTensor3d::outer(s / across, slow_s - slow_n);
  }
  return SymTensor3d::identity(slow_s) + SymTensor3d::outer(f, slow_f - slow_s);
}

}  // namespace isochron
