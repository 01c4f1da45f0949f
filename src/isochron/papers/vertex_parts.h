// The vertices of a problem in patches (papers 000 and 003) or subdomains (paper 001), made by the host.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/options.h"
#include "isochron/partition.h"
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

/// Subdomain d has the vertices member[begin[d]] to member[begin[d + 1] − 1]; in the problem's own numbering.
struct Subdomains {
  std::vector<std::uint32_t> begin, member;
  std::vector<std::uint32_t> part_of;  ///< vertex → subdomain
  [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
};

/// At most one subdomain a vertex is made, whatever is wanted; 0: subdomains of about a thousand vertices. Throws
/// UsageError for a negative number, and as `partition_vertices`.
template <class T, int Corners>
Subdomains make_subdomains(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, int wanted,
                           Partitioner partitioner);

}  // namespace isochron
