#include "isochron/papers/vertex_parts.h"

#include <numeric>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/partition.h"

namespace isochron {
namespace {

constexpr int min_patch_vertices = 16, max_patch_vertices = 1024;

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

}  // namespace isochron
