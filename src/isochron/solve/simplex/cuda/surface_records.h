// The records of a vertex as kernels read them before they are cut into patches. For .cu files only.
#pragma once

#include "isochron/solve/simplex/cuda/surface_build.h"

namespace isochron::cuda {

/// Record r of vertex v: first its triangles, then its virtual ones.
template <class T>
struct RecordView {
  const CornerList<3>* elements;
  const std::uint32_t* offsets;
  const std::uint32_t* incidences;
  const Sides<T>* lengths;
  const std::uint32_t* virtual_begin;  ///< null when there are none
  const VirtualSides<T>* virtuals;

  RecordView(const SurfaceTopology& topology, const SurfaceRecords<T>& records)
      : elements(topology.elements.data()),
        offsets(topology.offsets.data()),
        incidences(topology.incidences.data()),
        lengths(records.lengths.data()),
        virtual_begin(records.virtual_begin.data()),
        virtuals(records.virtuals.data()) {}

  [[nodiscard]] __device__ std::uint32_t count(std::uint32_t v) const {
    const std::uint32_t begin = offsets[v], end = offsets[v + 1];
    return end - begin + (virtual_begin == nullptr ? 0 : virtual_begin[end] - virtual_begin[begin]);
  }

  struct Ends {
    std::uint32_t a, b;
  };
  [[nodiscard]] __device__ Ends ends(std::uint32_t v, std::uint32_t r) const {
    const std::uint32_t begin = offsets[v], real = offsets[v + 1] - begin;
    if (r >= real) {
      const VirtualSides<T>& sides = virtuals[virtual_begin[begin] + r - real];
      return {sides.a, sides.b};
    }
    const std::uint32_t incidence = incidences[begin + r];
    const CornerList<3>& element = elements[incidence >> 2];
    const std::uint32_t x = incidence & 3U;
    return {element.corner[x == 2 ? 0 : x + 1], element.corner[x == 0 ? 2 : x - 1]};
  }

  [[nodiscard]] __device__ PreparedEdge<T> edge(std::uint32_t v, std::uint32_t r) const {
    const std::uint32_t begin = offsets[v], real = offsets[v + 1] - begin;
    if (r >= real) {
      const VirtualSides<T>& sides = virtuals[virtual_begin[begin] + r - real];
      return PreparedEdge<T>::from_lengths(sides.ab, sides.ax, sides.bx);
    }
    const std::uint32_t incidence = incidences[begin + r];
    const int x = static_cast<int>(incidence & 3U), a = x == 2 ? 0 : x + 1, b = x == 0 ? 2 : x - 1;
    const T* l = lengths[incidence >> 2].length;
    return PreparedEdge<T>::from_lengths(l[edge_index(a, b)], l[edge_index(a, x)], l[edge_index(b, x)]);
  }
};

}  // namespace isochron::cuda
