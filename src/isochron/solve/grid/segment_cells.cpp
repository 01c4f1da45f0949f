#include "isochron/solve/grid/segment_cells.h"

#include <cstdlib>

namespace isochron {
namespace {

/// [low, high] / scale, with the line's parameter t from 0 to 1.
struct Interval {
  std::int64_t low, high;
};

}  // namespace

std::vector<Vec3i> touched_voxels(const Vec3i& end) {
  const std::int64_t size[3] = {std::abs(end.x), std::abs(end.y), std::abs(end.z)};
  const int sign[3] = {end.x < 0 ? -1 : 1, end.y < 0 ? -1 : 1, end.z < 0 ? -1 : 1};
  // Exact in integers: t runs from 0 to `whole`, and coordinate d is at t·size[d]/whole.
  std::int64_t whole = 1;
  for (const std::int64_t s : size) whole *= s > 0 ? 2 * s : 1;
  const auto span = [&](int d, std::int64_t v) {  // of t where coordinate d is within half a voxel of v
    if (size[d] == 0) return Interval{0, whole};
    const std::int64_t per_half = whole / (2 * size[d]);
    return Interval{std::max<std::int64_t>(0, (2 * v - 1) * per_half), std::min(whole, (2 * v + 1) * per_half)};
  };
  std::vector<Vec3i> result;
  for (std::int64_t x = 0; x <= size[0]; ++x) {
    const Interval in_x = span(0, x);
    for (std::int64_t y = 0; y <= size[1]; ++y) {
      const Interval in_y = span(1, y);
      const Interval in_xy{std::max(in_x.low, in_y.low), std::min(in_x.high, in_y.high)};
      if (in_xy.low > in_xy.high) continue;
      for (std::int64_t z = 0; z <= size[2]; ++z) {
        const Interval in_z = span(2, z);
        if (std::max(in_xy.low, in_z.low) > std::min(in_xy.high, in_z.high)) continue;
        const Vec3i voxel{sign[0] * static_cast<int>(x), sign[1] * static_cast<int>(y), sign[2] * static_cast<int>(z)};
        if (voxel != Vec3i{} && voxel != end) result.push_back(voxel);
      }
    }
  }
  return result;
}

bool SegmentTest::stays_inside(const Vec3i& from, const Vec3i& offset) {
  if (!cells_.may_enter(from + offset)) return false;
  if (!cells_.masked) return true;  // a box is convex
  const auto [place, fresh] = between_.try_emplace(PackedOffset::of(offset).bits);
  if (fresh)
    for (const Vec3i& voxel : touched_voxels(offset)) place->second.push_back(cells_.box.step(voxel));
  const std::uint8_t* at = cells_.allowed.data() + cells_.box.cell(from);
  for (const std::ptrdiff_t step : place->second)
    if (at[step] == 0) return false;
  return true;
}

}  // namespace isochron
