// Partitioning points of all ranks by a Hilbert curve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/hilbert_curve.h"
#include "isochron/parts.h"

namespace isochron {

/// The frame over the points of all ranks; the same for each.
CurveFrame common_frame(Communicator& communicator, std::span<const Vec3d> points);

/// Where each point lies on the curve.
std::vector<std::uint64_t> curve_keys(std::span<const Vec3d> points, const CurveFrame& frame);

/// The first key of each interval but the first, ascending, so that `intervals` intervals have about as many of the
/// keys of all processes each: within a two-hundredth of an interval, or as close as equal keys allow. One sum over all
/// ranks for each bit of the keys at most.
std::vector<std::uint64_t> curve_splitters(Communicator& communicator, std::vector<std::uint64_t> keys,
                                           const CurveFrame& frame, std::size_t intervals);

/// The interval of a key.
std::size_t interval_of_key(std::span<const std::uint64_t> splitters, std::uint64_t key);

}  // namespace isochron
