// The elements of a problem in the subdomains of paper 001 section 6, made by the host: each subdomain has copies of
// the vertices of its elements, and interface maps say which copies are of the same vertex.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isochron/options.h"
#include "isochron/partition.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron {

/// One of the copies of a vertex: the one that a subdomain calls `local`.
struct VertexCopy {
  static constexpr std::uint32_t none = 0xffffffffU;
  std::uint32_t subdomain = none;  ///< `none`: no element has this vertex
  std::uint32_t local = 0;
};

/// Incidences by copy: record * 4 + corner.
struct CopyIncidences {
  std::vector<std::uint32_t> offsets, list;
};

/// Subdomains do not overlap: each element, with the virtual ones behind the others, belongs to one of them. The copies
/// of all subdomains are numbered one after the other.
template <class T, int Corners>
struct Subdomains {
  static constexpr std::uint32_t alone = 0xffffffffU;

  std::vector<std::uint32_t> begin;                ///< by subdomain: its first copy; one more than there are
  std::vector<std::uint32_t> record_begin;         ///< the same for its records
  std::vector<std::uint32_t> vertex;               ///< copy → vertex of the problem
  std::vector<ElementRecord<T, Corners>> records;  ///< their corners are local
  CopyIncidences pulls;                            ///< the corners that a copy can gain at
  CopyIncidences wakes;                            ///< the records in which others can gain from it; empty: the same
  std::vector<VertexCopy> first_copy;              ///< by vertex of the problem
  std::vector<std::uint32_t> group_of;             ///< by copy: the interface group of its vertex, or `alone`
  std::vector<std::uint32_t> group_begin;          ///< by interface group; one more than there are
  std::vector<VertexCopy> group;                   ///< all copies of the vertices that have several

  [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
  [[nodiscard]] std::size_t groups() const { return group_begin.size() - 1; }
  [[nodiscard]] std::uint32_t copy_at(VertexCopy at) const { return begin[at.subdomain] + at.local; }
};

/// At most one subdomain a vertex is made, whatever is wanted; 0: subdomains of about a thousand vertices. An element
/// belongs to the part of the partition that most of its vertices are in. Throws UsageError for a negative number, and
/// as `partition_vertices`; InputError when there are too many elements to number.
template <class T, int Corners>
Subdomains<T, Corners> make_subdomains(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                                       int wanted, Partitioner partitioner);

}  // namespace isochron
