// What a browser asks of a mesh, taken out of JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/server/wire.h"
#include "isochron/mesh/dataset.h"
#include "isochron/metric/from_dataset.h"
#include "isochron/solve/sources.h"

namespace isochron::viewer {

/// Which lines of equal time are wanted.
struct IsochroneRequest {
  double spacing = 0;  ///< 0: about so many round ones
  int about = 14;
};

/// Cells by a number they carry, as far as there are few of them.
struct Regions {
  std::string array;
  std::vector<std::int64_t> values;  ///< ascending
};

/// The regions of the cells that are solved on; none when no array of them looks like that.
std::optional<Regions> find_regions(const DataArrays& cell_data);

/// Sources as they are asked for. Throws InputError: none, very many, no number, a vertex out of range.
Sources parse_sources(const Json& body, std::size_t vertex_count);
/// The travel-time metric. Regions that are not named keep the speed or velocities given for everywhere.
MetricRequest parse_metric(const Json& body, const DataArrays& cell_data);
/// None when there is no or a null "isochrones".
std::optional<IsochroneRequest> parse_isochrones(const Json& body);

}  // namespace isochron::viewer
