// Patches of a problem in device memory, in one of the papers' two layouts. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/cuda/device_array.h"
#include "isochron/solve/simplex/cuda/patch_packing.h"

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

}  // namespace isochron::cuda
