// Where and when the front starts.
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/types.h"

namespace isochron {

/// The front starts at a vertex or voxel at `time`.
struct VertexSource {
  GlobalVertexId vertex;
  double time = 0;
};

/// The front starts at a point in (or on) the mesh at `time`; it is not moved to the nearest vertex.
struct PointSource {
  Vec3d position;
  double time = 0;
};

/// All sources of one solve. The index of a source, as reported by `Arrival::source`, counts the vertices first, then
/// the points, then (one index for all of it) the level set.
struct Sources {
  std::vector<VertexSource> vertices;
  std::vector<PointSource> points;
  /// One signed value per mesh vertex: the front starts at time 0 on the zero set (linear in each element) and runs
  /// both ways. Empty when there is none.
  std::vector<double> level_set;

  [[nodiscard]] bool empty() const { return vertices.empty() && points.empty() && level_set.empty(); }
  [[nodiscard]] std::size_t count() const { return vertices.size() + points.size() + (level_set.empty() ? 0 : 1); }
};

}  // namespace isochron
