// Stencils as the device reads them where cells are numbered by their place in the list of allowed ones.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/core/big_vector.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron::cuda {

/// What a cell reads. Neighbours at −e_i and +e_i are 2i and 2i+1; the one that is not there has the number of cells,
/// and its time stays +inf. Read in pieces of 16 bytes.
template <int Terms>
struct alignas(16) ListedRecord {
  static constexpr std::uint32_t no_edges = 0xffffffffU;
  float weight[Terms];
  std::uint32_t near[2 * Terms];
  std::uint32_t dependents;  ///< where its dependents begin, in pieces; they end where those of the next record begin
  std::uint32_t edges;       ///< its `ListedEdges`, or none
};

/// The steps along the axes of a cell where they take part; see `OffsetProblem`.
template <int Dim>
struct alignas(16) ListedEdges {
  std::uint32_t near[2 * Dim];
  float time[Dim];
};

/// Dependents come in pieces of this many, filled up with the number that is no cell.
inline constexpr std::uint32_t dependents_piece = 8;

template <int Dim, int Terms>
struct ListedStencils {
  BigVector<ListedRecord<Terms>> records;  ///< one more than cells
  std::vector<ListedEdges<Dim>> edges;
  BigVector<std::uint32_t> dependents;
  BigVector<std::uint32_t> far;  ///< of order 2: the cells behind each record's `near`
};

/// The stencils of any problem in this form.
template <class Problem>
ListedStencils<Problem::dim, Problem::terms> list_stencils(const Problem& problem, int order, int threads);

}  // namespace isochron::cuda
