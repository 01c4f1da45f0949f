// Out of a minimum of the interpolated times that is no source, along the edges of the mesh.
#pragma once

#include <optional>
#include <vector>

#include "isochron/trace/descent.h"

namespace isochron {

/// The cheapest way along edges from the point to a vertex that is strictly earlier: the vertices on it in order, with
/// their travel times from the point.
struct Bridge {
  std::vector<VertexId> vertices;
  std::vector<double> costs;
};

/// A vertex can be earlier than all of its neighbours without being a source: its time came straight over an obtuse
/// element from further away (virtual elements, or exact times around a source). The search ends after a few hundred
/// vertices; empty when none of them is earlier.
template <int Corners>
std::optional<Bridge> find_bridge(const TimedMesh<Corners>& on, const MeshPoint<Corners>& from);

extern template std::optional<Bridge> find_bridge(const TimedMesh<3>&, const MeshPoint<3>&);
extern template std::optional<Bridge> find_bridge(const TimedMesh<4>&, const MeshPoint<4>&);

}  // namespace isochron
