// From sources to the voxels that have a time before a grid solve starts.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/options.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/common/seed_rows.h"
#include "isochron/solve/grid/stencils.h"
#include "isochron/sources.h"

namespace isochron {

/// Checks and places the sources, voxels first. Throws InputError: none given, id out of range, NaN or infinite onset,
/// outside the image or the mask; UsageError for a level set.
std::vector<PlacedSource> place_grid_sources(const ImageGrid& grid, const GridCells& cells, const Sources& sources);

/// The same without a look at the mask, and what it throws for a source whose voxel is outside.
std::vector<PlacedSource> place_in_grid(const ImageGrid& grid, const Sources& sources);
[[noreturn]] void refuse_masked(const ImageGrid& grid, const Sources& sources, const PlacedSource& placed);

/// By source: whether it stands alone, without another source voxel beside it.
std::vector<bool> stand_alone(const ImageGrid& grid, const std::vector<PlacedSource>& placed);

/// The sources that stand alone, and those with another source voxel beside them: parts of regions.
struct SplitSources {
  std::vector<PlacedSource> alone, regions;
};
SplitSources split_regions(const ImageGrid& grid, const std::vector<PlacedSource>& placed);

/// The metric at a source, in voxels: between voxels the mean of those around it, weighted by nearness.
SymTensor3d metric_at(const VoxelMetric& metric, const GridCells& cells, const PlacedSource& source);

/// The radius of source balls, in voxels: when there are many they are kept small (see `limited_rings`).
int limited_radius(int ball_rings, std::size_t sources, const ImageGrid& grid);

/// The seeds of placed sources. `plain` sets the voxel, or those around a source between voxels. `ball` and `factored`
/// add the voxels around it, up to `radius` voxels away, as far as the metric is nearly constant, where the straight
/// line from the source stays in the mask; not for sources with another source voxel beside them, which are parts of a
/// region. All have the straight line's time; `rows` gets how that depends on the input.
std::vector<Seed> make_grid_seeds(const VoxelMetric& metric, const GridCells& cells,
                                  const std::vector<PlacedSource>& placed, SourceInit init, int radius,
                                  SeedRows* rows = nullptr);

/// The voxels whose metric `make_grid_seeds` may look at.
std::vector<std::uint32_t> voxels_of_seeds(const ImageGrid& grid, const GridCells& cells,
                                           const std::vector<PlacedSource>& placed, SourceInit init, int radius);

}  // namespace isochron
