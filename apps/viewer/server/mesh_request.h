// What a browser asks of a mesh, taken out of JSON.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/viewer/server/fields.h"
#include "apps/viewer/server/wire.h"
#include "isochron/dataset.h"
#include "isochron/metric_arrays.h"
#include "isochron/sources.h"

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

/// Sources as they are asked for. Throws RequestError, and InputError for a vertex that is not there.
Sources parse_sources(Fields& fields, std::size_t vertex_count);
/// The fields that say the metric, as they are: the same text of them means the same metric.
Json metric_fields(Fields& fields);
/// The travel-time metric that such fields say. Regions that are not named keep the speed or velocities given for
/// everywhere. Throws RequestError, and InputError for arrays that are not there or number no regions.
MetricRequest parse_metric(const Json& metric, const DataArrays& cell_data);
/// None when there is no or a null "isochrones".
std::optional<IsochroneRequest> parse_isochrones(Fields& fields);
/// A place: the vertex, or else the point.
std::variant<VertexId, Vec3d> parse_place(Fields& fields);

}  // namespace isochron::viewer
