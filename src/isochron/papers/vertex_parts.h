// The vertices of a problem in the patches of papers 000 and 003, made by the host.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/options.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// A patch's vertices stand side by side: patch p holds the places from `vertex_begin[p]` to `vertex_begin[p + 1]`.
struct PatchPacking {
  std::vector<std::uint32_t> place_of;      ///< of each internal vertex
  std::vector<std::uint32_t> patch_of;      ///< of each place
  std::vector<std::uint32_t> vertex_begin;  ///< one more than there are patches

  [[nodiscard]] std::uint32_t patches() const { return static_cast<std::uint32_t>(vertex_begin.size() - 1); }
  [[nodiscard]] std::uint32_t vertices() const { return static_cast<std::uint32_t>(place_of.size()); }
  /// The internal vertex of each place.
  [[nodiscard]] std::vector<std::uint32_t> vertices_by_place() const;
};

/// Patches of about `options.patch_vertices` vertices. Throws UsageError unless that is from 16 to 1024.
template <class T, int Corners>
PatchPacking pack_vertices(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                           const PaperOptions& options);

/// What patches need of each other.
struct PatchHalos {
  std::vector<std::uint32_t> begin,
      halo;  ///< by patch: places of other patches that its vertices' elements have, sorted
  std::vector<std::uint32_t> dependent_begin, dependent;  ///< by patch: the patches that have some of it in their halo
};

template <class T, int Corners>
PatchHalos find_halos(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing, int threads);

}  // namespace isochron
