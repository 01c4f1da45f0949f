// Patches of a problem in device memory, in one of the papers' two layouts. This header needs no CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/papers/one_ring_strips.h"

namespace isochron::cuda {

/// In a corner of a cell: this vertex is of the patch and gets a candidate from the cell.
inline constexpr std::uint32_t updated_flag = 0x80000000U;

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

template <class T>
struct PatchCells {
  std::uint32_t count = 0;
  DeviceArray<std::uint32_t> begin, corner, gather_begin, gather;
  DeviceArray<T> length;

  [[nodiscard]] CellView<T> view() const {
    return {count, begin.data(), corner.data(), length.data(), gather_begin.data(), gather.data()};
  }
  [[nodiscard]] std::size_t bytes() const {
    return begin.bytes() + corner.bytes() + length.bytes() + gather_begin.bytes() + gather.bytes();
  }
};

template <class T>
struct PatchData {
  PatchTopology topology;
  PatchCells<T> cells;                 ///< empty with strips
  StripArrays<T, DeviceArray> strips;  ///< empty with cells
  std::vector<std::uint64_t> room;     ///< by patch: values that an update of it works on, times included
  std::uint64_t busiest = 0;           ///< most cells (with strips: vertices) of a patch
  double seconds = 0;                  ///< that the device took to build the lists of cells

  /// What holds the elements, in either layout.
  [[nodiscard]] std::size_t element_bytes() const { return cells.bytes() + strips.bytes(); }
};

/// Cell assembly. Builds the lists on the device by sorting, reducing and scanning (paper 003 section 3.2.2). Throws
/// RuntimeError when the mesh is too large.
template <class T, int Corners>
PatchData<T> build_cells(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing);

/// Strips that the host made.
template <class T>
PatchData<T> upload_strips(const OneRingStrips<T>& strips, const PatchPacking& packing);

}  // namespace isochron::cuda
