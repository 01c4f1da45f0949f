#include "isochron/papers/vertex_parts.h"

#include <algorithm>
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
  const std::vector<std::uint32_t> part_of = partition_vertices(mesh, patches, options.partitioner, usual_threads());
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

std::vector<std::uint32_t> PatchPacking::vertices_by_place() const {
  std::vector<std::uint32_t> vertex(place_of.size());
  for (std::uint32_t v = 0; v < vertices(); ++v) vertex[place_of[v]] = v;
  return vertex;
}

namespace {

/// The halos of some patches that follow one another.
template <class T, int Corners>
class HaloPart {
 public:
  void add(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing,
           const std::vector<std::uint32_t>& vertex_at, std::uint32_t patch) {
    places_.clear();
    const auto add_vertex = [&](std::uint32_t v) {
      const std::uint32_t place = packing.place_of[v];
      if (packing.patch_of[place] != patch) places_.push_back(place);
    };
    const auto& extra = problem.virtual_elements;
    for (std::uint32_t place = packing.vertex_begin[patch]; place < packing.vertex_begin[patch + 1]; ++place) {
      const std::uint32_t v = vertex_at[place];
      for (const std::uint32_t incidence : problem.adjacency.at(VertexId(v)))
        for (int k = 0; k < Corners; ++k) add_vertex(problem.elements[incidence >> 2].vertex(k));
      if (extra.empty()) continue;
      for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i)
        for (const std::uint32_t corner : extra.records[extra.target_list[i]].face) add_vertex(corner);
    }
    std::sort(places_.begin(), places_.end());
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    sizes.push_back(static_cast<std::uint32_t>(places_.size()));
    halo.insert(halo.end(), places_.begin(), places_.end());
  }

  std::vector<std::uint32_t> sizes, halo;

 private:
  std::vector<std::uint32_t> places_;
};

/// Lists for each patch who has some of it in his halo. The vertices of a patch lie side by side in a sorted halo.
void list_dependents(const PatchPacking& packing, PatchHalos& halos) {
  const std::uint32_t patches = packing.patches();
  const auto each_pair = [&](auto&& use) {
    for (std::uint32_t p = 0; p < patches; ++p)
      for (std::uint32_t i = halos.begin[p]; i < halos.begin[p + 1]; ++i) {
        const std::uint32_t owner = packing.patch_of[halos.halo[i]];
        if (i == halos.begin[p] || owner != packing.patch_of[halos.halo[i - 1]]) use(owner, p);
      }
  };
  halos.dependent_begin.assign(patches + 1, 0);
  each_pair([&](std::uint32_t owner, std::uint32_t) { ++halos.dependent_begin[owner + 1]; });
  std::partial_sum(halos.dependent_begin.begin(), halos.dependent_begin.end(), halos.dependent_begin.begin());
  std::vector<std::uint32_t> next(halos.dependent_begin.begin(), halos.dependent_begin.end() - 1);
  halos.dependent.resize(halos.dependent_begin.back());
  each_pair([&](std::uint32_t owner, std::uint32_t p) { halos.dependent[next[owner]++] = p; });
}

}  // namespace

template <class T, int Corners>
PatchHalos find_halos(const SimplexProblem<T, Corners>& problem, const PatchPacking& packing, int threads) {
  const std::vector<std::uint32_t> vertex_at = packing.vertices_by_place();
  const std::size_t patches = packing.patches();
  std::vector<HaloPart<T, Corners>> parts(static_cast<std::size_t>(threads));
  parallel_region(threads, [&](int thread, int team) {
    for (std::size_t p = patches * thread / team; p < patches * (thread + 1) / team; ++p)
      parts[thread].add(problem, packing, vertex_at, static_cast<std::uint32_t>(p));
  });
  PatchHalos halos;
  halos.begin.push_back(0);
  for (const auto& part : parts) {
    for (const std::uint32_t size : part.sizes) halos.begin.push_back(halos.begin.back() + size);
    halos.halo.insert(halos.halo.end(), part.halo.begin(), part.halo.end());
  }
  list_dependents(packing, halos);
  return halos;
}

template PatchHalos find_halos(const SimplexProblem<float, 3>&, const PatchPacking&, int);
template PatchHalos find_halos(const SimplexProblem<float, 4>&, const PatchPacking&, int);
template PatchHalos find_halos(const SimplexProblem<double, 3>&, const PatchPacking&, int);
template PatchHalos find_halos(const SimplexProblem<double, 4>&, const PatchPacking&, int);

}  // namespace isochron
