// Conduction velocities as people write them down.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isochron/metric/metric.h"

namespace isochron {

/// The velocities of one region.
struct RegionVelocities {
  std::int64_t region = 0;
  Velocities velocities{};
  friend bool operator==(const RegionVelocities&, const RegionVelocities&) = default;
};

/// "v", "fibre,transverse" or "fibre,sheet,normal"; what is left out equals the number before it. Throws UsageError
/// unless all are positive and finite.
Velocities parse_velocities(std::string_view text);

/// Rows "region:fibre,transverse[,normal]" on lines of their own or separated by semicolons; '#' starts a comment.
/// Throws InputError naming the row that cannot be read or names a region again.
std::vector<RegionVelocities> parse_velocity_table(std::string_view text);

/// The same from a file. Throws InputError when it cannot be read or holds no row.
std::vector<RegionVelocities> read_velocity_table(const std::string& path);

/// Regions for a message: "1, 2, 5", after twenty of them "… and 7 more".
std::string region_list(std::span<const double> regions);

}  // namespace isochron
