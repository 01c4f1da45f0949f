// Patches of a problem in device memory, in one of the papers' two layouts. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/local/simplex_update.h"
#include "isochron/papers/vertex_parts.h"
#include "isochron/types.h"

namespace isochron::cuda {

/// In a corner of a cell: this vertex is of the patch and gets a candidate from the cell.
inline constexpr std::uint32_t updated_flag = 0x80000000U;
/// Strips of as many vertices lie interleaved, so that the threads of a warp read side by side.
inline constexpr std::uint32_t strip_width = 32;

/// What both layouts share. Vertices have the places of the packing. Inside a patch a vertex has a local number: first
/// the patch's own vertices, then its halo, the vertices of other patches that its elements need.
struct PatchTopology {
  DeviceArray<std::uint32_t> vertex_begin;                ///< by patch
  DeviceArray<std::uint32_t> halo_begin, halo;            ///< by patch
  DeviceArray<std::uint32_t> dependent_begin, dependent;  ///< by patch: the patches that have some of it in their halo
};

/// Cell assembly (papers 000, 003): each element once per patch that it updates a vertex of. Candidates go to slots,
/// `Corners` per cell; a vertex gathers its own. As the device sees it:
template <class T>
struct CellView {
  std::uint32_t count;
  const std::uint32_t* begin;         ///< by patch
  const std::uint32_t* corner;        ///< local numbers with `updated_flag`; all first corners, all second ones, ...
  const T* length;                    ///< squared metric lengths, likewise
  const std::uint32_t* gather_begin;  ///< by vertex
  const std::uint32_t* gather;        ///< slots, counted from the patch's first cell
};

/// One-ring strips (paper 003): the elements around a vertex with that vertex last. Incidence j of vertex i of a slice
/// is entry begin[slice] + j * strip_width + i. As the device sees it:
template <class T>
struct StripView {
  std::size_t entries;
  const std::uint32_t* slice_begin;      ///< by patch
  const std::uint64_t* begin;            ///< by slice
  const std::uint32_t* incidence_begin;  ///< by vertex: only how many it has
  const std::uint32_t* face;             ///< local numbers; all first vertices, all second ones, ...
  const T* length;                       ///< squared metric lengths, likewise
};

template <class T>
struct PatchCells {
  std::uint32_t count = 0;
  DeviceArray<std::uint32_t> begin, corner, gather_begin, gather;
  DeviceArray<T> length;

  [[nodiscard]] CellView<T> view() const {
    return {count, begin.data(), corner.data(), length.data(), gather_begin.data(), gather.data()};
  }
};

template <class T>
struct PatchStrips {
  std::size_t entries = 0;
  DeviceArray<std::uint32_t> slice_begin, incidence_begin, face;
  DeviceArray<std::uint64_t> begin;
  DeviceArray<T> length;

  [[nodiscard]] StripView<T> view() const {
    return {entries, slice_begin.data(), begin.data(), incidence_begin.data(), face.data(), length.data()};
  }
};

template <class T>
struct PatchData {
  PatchTopology topology;
  PatchCells<T> cells;              ///< empty with strips
  PatchStrips<T> strips;            ///< empty with cells
  std::vector<std::uint64_t> room;  ///< by patch: values that an update of it works on, times included
  std::uint64_t max_cells = 0;      ///< of a patch
};

/// Builds the lists on the device by sorting, reducing and scanning (paper 003 section 3.2.2). Throws RuntimeError when
/// the mesh is too large.
template <class T, int Corners>
PatchData<T> build_patches(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing, PatchLayout layout);

/// One element as a thread holds it: it is turned until the corner to be updated comes last. `node` is what a corner
/// carries (its time, or its number); `length` the squared metric lengths in the order of `edge_corners`. Every index
/// is a constant, so that all of it stays in registers.
template <class Node, class T, int Corners>
struct PatchSimplex {
  static constexpr int edges = Corners * (Corners - 1) / 2;

  Node node[Corners];
  T length[edges];

  /// Corner 1 becomes corner 0, and so on; corner 0 comes last.
  ISOCHRON_HD void turn() {
    const Node first = node[0];
    for (int k = 0; k + 1 < Corners; ++k) node[k] = node[k + 1];
    node[Corners - 1] = first;
    if constexpr (Corners == 4) {
      const T l01 = length[0], l02 = length[1], l12 = length[2], l03 = length[3], l13 = length[4], l23 = length[5];
      length[0] = l12;
      length[1] = l13;
      length[2] = l23;
      length[3] = l01;
      length[4] = l02;
      length[5] = l03;
    } else {
      const T l01 = length[0], l02 = length[1], l12 = length[2];
      length[0] = l12;
      length[1] = l01;
      length[2] = l02;
    }
  }
};

/// The earliest time on the face opposite the last corner: no arrival there is earlier.
template <class T, int Corners>
ISOCHRON_HD inline T earliest_of_face(const PatchSimplex<T, T, Corners>& s) {
  const T first = detail::smaller(s.node[0], s.node[1]);
  if constexpr (Corners == 4) return detail::smaller(first, s.node[2]);
  else return first;
}

/// The earliest arrival at the last corner. At least one time on the face is finite.
template <class T, int Corners>
ISOCHRON_HD inline T arrival_at_last(const PatchSimplex<T, T, Corners>& s) {
  const T(&l)[PatchSimplex<T, T, Corners>::edges] = s.length;
  if constexpr (Corners == 4)
    return detail::tet_update_scaled(s.node[0], s.node[1], s.node[2], TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]})
        .time;
  else return detail::triangle_update_scaled(s.node[0], s.node[1], TriangleLengths<T>{l[0], l[1], l[2]}).time;
}

}  // namespace isochron::cuda
