#include "isochron/solve/simplex/cuda/surface_patches.h"

#include <algorithm>
#include <bit>

#include "isochron/core/parallel.h"
#include "isochron/mesh/ordering.h"

namespace isochron::cuda {
namespace {

/// Calls `visit(a, b, ab, ax, bx)` for every record of an internal vertex, with internal ends and squared lengths.
template <class T, class Visit>
void each_record(const SimplexProblem<T, 3>& problem, std::uint32_t v, Visit&& visit) {
  for (const StarRecord<T>& star : problem.star(v)) visit(star.a(), star.b(), star.ab, star.xa, star.xb);
  const VirtualElements<T, 3>& extra = problem.virtual_elements;
  if (extra.empty()) return;
  for (std::uint32_t i = extra.target_offsets[v]; i < extra.target_offsets[v + 1]; ++i) {
    const VirtualRecord<T, 3>& record = extra.records[extra.target_list[i]];
    visit(record.face[0], record.face[1], record.length[edge_index(0, 1)], record.length[edge_index(0, 2)],
          record.length[edge_index(1, 2)]);
  }
}

/// Calls `body(patch)` for every patch; a few patches are worth a thread already.
template <class Body>
void each_patch(int threads, std::uint64_t count, Body&& body) {
  parallel_region(threads, [&](int thread, int team) {
    for (std::uint64_t p = count * thread / team; p < count * (thread + 1) / team; ++p) body(p);
  });
}

/// A vertex of another patch that a patch's records name: who must be told when it changes.
struct Dependence {
  std::uint32_t place, patch;
};

/// Local numbers of one patch's ghosts: a hash table with open addresses, at most half full.
class GhostTable {
 public:
  explicit GhostTable(std::uint32_t room) : room_(room), cells_(std::bit_ceil(2 * room)) {}

  void clear() {
    for (const std::uint32_t cell : used_) cells_[cell].place = SurfacePatches<float>::none;
    used_.clear();
  }
  /// The number of a ghost, counted from 0; `room` when it is new and there is no more room.
  std::uint32_t number_of(std::uint32_t place) {
    const auto mask = static_cast<std::uint32_t>(cells_.size() - 1);
    std::uint32_t cell = (place * 2654435769U >> 7) & mask;
    for (; cells_[cell].place != SurfacePatches<float>::none; cell = (cell + 1) & mask)
      if (cells_[cell].place == place) return cells_[cell].number;
    const auto number = static_cast<std::uint32_t>(used_.size());
    if (number == room_) return room_;
    cells_[cell] = {place, number};
    used_.push_back(cell);
    return number;
  }

 private:
  struct Cell {
    std::uint32_t place = SurfacePatches<float>::none;
    std::uint32_t number = 0;
  };
  std::uint32_t room_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> used_;
};

/// Fills the patches [begin, end) of one thread.
template <class T>
class PatchFiller {
 public:
  PatchFiller(const SimplexProblem<T, 3>& problem, SurfacePatches<T>& patches)
      : problem_(problem), patches_(patches), shape_(patches.shape), ghosts_(shape_.ghosts()) {}

  void fill(std::uint32_t patch) {
    patch_ = patch;
    ghosts_.clear();
    const std::size_t threads = shape_.threads(), first = std::size_t{patch} * shape_.held * threads;
    std::fill_n(patches_.ghosts.begin() + patch * threads, threads, SurfacePatches<T>::none);
    std::fill_n(patches_.ends.begin() + first, shape_.held * threads, shape_.nowhere() | shape_.nowhere() << 16);
    std::fill_n(patches_.lengths.begin() + first * patches_.values, shape_.held * threads * patches_.values, T(0));
    for (std::uint32_t own = 0; own < shape_.vertices; ++own) {
      const std::uint32_t place = patch * shape_.vertices + own, v = patches_.vertex_at[place];
      patches_.reach[place] = 0;
      patches_.edge[place] = v == patches_.none ? T(0) : problem_.edge[v];
      if (v != patches_.none) fill_vertex(own, v);
    }
  }

  std::vector<std::uint32_t> extra_targets;  ///< place of each extra's target
  std::vector<ExtraRecord<T>> extras;
  std::vector<Dependence> dependences;

 private:
  void fill_vertex(std::uint32_t own, std::uint32_t v) {
    std::uint32_t taken = 0;
    each_record(problem_, v, [&](std::uint32_t a, std::uint32_t b, T ab, T ax, T bx) {
      const std::uint32_t place_a = patches_.place_of[a], place_b = patches_.place_of[b];
      const auto edge = PreparedEdge<T>::from_lengths(ab, ax, bx);
      if (taken < shape_.slots()) {
        const std::uint32_t local_a = local(place_a), local_b = local(place_b);
        if (local_a < shape_.nowhere() && local_b < shape_.nowhere()) {
          hold(own, taken++, local_a | local_b << 16, edge);
          return;
        }
      }
      extra_targets.push_back(patch_ * shape_.vertices + own);
      extras.push_back({place_a, place_b, edge});
      for (const std::uint32_t place : {place_a, place_b})
        if (patches_.patch_of(place) != patch_) dependences.push_back({place, patch_});
    });
  }

  /// Local number of an end; `nowhere` when it is a ghost that does not fit.
  std::uint32_t local(std::uint32_t place) {
    if (patches_.patch_of(place) == patch_) return place - patch_ * shape_.vertices;
    const std::uint32_t number = ghosts_.number_of(place);
    if (number == shape_.ghosts()) return shape_.nowhere();
    std::uint32_t& ghost = patches_.ghosts[std::size_t{patch_} * shape_.ghosts() + number];
    if (ghost != place) dependences.push_back({place, patch_});
    ghost = place;
    return shape_.vertices + number;
  }

  void hold(std::uint32_t own, std::uint32_t slot, std::uint32_t ends, const PreparedEdge<T>& edge) {
    const std::uint32_t thread = own * shape_.lanes + slot % shape_.lanes;
    const std::size_t row = std::size_t{patch_} * shape_.held + slot / shape_.lanes, threads = shape_.threads();
    patches_.ends[row * threads + thread] = ends;
    T* value = patches_.lengths.data() + row * patches_.values * threads + thread;
    for (const T x : {edge.base, edge.foot, edge.height, edge.from_a, edge.from_b}) {
      *value = x;
      value += threads;
    }
  }

  const SimplexProblem<T, 3>& problem_;
  SurfacePatches<T>& patches_;
  const PatchShape shape_;
  GhostTable ghosts_;
  std::uint32_t patch_ = 0;
};

/// Equal pieces of the curve; the rest of the last places stays empty.
template <class T>
void place_vertices(const SimplexProblem<T, 3>& problem, const SimplexMesh<3>& mesh, SurfacePatches<T>& patches,
                    int threads) {
  const std::uint64_t vertices = problem.vertex_count, count = patches.count;
  patches.vertex_at.assign(patches.places(), patches.none);
  patches.place_of.resize(vertices);
  const Permutation order = hilbert_order(mesh.points, CurveDetail::points, threads);
  each_patch(threads, count, [&](std::uint64_t patch) {
    const std::uint64_t begin = vertices * patch / count, end = vertices * (patch + 1) / count;
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto place = static_cast<std::uint32_t>(patch * patches.shape.vertices + (i - begin));
      const std::uint32_t v = problem.internal(VertexId(order.new_to_old[i]));
      patches.vertex_at[place] = v;
      patches.place_of[v] = place;
    }
  });
}

/// Each thread has the extras of consecutive patches, so that one after the other they are in order.
template <class T>
void join_extras(const std::vector<PatchFiller<T>>& parts, SurfacePatches<T>& patches) {
  for (const PatchFiller<T>& part : parts)
    patches.extras.insert(patches.extras.end(), part.extras.begin(), part.extras.end());
  if (patches.extras.empty()) return;
  patches.extra_offsets.assign(patches.places() + 1, 0);
  for (const PatchFiller<T>& part : parts)
    for (const std::uint32_t place : part.extra_targets) ++patches.extra_offsets[place + 1];
  for (std::size_t i = 0; i < patches.places(); ++i) patches.extra_offsets[i + 1] += patches.extra_offsets[i];
}

/// Turns "patch names place" round: who is told of a change, by place and by the place's patch.
template <class T>
void join_dependences(const std::vector<PatchFiller<T>>& parts, SurfacePatches<T>& patches, int threads) {
  constexpr std::uint32_t near_count = SurfacePatches<T>::near_count;
  std::vector<std::uint32_t> offsets(patches.count + 1, 0);
  for (const PatchFiller<T>& part : parts)
    for (const Dependence& d : part.dependences) ++offsets[patches.patch_of(d.place) + 1];
  for (std::uint32_t p = 0; p < patches.count; ++p) offsets[p + 1] += offsets[p];
  std::vector<Dependence> sorted(offsets.back());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for (const PatchFiller<T>& part : parts)
    for (const Dependence& d : part.dependences) sorted[next[patches.patch_of(d.place)]++] = d;

  patches.near.assign(std::size_t{patches.count} * (near_count + 1), patches.none);
  std::vector<std::vector<std::uint32_t>> far(patches.count);
  each_patch(threads, patches.count, [&](std::uint64_t p) {
    std::vector<std::uint32_t> neighbours;
    for (std::uint32_t i = offsets[p]; i < offsets[p + 1]; ++i) neighbours.push_back(sorted[i].patch);
    std::sort(neighbours.begin(), neighbours.end());
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    for (std::uint32_t i = offsets[p]; i < offsets[p + 1]; ++i) {
      const auto at = std::lower_bound(neighbours.begin(), neighbours.end(), sorted[i].patch) - neighbours.begin();
      patches.reach[sorted[i].place] |= 1U << std::min<std::ptrdiff_t>(at, near_count);
    }
    const std::size_t near = std::min<std::size_t>(neighbours.size(), near_count);
    std::copy_n(neighbours.begin(), near, patches.near.begin() + p * (near_count + 1));
    far[p].assign(neighbours.begin() + near, neighbours.end());
  });
  patches.far_offsets.assign(patches.count + 1, 0);
  for (std::uint32_t p = 0; p < patches.count; ++p) {
    patches.far.insert(patches.far.end(), far[p].begin(), far[p].end());
    patches.far_offsets[p + 1] = static_cast<std::uint32_t>(patches.far.size());
  }
}

}  // namespace

template <class T>
std::size_t vertices_beyond(const SimplexProblem<T, 3>& problem, std::uint32_t slots) {
  const auto& extra = problem.virtual_elements;
  std::size_t beyond = 0;
  for (std::size_t v = 0; v < problem.vertex_count; ++v) {
    std::size_t records = problem.adjacency.offsets[v + 1] - problem.adjacency.offsets[v];
    if (!extra.empty()) records += extra.target_offsets[v + 1] - extra.target_offsets[v];
    beyond += records > slots ? 1 : 0;
  }
  return beyond;
}

template <class T>
SurfacePatches<T> cut_into_patches(const SimplexProblem<T, 3>& problem, const SimplexMesh<3>& mesh,
                                   const PatchShape& shape, int threads) {
  SurfacePatches<T> patches;
  patches.shape = shape;
  patches.count = static_cast<std::uint32_t>((problem.vertex_count + shape.vertices - 1) / shape.vertices);
  place_vertices(problem, mesh, patches, threads);
  patches.edge.resize(patches.places());
  patches.reach.resize(patches.places());
  const std::size_t rows = std::size_t{patches.count} * shape.held;
  patches.lengths.resize(rows * patches.values * shape.threads());
  patches.ends.resize(rows * shape.threads());
  patches.ghosts.resize(std::size_t{patches.count} * shape.ghosts());
  const int team = granted_threads(threads);
  std::vector<PatchFiller<T>> parts(static_cast<std::size_t>(team), PatchFiller<T>(problem, patches));
  parallel_region(team, [&](int thread, int granted) {
    const std::uint64_t count = patches.count;
    for (std::uint64_t p = count * thread / granted; p < count * (thread + 1) / granted; ++p)
      parts[static_cast<std::size_t>(thread)].fill(static_cast<std::uint32_t>(p));
  });
  join_extras(parts, patches);
  join_dependences(parts, patches, threads);
  return patches;
}

template std::size_t vertices_beyond(const SimplexProblem<float, 3>&, std::uint32_t);
template std::size_t vertices_beyond(const SimplexProblem<double, 3>&, std::uint32_t);
template SurfacePatches<float> cut_into_patches(const SimplexProblem<float, 3>&, const SimplexMesh<3>&,
                                                const PatchShape&, int);
template SurfacePatches<double> cut_into_patches(const SimplexProblem<double, 3>&, const SimplexMesh<3>&,
                                                 const PatchShape&, int);

}  // namespace isochron::cuda
