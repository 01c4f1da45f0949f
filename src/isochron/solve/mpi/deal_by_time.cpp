#include "isochron/solve/mpi/deal_by_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/mesh/ordering.h"
#include "isochron/solve/grid_solver.h"

namespace isochron::mpi {
namespace {

/// Edges through a voxel of the coarse image, and through a slab (bench/NOTES.md).
constexpr double voxel_edges = 2.5;
constexpr double slab_edges = 2;

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
  void solve_from(std::span<const GlobalSeed> seeds, std::span<const Vec3d> points) {
    Sources sources;
    for (const GlobalSeed& seed : seeds) sources.vertices.push_back({nearest(points[seed.vertex]), seed.time});
    GridOptions options;
    options.common.backend = Backend::serial;
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

}  // namespace

template <int Corners>
std::vector<std::uint32_t> deal_by_time(const SimplexMesh<Corners>& mesh, const Metric& metric,
                                        std::span<const GlobalSeed> seeds, int ranks, int threads) {
  const MeanEdge edge = mean_edge(mesh, metric);
  CoarseImage image(mesh, metric, voxel_edges * edge.length);
  image.solve_from(seeds, mesh.points);
  double first = std::numeric_limits<double>::infinity();
  for (const GlobalSeed& seed : seeds) first = std::min(first, seed.time);
  const std::size_t count = mesh.vertex_count();
  std::vector<std::uint32_t> slab(count);
  std::vector<std::uint64_t> in_slab(1, 0);
  constexpr double most_slabs = 1e6;  // what nothing reaches is the last one
  for (std::size_t v = 0; v < count; ++v) {
    const double number = (image.time_at(mesh.points[v]) - first) / (slab_edges * edge.time);
    slab[v] = static_cast<std::uint32_t>(std::clamp(number, 0.0, most_slabs));
    if (slab[v] >= in_slab.size()) in_slab.resize(slab[v] + 1, 0);
    ++in_slab[slab[v]];
  }
  std::vector<std::uint64_t> seen(in_slab.size(), 0);
  std::vector<std::uint32_t> rank_of(count);
  for (const std::uint32_t v : hilbert_order(mesh.points, CurveDetail::points, threads).new_to_old)
    rank_of[v] = static_cast<std::uint32_t>(seen[slab[v]]++ * static_cast<std::uint64_t>(ranks) / in_slab[slab[v]]);
  return rank_of;
}

template std::vector<std::uint32_t> deal_by_time(const SimplexMesh<3>&, const Metric&, std::span<const GlobalSeed>, int,
                                                 int);
template std::vector<std::uint32_t> deal_by_time(const SimplexMesh<4>&, const Metric&, std::span<const GlobalSeed>, int,
                                                 int);

}  // namespace isochron::mpi
