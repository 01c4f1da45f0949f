// Paths and what they run through, as data for files.
#pragma once

#include <span>
#include <string>

#include "isochron/connect/path_statistics.h"
#include "isochron/mesh/dataset.h"
#include "isochron/trace/path.h"

namespace isochron {

/// Adds a line with points of its own.
void add_line(Dataset& dataset, std::span<const Vec3d> points);

/// The path as one line with point arrays "distance", "fa", "md", "local_cost" and "cost". `statistics` are those of
/// its points.
Dataset path_dataset(const Path& path, const PathStatistics& statistics);

/// The same as a table with a row for each point, under a line of names; what is not known is left empty.
std::string profile_csv(const Path& path, const PathStatistics& statistics);

}  // namespace isochron
