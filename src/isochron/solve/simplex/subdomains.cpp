#include "isochron/solve/simplex/subdomains.h"

#include <algorithm>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"

namespace isochron {
namespace {

/// Of the order that did best with one block a subdomain in paper 001 Tables 6 and 7: 1,600 to 1,700 vertices.
constexpr std::size_t vertices_of_a_subdomain = 1024;

}  // namespace

template <class T, int Corners>
Subdomains make_subdomains(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh, int wanted,
                           Partitioner partitioner) {
  if (wanted < 0)
    throw UsageError(fmt::format("{} subdomains are not possible (negative); give a positive number, or 0", wanted));
  const std::size_t vertices = problem.vertex_count;
  const std::size_t count = wanted > 0 ? static_cast<std::size_t>(wanted) : vertices / vertices_of_a_subdomain;
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::size_t>(count, 1, std::max<std::size_t>(vertices, 1)));
  const std::vector<std::uint32_t> of_user = partition_vertices(mesh, parts, partitioner, hardware_threads());
  Subdomains result;
  result.part_of.resize(vertices);
  result.begin.assign(parts + 1, 0);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    result.part_of[v] = of_user[problem.user(v)];
    ++result.begin[result.part_of[v] + 1];
  }
  for (std::uint32_t d = 0; d < parts; ++d) result.begin[d + 1] += result.begin[d];
  result.member.resize(vertices);
  std::vector<std::uint32_t> next(result.begin.begin(), result.begin.end() - 1);
  for (std::uint32_t v = 0; v < vertices; ++v) result.member[next[result.part_of[v]]++] = v;
  return result;
}

template Subdomains make_subdomains(const SimplexProblem<float, 3>&, const SimplexMesh<3>&, int, Partitioner);
template Subdomains make_subdomains(const SimplexProblem<float, 4>&, const SimplexMesh<4>&, int, Partitioner);
template Subdomains make_subdomains(const SimplexProblem<double, 3>&, const SimplexMesh<3>&, int, Partitioner);
template Subdomains make_subdomains(const SimplexProblem<double, 4>&, const SimplexMesh<4>&, int, Partitioner);

}  // namespace isochron
