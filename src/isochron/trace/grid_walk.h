// Steps down the times of an image, and the last one to a source.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "isochron/solve/sources.h"
#include "isochron/trace/grid_field.h"

namespace isochron {

/// The sources of an image, in index coordinates.
class GridEnds {
 public:
  /// Throws InputError for a source that is outside the image, and for a level set.
  GridEnds(const GridField& field, const Sources& sources);

  struct End {
    Vec3d index;
    double onset = 0;
    std::int32_t source = -1;
    double cost = 0;  ///< of the straight way to it
  };

  /// The source beside a position that explains its time `now`; with `any`, for want of another way, the nearest that
  /// is earlier.
  [[nodiscard]] std::optional<End> find(const Vec3d& p, double now, bool any) const;
  /// The source at the voxel around a position; −1 where there is none.
  [[nodiscard]] std::int32_t source_at(const Vec3d& p) const;

 private:
  const GridField& field_;
  std::vector<End> ends_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> at_voxel_;
};

/// A step of the characteristic (second-order Runge–Kutta, up to half a voxel) that goes down at least half as fast as
/// the front came, or else the steepest way to the centre of a voxel nearby. None where no such voxel is earlier.
std::optional<Vec3d> step_down(const GridField& field, const Vec3d& p, double now);

/// The centres of voxels on the way from a position to one that is strictly earlier than `now`, where none nearby is in
/// a straight line: the one that the solver looked at, else the nearest by travel time; empty when a few thousand
/// voxels hold none.
std::vector<Vec3d> way_out(const GridField& field, const Vec3d& p, double now);

}  // namespace isochron
