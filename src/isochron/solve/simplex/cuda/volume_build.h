// Preparing a tetrahedral mesh on the device: ordering, adjacency, metric lengths. For .cu files only.
#pragma once

#include "isochron/device.h"
#include "isochron/solve/simplex/cuda/curve_order.h"
#include "isochron/solve/simplex/cuda/star.h"
#include "isochron/solve/simplex/cuda/volume.h"

namespace isochron::cuda {

/// The mesh on the device. Vertices are numbered along a Morton curve; `elements` and what follows use that numbering.
template <class T>
struct DeviceVolume {
  std::size_t vertices = 0;
  DeviceArray<uint4> elements;
  CurveOrder order;
  DeviceArray<std::uint64_t> offsets;     ///< of a vertex's incidences
  DeviceArray<std::uint32_t> incidences;  ///< elements by vertex
  DeviceArray<StarHead> heads;            ///< one per vertex, then further stars of vertices that have several
  DeviceArray<std::uint64_t> stars;       ///< their memory
  DeviceArray<T> edge;                    ///< mean travel time of a vertex's edges
  MeshSummary summary;

  [[nodiscard]] std::size_t bytes() const {
    return elements.bytes() + order.bytes() + offsets.bytes() + incidences.bytes() + heads.bytes() + stars.bytes() +
           edge.bytes();
  }
};

/// Copies, orders, and lists the elements of every vertex. Throws as `check_mesh` when the mesh is not usable.
template <class T>
void build_topology(DeviceVolume<T>& volume, const MeshInput<4>& mesh, const MetricInput& metric);

/// Fills the stars. Throws as `check_metric` when the metric is not usable.
template <class T>
void build_stars(DeviceVolume<T>& volume, const MeshInput<4>& mesh, const MetricInput& metric);

}  // namespace isochron::cuda
