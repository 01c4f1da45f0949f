#include "isochron/solve/mpi/deal_by_time.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "isochron/core/parallel.h"
#include "isochron/mesh/ordering.h"
#include "isochron/solve/grid_solver.h"

namespace isochron::mpi {
namespace {

/// Edges through a voxel of the coarse image, and through a slab (bench/NOTES.md).
constexpr double voxel_edges = 1.5;
constexpr double slab_edges = 3;

/// A mesh as an image: which voxels have vertices, and the mean metric there.
class CoarseImage {
 public:
  template <int Corners>
  CoarseImage(const SimplexMesh<Corners>& mesh, const Metric& metric, double voxel) : size_(voxel) {
    Vec3d high = low_ = mesh.points.front();
    for (const Vec3d& p : mesh.points)
      for (int k = 0; k < 3; ++k) low_[k] = std::min(low_[k], p[k]), high[k] = std::max(high[k], p[k]);
    for (int k = 0; k < 3; ++k) {
      grid_.shape[k] = static_cast<std::uint32_t>((high[k] - low_[k]) / voxel) + 2;
      grid_.axes[k] = {};
      grid_.axes[k][k] = voxel;
    }
    grid_.origin = low_;
    mask_.assign(grid_.voxel_count(), 0);
    for (const Vec3d& p : mesh.points) mask_[nearest(p).index()] = 1;
    average(mesh, metric);
  }

  /// Arrival times at the voxels from seeds at these positions.
  void solve_from(std::span<const GlobalSeed> seeds, std::span<const Vec3d> points, int threads) {
    Sources sources;
    for (const GlobalSeed& seed : seeds) sources.vertices.push_back({nearest(points[seed.vertex]), seed.time});
    GridOptions options;
    options.order = 2;
    options.common.backend = threads > 1 ? Backend::threads : Backend::serial;
    options.common.threads = threads;
    options.common.source_init = SourceInit::plain;
    options.common.sources = Keep::no;
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
    return weight > 0 ? sum / weight : std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] VertexId nearest(Vec3d p) const {
    const Vec3d x = (p - low_) / size_;
    return grid_.voxel(static_cast<std::uint32_t>(x.x + 0.5), static_cast<std::uint32_t>(x.y + 0.5),
                       static_cast<std::uint32_t>(x.z + 0.5));
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
    const double elements = static_cast<double>((mesh.element_count() + 1) / 2);
    for (std::size_t v = 0; v < sum.size(); ++v) {
      const SymTensor3d m = count[v] > 0 ? (1 / count[v]) * sum[v] : (1 / elements) * all;
      tensors.tensor.push_back({static_cast<float>(m.xx), static_cast<float>(m.xy), static_cast<float>(m.xz),
                                static_cast<float>(m.yy), static_cast<float>(m.yz), static_cast<float>(m.zz)});
    }
    metric_ = Metric(std::move(tensors));
  }

  double size_;
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

/// How fast a front with these times at the corners moves through a tetrahedron, as changes of barycentric weights
/// (times a positive number): G⁻¹ δ for the first three, G the edges' products in the metric, δ their differences of
/// time.
std::array<double, 4> front_rates(const TetMesh& mesh, const SymTensor3d& metric, const TetMesh::Element& element,
                                  const std::array<double, 4>& time) {
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
  std::array<double, 4> rate{c00 * delta[0] + c01 * delta[1] + c02 * delta[2],
                             c01 * delta[0] + c11 * delta[1] + c12 * delta[2],
                             c02 * delta[0] + c12 * delta[1] + c22 * delta[2], 0};
  rate[3] = -rate[0] - rate[1] - rate[2];
  return rate;
}

/// By which share corner v has its time from corners that are later; 0 when the front does not come to it through this
/// element.
double share_of_later(const std::array<double, 4>& rate, const std::array<double, 4>& time, std::size_t v) {
  double all = 0, later = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    if (j == v) continue;
    if (rate[j] > 0) return 0;
    all -= rate[j];
    if (time[j] > time[v]) later -= rate[j];
  }
  return all > 0 ? later / all : 0;
}

/// How often each vertex will be processed. A vertex that has its time from a later one is processed before that is
/// known, and again with every correction: most of what a solve repeats is of such vertices, and they lie together.
std::vector<float> expected_work(const TetMesh& mesh, const Metric& metric, std::span<const double> times,
                                 int threads) {
  constexpr double per_share = 12, most = 2.5;  // measured, bench/NOTES.md
  std::vector<float> work(mesh.vertex_count(), 1);
  parallel_for(threads, mesh.element_count(), [&](std::size_t e) {
    const auto& element = mesh.elements[e];
    std::array<double, 4> time;
    for (std::size_t k = 0; k < 4; ++k) time[k] = times[element[k].index()];
    if (!std::isfinite(time[0] + time[1] + time[2] + time[3])) return;
    const std::array<double, 4> rate = front_rates(mesh, metric.tensor(ElementId(e)), element, time);
    for (std::size_t v = 0; v < 4; ++v) {
      const double share = share_of_later(rate, time, v);
      if (share == 0) continue;
      const auto expected = static_cast<float>(1 + std::min(most, per_share * share));
      const std::atomic_ref<float> known(work[element[v].index()]);
      for (float old = known.load(std::memory_order_relaxed);
           old < expected && !known.compare_exchange_weak(old, expected, std::memory_order_relaxed);) {
      }
    }
  });
  return work;
}
/// Obtuse corners of triangles are split, so that hardly a vertex has its time from a later one.
std::vector<float> expected_work(const TriangleMesh& mesh, const Metric&, std::span<const double>, int) {
  return std::vector<float>(mesh.vertex_count(), 1);
}

/// The slab of each vertex: as many edges thick as is tuned, by time from the first seed on.
std::vector<std::uint32_t> slabs_of(std::span<const double> times, std::span<const GlobalSeed> seeds, double thickness,
                                    int threads) {
  double first = std::numeric_limits<double>::infinity();
  for (const GlobalSeed& seed : seeds) first = std::min(first, seed.time);
  constexpr double most_slabs = 1e6;  // what nothing reaches is the last one
  std::vector<std::uint32_t> slab(times.size());
  parallel_for(threads, times.size(), [&](std::size_t v) {
    slab[v] = static_cast<std::uint32_t>(std::clamp((times[v] - first) / thickness, 0.0, most_slabs));
  });
  return slab;
}

}  // namespace

template <int Corners>
std::vector<std::uint32_t> deal_by_time(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                        std::span<const GlobalSeed> seeds, int ranks, int threads) {
  const MeanEdge edge = mean_edge(mesh, metric);
  std::vector<double> times(mesh.vertex_count());
  {
    CoarseImage image(mesh, metric, voxel_edges * edge.length);
    image.solve_from(seeds, mesh.points, threads);
    parallel_for(threads, times.size(), [&](std::size_t v) { times[v] = image.time_at(mesh.points[v]); });
  }
  const std::vector<std::uint32_t> slab = slabs_of(times, seeds, slab_edges * edge.time, threads);
  const std::vector<float> work = expected_work(mesh, metric, times, threads);
  std::vector<double> in_slab(slab.empty() ? 0 : *std::max_element(slab.begin(), slab.end()) + std::size_t{1}, 0.0);
  for (std::size_t v = 0; v < slab.size(); ++v) in_slab[slab[v]] += static_cast<double>(work[v]);
  std::vector<double> seen(in_slab.size(), 0.0);
  std::vector<std::uint32_t> rank_of(slab.size());
  for (const std::uint32_t v : hilbert_order(mesh.points, CurveDetail::points, threads).new_to_old) {
    const double place = seen[slab[v]] * ranks / in_slab[slab[v]];
    rank_of[v] = std::min(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(ranks - 1));
    seen[slab[v]] += static_cast<double>(work[v]);
  }
  return rank_of;
}

template std::vector<std::uint32_t> deal_by_time(const SimplexMesh<3>&, const Metric&, std::span<const GlobalSeed>, int,
                                                 int);
template std::vector<std::uint32_t> deal_by_time(const SimplexMesh<4>&, const Metric&, std::span<const GlobalSeed>, int,
                                                 int);

}  // namespace isochron::mpi
