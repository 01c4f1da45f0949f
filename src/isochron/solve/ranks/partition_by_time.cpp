#include "isochron/solve/ranks/partition_by_time.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>

#include "isochron/core/parallel.h"
#include "isochron/solve/ranks/grid_partition.h"
#include "isochron/solver.h"

namespace isochron::ranks {
namespace {

using Corner4 = std::array<double, 4>;

/// How fast a front with these times at the corners moves through a tetrahedron, as changes of barycentric weights
/// (times a positive number): G⁻¹ δ for the first three, G the edges' products in the metric, δ their differences of
/// time. A front comes to corner v through the face opposite to it when all others' weights fall.
Corner4 front_rates(const TetMesh& mesh, const SymTensor3d& metric, const TetMesh::Element& element,
                    const Corner4& time) {
  std::array<Vec3d, 3> edge;
  std::array<double, 3> delta;
  for (std::size_t k = 0; k < 3; ++k) {
    edge[k] = mesh.point(element[k]) - mesh.point(element[3]);
    delta[k] = time[k] - time[3];
  }
  const auto g = [&](std::size_t i, std::size_t j) { return product(metric, edge[i], edge[j]); };
  const double g00 = g(0, 0), g01 = g(0, 1), g02 = g(0, 2), g11 = g(1, 1), g12 = g(1, 2), g22 = g(2, 2);
  const double c00 = g11 * g22 - g12 * g12, c01 = g02 * g12 - g01 * g22, c02 = g01 * g12 - g02 * g11;
  const double c11 = g00 * g22 - g02 * g02, c12 = g01 * g02 - g00 * g12, c22 = g00 * g11 - g01 * g01;
  Corner4 rate{c00 * delta[0] + c01 * delta[1] + c02 * delta[2], c01 * delta[0] + c11 * delta[1] + c12 * delta[2],
               c02 * delta[0] + c12 * delta[1] + c22 * delta[2], 0};
  rate[3] = -rate[0] - rate[1] - rate[2];
  return rate;
}

/// By which part the front misses the face opposite to corner v: 0 when it comes through it.
double miss(const Corner4& rate, std::size_t v) {
  if (!(rate[v] > 0)) return std::numeric_limits<double>::infinity();
  double all = 0, most = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    if (j == v) continue;
    all += std::abs(rate[j]);
    most = std::max(most, rate[j]);
  }
  return most / all;
}

/// The vertices that a vertex will have its time from, and by which shares.
struct Upwind {
  std::array<std::uint32_t, 3> from{};
  std::array<float, 3> share{};
  float later = 0;  ///< share of those that are later than it
};

class FrontDirections {
 public:
  FrontDirections(const TetMesh& mesh, const Metric& metric, std::span<const double> times)
      : mesh_(mesh), metric_(metric), times_(times) {}

  std::vector<Upwind> upwind(int threads) const {
    std::vector<std::uint64_t> best(mesh_.vertex_count(), none);
    parallel_for(threads, mesh_.element_count(), [&](std::size_t e) {
      Corner4 time;
      if (!times_of(e, time)) return;
      const Corner4 rate = front_rates(mesh_, metric_.tensor(ElementId(e)), mesh_.elements[e], time);
      for (std::size_t v = 0; v < 4; ++v) {
        const double missed = miss(rate, v);
        if (!(missed < 1)) continue;
        // Positive floats are in the order of their bits; the element decides between equals.
        const std::uint64_t mine = std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(missed))} << 32 | e;
        const std::atomic_ref<std::uint64_t> known(best[mesh_.elements[e][v].index()]);
        for (std::uint64_t old = known.load(std::memory_order_relaxed);
             mine < old && !known.compare_exchange_weak(old, mine, std::memory_order_relaxed);) {
        }
      }
    });
    std::vector<Upwind> result(best.size());
    parallel_for(threads, best.size(), [&](std::size_t v) {
      if (best[v] != none) result[v] = through(static_cast<std::uint32_t>(best[v]), v);
    });
    return result;
  }

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  bool times_of(std::size_t e, Corner4& time) const {
    for (std::size_t k = 0; k < 4; ++k) time[k] = times_[mesh_.elements[e][k].index()];
    return std::isfinite(time[0] + time[1] + time[2] + time[3]);
  }

  [[nodiscard]] Upwind through(std::size_t e, std::size_t vertex) const {
    Corner4 time{};
    times_of(e, time);
    const Corner4 rate = front_rates(mesh_, metric_.tensor(ElementId(e)), mesh_.elements[e], time);
    Upwind upwind;
    double all = 0;
    for (std::size_t j = 0; j < 4; ++j)
      if (mesh_.elements[e][j].index() != vertex) all += std::max(0.0, -rate[j]);
    std::size_t place = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t from = mesh_.elements[e][j].index();
      if (from == vertex) continue;
      upwind.from[place] = static_cast<std::uint32_t>(from);
      upwind.share[place] = static_cast<float>(std::max(0.0, -rate[j]) / all);
      if (times_[from] > times_[vertex]) upwind.later += upwind.share[place];
      ++place;
    }
    return upwind;
  }

  const TetMesh& mesh_;
  const Metric& metric_;
  std::span<const double> times_;
};

/// Edges through a voxel of the coarse image, and through a slab (bench/NOTES.md).
constexpr double voxel_edges = 1.5;
constexpr double slab_edges = 2;
/// Stretches of time, with as many vertices each, between which blocks change ranks: those with much work on few
/// vertices go to others, so that all ranks need about the same memory.
constexpr std::size_t stretches = 2;

/// A mesh as an image: which voxels have vertices, and the mean metric there. Its own times are in units of `unit`.
class CoarseImage {
 public:
  template <int Corners>
  CoarseImage(const SimplexMesh<Corners>& mesh, const Metric& metric, double voxel, double unit)
      : size_(voxel), unit_(unit) {
    Vec3d high = low_ = mesh.points.front();
    for (const Vec3d& p : mesh.points)
      for (int k = 0; k < 3; ++k) low_[k] = std::min(low_[k], p[k]), high[k] = std::max(high[k], p[k]);
    // Vertices that are far from the others do not make an image of nearly nothing.
    const double max_voxels = 1e6 + 16 * static_cast<double>(mesh.vertex_count());
    const auto along = [&](int k) { return (high[k] - low_[k]) / size_ + 2; };
    while (along(0) * along(1) * along(2) > max_voxels) size_ *= 1.5;
    for (int k = 0; k < 3; ++k) {
      grid_.shape[k] = static_cast<std::uint32_t>(along(k));
      grid_.axes[k] = {};
      grid_.axes[k][k] = size_;
    }
    grid_.origin = low_;
    mask_.assign(grid_.voxel_count(), 0);
    for (const Vec3d& p : mesh.points) mask_[nearest(p).index()] = 1;
    average(mesh, metric);
  }

  /// Arrival times at the voxels from seeds at these positions.
  void solve_from(std::span<const Seed> seeds, std::span<const Vec3d> points, int threads) {
    Sources sources;
    for (const Seed& seed : seeds)
      sources.vertices.push_back({nearest(points[seed.vertex.index()]), seed.time / unit_});
    SolveOptions options;
    options.order = 2;
    options.backend = threads > 1 ? Backend::threads : Backend::serial;
    options.threads = threads;
    options.source_init = SourceInit::plain;
    options.sources = Keep::no;
    times_ = solve(grid_, metric_, sources, options, mask_).times;
  }

  /// Between the voxels around it, without those that nothing reached; infinite when that is all of them.
  [[nodiscard]] double time_at(Vec3d p) const {
    const Vec3d x = (p - low_) / size_;
    double sum = 0, weight = 0;
    for (unsigned corner = 0; corner < 8; ++corner) {
      std::array<std::uint32_t, 3> index{};
      double share = 1;
      for (unsigned k = 0; k < 3; ++k) {
        const auto below = static_cast<std::uint32_t>(x[static_cast<int>(k)]);
        const double beyond = x[static_cast<int>(k)] - below;
        const unsigned up = corner >> k & 1U;
        index[k] = std::min(below + up, grid_.shape[k] - 1);
        share *= up != 0 ? beyond : 1 - beyond;
      }
      const double time = times_[grid_.voxel(index[0], index[1], index[2]).index()];
      if (std::isfinite(time)) sum += share * time, weight += share;
    }
    return weight > 0 ? unit_ * sum / weight : std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] VertexId nearest(Vec3d p) const {
    const Vec3d x = (p - low_) / size_;
    const auto index = [](double position) { return static_cast<std::uint32_t>(std::lround(position)); };
    return grid_.voxel(index(x.x), index(x.y), index(x.z));
  }

  template <int Corners>
  void average(const SimplexMesh<Corners>& mesh, const Metric& metric) {
    std::vector<SymTensor3d> sum(mask_.size());
    std::vector<double> count(mask_.size(), 0);
    SymTensor3d all{};
    for (std::size_t e = 0; e < mesh.element_count(); e += 2) {
      const SymTensor3d m = metric.tensor(ElementId(e));
      const std::size_t voxel = nearest(mesh.point(mesh.elements[e][0])).index();
      sum[voxel] = sum[voxel] + m;
      count[voxel] += 1;
      all = all + m;
    }
    TensorMetric tensors;
    const std::size_t looked_at = (mesh.element_count() + 1) / 2;
    const auto elements = static_cast<double>(looked_at);
    for (std::size_t v = 0; v < sum.size(); ++v) {
      const SymTensor3d m = count[v] > 0 ? (1 / count[v]) * sum[v] : (1 / elements) * all;
      tensors.tensor.push_back(rough_tensor(m, unit_));
    }
    metric_ = Metric(std::move(tensors));
  }

  double size_, unit_;
  Vec3d low_;
  ImageGrid grid_;
  std::vector<std::uint8_t> mask_;
  Metric metric_;
  std::vector<double> times_;
};

/// Length and travel time of an edge, means of a sample.
struct MeanEdge {
  double length = 0, time = 0;
};
template <int Corners>
MeanEdge mean_edge(const SimplexMesh<Corners>& mesh, const Metric& metric) {
  MeanEdge mean;
  std::size_t samples = 0;
  for (std::size_t e = 0; e < mesh.element_count(); e += 1 + mesh.element_count() / 4096, ++samples) {
    const auto& element = mesh.elements[e];
    const Vec3d edge = mesh.point(element[1]) - mesh.point(element[0]);
    mean.length += norm(edge);
    mean.time += std::sqrt(squared_length(metric.tensor(ElementId(e)), edge));
  }
  return {mean.length / static_cast<double>(samples), mean.time / static_cast<double>(samples)};
}

/// The slab of each vertex: as many edges thick as is tuned, by time from the first seed on.
std::vector<std::uint32_t> slabs_of(std::span<const double> times, std::span<const Seed> seeds, double thickness,
                                    int threads) {
  double first = std::numeric_limits<double>::infinity();
  for (const Seed& seed : seeds) first = std::min(first, seed.time);
  constexpr double max_slabs = 1e6;  // what nothing reaches is the last one
  std::vector<std::uint32_t> slab(times.size());
  parallel_for(threads, times.size(), [&](std::size_t v) {
    const double place = (times[v] - first) / thickness;
    slab[v] = static_cast<std::uint32_t>(place < max_slabs ? std::max(place, 0.0) : max_slabs);
  });
  return slab;
}

/// Cuts sets of vertices into blocks of equal work, by planes across the longest side.
class Bisection {
 public:
  /// The directions of the cuts are chosen for these vertices.
  Bisection(std::span<const Vec3d> points, std::span<const float> work, int blocks,
            std::span<const std::uint32_t> vertices)
      : points_(points), work_(work), blocks_(blocks), axis_(4 * static_cast<std::size_t>(blocks), 0) {
    std::vector<Entry> entries = entries_of(vertices);
    visit(
        entries, 0, blocks_, 0, [&](std::span<const Entry> set, std::size_t node) { axis_[node] = longest(set); },
        [](std::uint32_t, std::uint32_t) {});
  }

  /// Calls `take(vertex, block)` for each.
  template <class Take>
  void cut(std::span<const std::uint32_t> vertices, Take&& take) const {
    std::vector<Entry> entries = entries_of(vertices);
    visit(
        entries, 0, blocks_, 0, [](std::span<const Entry>, std::size_t) {}, take);
  }

 private:
  struct Entry {
    double key;
    std::uint32_t vertex;
  };

  static std::vector<Entry> entries_of(std::span<const std::uint32_t> vertices) {
    std::vector<Entry> entries;
    entries.reserve(vertices.size());
    for (const std::uint32_t v : vertices) entries.push_back({0, v});
    return entries;
  }

  /// Looks at a set, cuts it in two, and goes on with each; `node` numbers the sets as a binary tree.
  template <class Look, class Take>
  void visit(std::span<Entry> set, int first, int blocks, std::size_t node, Look&& look, Take&& take) const {
    if (set.empty()) return;
    if (blocks == 1) {
      for (const Entry& entry : set) take(entry.vertex, static_cast<std::uint32_t>(first));
      return;
    }
    look(set, node);
    double all = 0;
    for (Entry& entry : set) {
      entry.key = points_[entry.vertex][axis_[node]];
      all += static_cast<double>(work_[entry.vertex]);
    }
    std::sort(set.begin(), set.end(),
              [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.vertex < b.vertex; });
    const int lower = blocks / 2;
    const double wanted = all * lower / blocks;
    std::size_t end = 0;
    for (double seen = 0; end < set.size(); ++end) {
      const auto own = static_cast<double>(work_[set[end].vertex]);
      if (seen + own / 2 >= wanted) break;
      seen += own;
    }
    visit(set.first(end), first, lower, 2 * node + 1, look, take);
    visit(set.subspan(end), first + lower, blocks - lower, 2 * node + 2, look, take);
  }

  [[nodiscard]] int longest(std::span<const Entry> set) const {
    Vec3d low = points_[set.front().vertex], high = low;
    for (const Entry& entry : set)
      for (int k = 0; k < 3; ++k) {
        low[k] = std::min(low[k], points_[entry.vertex][k]);
        high[k] = std::max(high[k], points_[entry.vertex][k]);
      }
    const Vec3d side = high - low;
    return side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  }

  std::span<const Vec3d> points_;
  std::span<const float> work_;
  int blocks_;
  std::vector<int> axis_;  ///< by node
};

/// Vertices slab after slab.
struct SlabList {
  std::vector<std::uint32_t> vertices;
  std::vector<std::size_t> begin;  ///< of each slab in `vertices`; one more at the end

  explicit SlabList(std::span<const std::uint32_t> slab) : vertices(slab.size()) {
    const std::size_t slabs = slab.empty() ? 0 : *std::max_element(slab.begin(), slab.end()) + std::size_t{1};
    begin.assign(slabs + 1, 0);
    for (const std::uint32_t s : slab) ++begin[s + std::size_t{1}];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin);
    for (std::size_t v = 0; v < slab.size(); ++v) vertices[next[slab[v]]++] = static_cast<std::uint32_t>(v);
    begin.erase(std::unique(begin.begin(), begin.end()), begin.end());  // no empty ones
  }
  [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> at(std::size_t slab) const { return between(slab, slab + 1); }
  [[nodiscard]] std::span<const std::uint32_t> between(std::size_t first, std::size_t end) const {
    return std::span(vertices).subspan(begin[first], begin[end] - begin[first]);
  }
};

/// Which rank takes which block: the largest block goes to the rank that has least so far.
std::vector<std::uint32_t> even_out(std::span<const std::size_t> block_size, std::vector<std::size_t>& rank_size) {
  const auto order_by = [](std::span<const std::size_t> size, auto before) {
    std::vector<std::uint32_t> order(size.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return before(size[a], size[b]); });
    return order;
  };
  const std::vector<std::uint32_t> blocks = order_by(block_size, std::greater<>());
  const std::vector<std::uint32_t> ranks = order_by(rank_size, std::less<>());
  std::vector<std::uint32_t> rank_of(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    rank_of[blocks[i]] = ranks[i];
    rank_size[ranks[i]] += block_size[blocks[i]];
  }
  return rank_of;
}

/// Parts of a mesh whose edges have no length: any will do.
std::vector<std::uint32_t> in_order(std::size_t vertices, std::size_t ranks) {
  std::vector<std::uint32_t> rank_of(vertices);
  for (std::size_t v = 0; v < vertices; ++v) rank_of[v] = static_cast<std::uint32_t>(v * ranks / vertices);
  return rank_of;
}

}  // namespace

/// A vertex that has its time from a later one is processed before that is known, and again with every correction. So
/// is one that has its time from such a vertex, until corrections are too small to count. (Numbers: bench/NOTES.md.)
std::vector<float> expected_work(const TetMesh& mesh, const Metric& metric, std::span<const double> times,
                                 int threads) {
  constexpr float later_that_counts = 0.01F, passed_on = 0.75F;
  constexpr int hops = 12;
  const std::vector<Upwind> upwind = FrontDirections(mesh, metric, times).upwind(threads);
  std::vector<float> again(upwind.size(), 0), next(upwind.size());
  for (int hop = 0; hop < hops; ++hop) {
    parallel_for(threads, upwind.size(), [&](std::size_t v) {
      const Upwind& own = upwind[v];
      next[v] = std::min(1.0F, own.later / later_that_counts);
      for (std::size_t k = 0; k < 3; ++k) next[v] += passed_on * own.share[k] * again[own.from[k]];
    });
    again.swap(next);
  }
  for (float& work : again) work += 1;
  return again;
}

std::vector<float> expected_work(const TriangleMesh& mesh, const Metric&, std::span<const double>, int) {
  return std::vector<float>(mesh.vertex_count(), 1);
}

template <int Corners>
std::vector<std::uint32_t> partition_by_time(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                             std::span<const Seed> seeds, int ranks, int threads) {
  const MeanEdge edge = mean_edge(mesh, metric);
  std::vector<double> times(mesh.vertex_count());
  if (!(edge.length > 0 && edge.time > 0)) return in_order(times.size(), static_cast<std::size_t>(ranks));
  {
    CoarseImage image(mesh, metric, voxel_edges * edge.length, edge.time / edge.length);
    image.solve_from(seeds, mesh.points, threads);
    parallel_for(threads, times.size(), [&](std::size_t v) { times[v] = image.time_at(mesh.points[v]); });
  }
  const std::vector<float> work = expected_work(mesh, metric, times, threads);
  const SlabList slabs(slabs_of(times, seeds, slab_edges * edge.time, threads));
  const std::size_t share = slabs.vertices.size() / stretches + 1;
  std::vector<std::uint32_t> rank_of(times.size());
  std::vector<std::size_t> rank_size(static_cast<std::size_t>(ranks), 0);
  for (std::size_t first = 0, end = 0; first < slabs.count(); first = end) {
    while (end < slabs.count() && slabs.begin[end] / share == slabs.begin[first] / share) ++end;
    const Bisection bisection(mesh.points, work, ranks, slabs.at((first + end) / 2));
    std::atomic<std::size_t> next{first};
    parallel_region(threads, [&](int, int) {
      for (std::size_t slab = next++; slab < end; slab = next++)
        bisection.cut(slabs.at(slab), [&](std::uint32_t v, std::uint32_t block) { rank_of[v] = block; });
    });
    std::vector<std::size_t> block_size(rank_size.size(), 0);
    for (const std::uint32_t v : slabs.between(first, end)) ++block_size[rank_of[v]];
    const std::vector<std::uint32_t> rank_of_block = even_out(block_size, rank_size);
    for (const std::uint32_t v : slabs.between(first, end)) rank_of[v] = rank_of_block[rank_of[v]];
  }
  return rank_of;
}

template std::vector<std::uint32_t> partition_by_time(const SimplexMesh<3>&, const Metric&, std::span<const Seed>, int,
                                                      int);
template std::vector<std::uint32_t> partition_by_time(const SimplexMesh<4>&, const Metric&, std::span<const Seed>, int,
                                                      int);

}  // namespace isochron::ranks
