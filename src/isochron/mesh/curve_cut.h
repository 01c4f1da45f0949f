// Cutting points that are shared out over processes into equal pieces of one Hilbert curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/mesh/exchange.h"
#include "isochron/mesh/hilbert_curve.h"

namespace isochron {

/// The frame over the points of all processes; the same for each.
CurveFrame common_frame(Exchange& exchange, std::span<const Vec3d> points);

/// Where each point lies on the curve.
std::vector<std::uint64_t> curve_keys(std::span<const Vec3d> points, const CurveFrame& frame);

/// The first key of each piece but the first, ascending, so that `pieces` pieces have about as many of the keys of all
/// processes each: within a two-hundredth of a piece, or as close as equal keys allow. One sum over all processes for
/// each bit of the keys at most.
std::vector<std::uint64_t> curve_splitters(Exchange& exchange, std::vector<std::uint64_t> keys, const CurveFrame& frame,
                                           std::size_t pieces);

/// The piece of a key.
std::size_t piece_of_key(std::span<const std::uint64_t> splitters, std::uint64_t key);

}  // namespace isochron
