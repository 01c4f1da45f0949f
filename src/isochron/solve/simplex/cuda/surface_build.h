// Preparing a triangle mesh on the device: order, incidences, lengths, virtual triangles, and the cut into patches.
// This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/options.h"
#include "isochron/solve/simplex/cuda/corner_list.h"
#include "isochron/solve/simplex/cuda/curve_order.h"
#include "isochron/solve/simplex/cuda/mesh_solver.h"
#include "isochron/solve/simplex/cuda/surface_patches.h"

namespace isochron::cuda {

/// The mesh on the device. Vertices are numbered along a Hilbert curve, and the rest uses that numbering.
struct SurfaceTopology {
  CurveOrder order;
  DeviceArray<CornerList<3>> elements;
  DeviceArray<std::uint32_t> offsets;     ///< of a vertex's incidences
  DeviceArray<std::uint32_t> incidences;  ///< element * 4 + corner, by vertex, in the order of the elements

  [[nodiscard]] std::size_t vertices() const { return order.new_to_old.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return order.bytes() + elements.bytes() + offsets.bytes() + incidences.bytes();
  }
};

/// Squared lengths of a triangle's edges in the order of `edge_corners`.
template <class T>
struct Sides {
  T length[3];
};

/// A virtual triangle seen from its target; see `VirtualTriangle`.
template <class T>
struct VirtualSides {
  std::uint32_t a, b;
  T ab, ax, bx;
};

/// What a metric makes of the mesh: all triangles, real and virtual, with their lengths.
template <class T>
struct SurfaceRecords {
  DeviceArray<Sides<T>> lengths;  ///< by element
  DeviceArray<T> edge;            ///< by vertex: mean travel time of its elements' edges
  DeviceArray<std::uint32_t>
      virtual_begin;  ///< by incidence, and one more: its virtual triangles; empty: there are none
  DeviceArray<VirtualSides<T>> virtuals;
  MeshSummary summary;
};

/// Copies the mesh to the device, orders it, and lists the elements of every vertex. Throws as `check_mesh` when it is
/// not usable, DeviceError when its lists are too long.
SurfaceTopology build_surface_topology(const MeshInput<3>& mesh);

/// Throws as `check_metric` when the metric is not usable. `split` is taken as on the CPU: all but `none` does.
template <class T>
SurfaceRecords<T> build_surface_records(const SurfaceTopology& topology, const MeshInput<3>& mesh,
                                        const MetricInput& metric, ObtuseSplit split);

/// How many vertices have more records than `slots`.
template <class T>
std::size_t vertices_beyond(const SurfaceTopology& topology, const SurfaceRecords<T>& records, std::uint32_t slots);

/// Cuts the curve into patches of equal size. Any number of records a vertex and any number of ghosts will do, only
/// slower.
template <class T>
SurfacePatches<T> cut_into_patches(const SurfaceTopology& topology, const SurfaceRecords<T>& records,
                                   const PatchShape& shape);

}  // namespace isochron::cuda
