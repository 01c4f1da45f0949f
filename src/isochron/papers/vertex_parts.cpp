#include "isochron/papers/vertex_parts.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"

namespace isochron {
namespace {

constexpr int min_patch_vertices = 16, max_patch_vertices = 1024;
/// Of the order that did best with one block a subdomain in paper 001 Tables 6 and 7: 1,600 to 1,700 vertices.
constexpr std::size_t vertices_of_a_subdomain = 1024;

}  // namespace

template <class T, int Corners>
PatchPacking pack_vertices(const SimplexProblem<T, Corners>& problem, const SimplexMesh<Corners>& mesh,
                           const PaperOptions& options) {
  if (options.patch_vertices < min_patch_vertices || options.patch_vertices > max_patch_vertices)
    throw UsageError(fmt::format("patches of {} vertices do not work (one thread block updates a patch); give {} to {}",
                                 options.patch_vertices, min_patch_vertices, max_patch_vertices));
  const std::size_t vertices = problem.vertex_count, size = static_cast<std::size_t>(options.patch_vertices);
  const auto patches = static_cast<std::uint32_t>((vertices + size - 1) / size);
  const std::vector<std::uint32_t> part_of = partition_vertices(mesh, patches, options.partitioner, hardware_threads());
  PatchPacking packing;
  packing.vertex_begin.assign(patches + 1, 0);
  for (const std::uint32_t patch : part_of) ++packing.vertex_begin[patch + 1];
  std::partial_sum(packing.vertex_begin.begin(), packing.vertex_begin.end(), packing.vertex_begin.begin());
  std::vector<std::uint32_t> next(packing.vertex_begin.begin(), packing.vertex_begin.end() - 1);
  packing.place_of.resize(vertices);
  packing.patch_of.resize(vertices);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const std::uint32_t patch = part_of[problem.user(v).index()];
    packing.place_of[v] = next[patch]++;
    packing.patch_of[packing.place_of[v]] = patch;
  }
  return packing;
}

template PatchPacking pack_vertices(const SimplexProblem<float, 3>&, const SimplexMesh<3>&, const PaperOptions&);
template PatchPacking pack_vertices(const SimplexProblem<float, 4>&, const SimplexMesh<4>&, const PaperOptions&);
template PatchPacking pack_vertices(const SimplexProblem<double, 3>&, const SimplexMesh<3>&, const PaperOptions&);
template PatchPacking pack_vertices(const SimplexProblem<double, 4>&, const SimplexMesh<4>&, const PaperOptions&);

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
    result.part_of[v] = of_user[problem.user(v).index()];
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
