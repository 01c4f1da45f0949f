// Numbering vertices along a curve on the device. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <span>

#include "isochron/device.h"
#include "isochron/types.h"

namespace isochron::cuda {

enum class Curve {
  morton,  ///< cheaper
  hilbert  ///< never jumps, so equal pieces of it are compact; the same order as the host's `hilbert_order`
};

/// Vertices numbered along a curve through their bounding box.
struct CurveOrder {
  DeviceArray<std::uint32_t> old_to_new, new_to_old;
  DeviceArray<Vec3d> points;  ///< in the new order
  bool all_finite = true;     ///< the coordinates; when they are not, nothing is ordered

  [[nodiscard]] std::size_t bytes() const { return old_to_new.bytes() + new_to_old.bytes() + points.bytes(); }
};

/// Copies the points, of which there must be some, to the device and orders them there.
CurveOrder order_along(Curve curve, std::span<const Vec3d> points);
/// The same for points that are there.
CurveOrder order_along(Curve curve, const DeviceArray<Vec3d>& points);

}  // namespace isochron::cuda
