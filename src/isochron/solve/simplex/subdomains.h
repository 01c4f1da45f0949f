// A problem's vertices by subdomain, for paper 001's domain decomposition.
#pragma once

#include <cstdint>
#include <vector>

#include "isochron/dist/partition.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

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
