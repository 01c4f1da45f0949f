// A triangle mesh cut into patches that a thread block each holds in shared memory, as the device's schedule for
// surfaces reads them. This header needs no CUDA.
#pragma once

#include <cstdint>

#include "isochron/device.h"
#include "isochron/local/prepared_edge.h"
#include "isochron/types.h"

namespace isochron::cuda {

/// How a block is laid over a patch: `lanes` threads share a vertex and hold `held` records each. At most
/// `max_threads` threads and 32 records a vertex.
struct PatchShape {
  static constexpr std::uint32_t max_threads = 1024;

  std::uint32_t vertices = 256;
  std::uint32_t lanes = 2;
  std::uint32_t held = 3;

  [[nodiscard]] ISOCHRON_HD std::uint32_t threads() const { return vertices * lanes; }
  /// One ghost a thread, so that a block fetches them in one step.
  [[nodiscard]] ISOCHRON_HD std::uint32_t ghosts() const { return threads(); }
  /// Local numbers: the patch's own vertices, its ghosts, and one that is never reached.
  [[nodiscard]] ISOCHRON_HD std::uint32_t nowhere() const { return vertices + ghosts(); }
  [[nodiscard]] ISOCHRON_HD std::uint32_t slots() const { return lanes * held; }
};

/// A record that found no place in its patch: of a vertex with more of them than its threads hold, or in a patch with
/// more ghosts than fit. It names its ends by place.
template <class T>
struct ExtraRecord {
  std::uint32_t a, b;
  PreparedEdge<T> edge;
};

/// The patches of a mesh, in device memory. A vertex's *place* is patch * shape.vertices + its number in the patch;
/// places that no vertex has are never reached. A *record* is one triangle, real or virtual, that can lower its target:
/// all records of a vertex together are its update. A *ghost* is a vertex of another patch that a record names.
template <class T>
struct SurfacePatches {
  static constexpr std::uint32_t none = ~0U;
  static constexpr std::uint32_t values = 5;  ///< of a PreparedEdge
  /// Neighbours that a bit of `reach` stands for by themselves; the last bit stands for all further ones.
  static constexpr std::uint32_t near_count = 31;

  PatchShape shape;
  std::uint32_t count = 0;
  DeviceArray<std::uint32_t> vertex_at;      ///< by place: the user's vertex, or none
  DeviceArray<std::uint32_t> place_of;       ///< by the user's vertex
  DeviceArray<T> edge;                       ///< by place: mean edge travel time
  DeviceArray<T> lengths;                    ///< [patch][held][value][thread]
  DeviceArray<std::uint32_t> ends;           ///< [patch][held][thread]: local numbers a | b << 16
  DeviceArray<std::uint32_t> ghosts;         ///< [patch][thread]: place, or none
  DeviceArray<std::uint32_t> extra_offsets;  ///< by place, and one more; empty when there are none
  DeviceArray<ExtraRecord<T>> extras;
  /// By place: which neighbours of its patch have the vertex as an end of a record.
  DeviceArray<std::uint32_t> reach;
  DeviceArray<std::uint32_t> near;  ///< [patch][near_count + 1]: patch, or none
  DeviceArray<std::uint32_t> far_offsets, far;

  [[nodiscard]] std::size_t places() const { return std::size_t{count} * shape.vertices; }
  [[nodiscard]] std::size_t bytes() const {
    return vertex_at.bytes() + place_of.bytes() + edge.bytes() + lengths.bytes() + ends.bytes() + ghosts.bytes() +
           extra_offsets.bytes() + extras.bytes() + reach.bytes() + near.bytes() + far_offsets.bytes() + far.bytes();
  }
};

}  // namespace isochron::cuda
