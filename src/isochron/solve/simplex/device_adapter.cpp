#include "isochron/solve/simplex/device_adapter.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "isochron/solve/simplex/near_sources.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/solve/source_set.h"

namespace isochron {
namespace {

template <class T, int Corners>
class MeshDeviceAdapterOf final : public MeshDeviceAdapter {
 public:
  MeshDeviceAdapterOf(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric, const Plan& plan,
                      const SolveOptions& options)
      : mesh_(mesh), metric_(metric), options_(options), threads_(plan.threads) {
    if constexpr (Corners == 4) device_ = cuda::make_volume_solver<T>(mesh, metric);
    else device_ = cuda::make_surface_solver<T>(mesh, metric, options.obtuse);
    check_lengths();
  }

  [[nodiscard]] cuda::MeshSummary summary() const { return device_->summary(); }

  bool set_metric(const cuda::MetricInput& metric) override {
    metric_ = metric;
    whole_metric_.reset();
    device_->set_metric(metric);
    check_lengths();
    return fits();
  }

  /// True when the metric's lengths can be held in T.
  [[nodiscard]] bool fits() const {
    const cuda::MeshSummary summary = device_->summary();
    return !single || fits_single(summary.shortest, summary.longest);
  }

  std::vector<std::vector<Seed>> seeds(std::span<const Sources> source_sets) override {
    const bool only_vertices = std::all_of(source_sets.begin(), source_sets.end(), [](const Sources& sources) {
      return !sources.vertices.empty() && sources.points.empty() && sources.level_set.empty();
    });
    if (only_vertices) return seeds_near(mesh_parts(), source_sets, options_.source_init, options_.ball_rings);
    const SimplexMesh<Corners>& mesh = whole_mesh();
    if (adjacency_.offsets.empty()) adjacency_ = build_adjacency(mesh, threads_);
    std::vector<std::vector<Seed>> sets;
    for (std::size_t i = 0; i < source_sets.size(); ++i)
      for_source_set(i, source_sets.size(), [&] {
        const PlacedSources placed = place_sources(mesh, adjacency_, source_sets[i]);
        const BallLimits limits =
            ball_limits(options_.ball_rings, placed.points.size(), mesh_.vertex_count(), Corners - 1);
        sets.push_back(
            make_seeds(mesh, whole_metric(), adjacency_, source_sets[i], placed, options_.source_init, limits));
      });
    return sets;
  }

  [[nodiscard]] std::size_t user_count() const override { return mesh_.vertex_count(); }
  [[nodiscard]] Precision precision() const override { return single ? Precision::single_ : Precision::double_; }
  [[nodiscard]] std::size_t device_bytes() const override { return device_->summary().device_bytes; }
  [[nodiscard]] std::size_t layers_that_fit() const override { return device_->layers_that_fit(); }

  [[nodiscard]] StartSeeds start(std::span<const Seed> seeds) const override {
    return make_start_seeds<T>(seeds, device_->summary().unit);
  }
  Counters solve(std::span<const StartSeeds> layers, double tolerance, double band_width, double& seconds) override {
    return device_->solve(layers, static_cast<T>(tolerance), band_width, seconds);
  }
  [[nodiscard]] bool converged() const override { return device_->converged(); }
  void load_times(std::span<const double> times, double base) override { device_->load_times(times, base); }
  Residual residual(std::size_t layer, const StartSeeds& start, double limit) override {
    return device_->residual(layer, start.seeds, limit);
  }

  void write_times(std::size_t layer, double base, cuda::DeviceArray<double>& result) override {
    device_->times(layer, base, result);
  }
  void write_labels(std::size_t layer, const StartSeeds& start, cuda::DeviceArray<std::int32_t>& result) override {
    device_->labels(layer, start.seeds, result);
  }
  void read_times(std::size_t layer, double base, int /*threads*/, std::span<double> result) override {
    device_->times(layer, base, result);
  }
  void read_labels(std::size_t layer, const StartSeeds& start, int /*threads*/,
                   std::span<std::int32_t> result) override {
    cuda::DeviceArray<std::int32_t> labels(result.size());
    device_->labels(layer, start.seeds, labels);
    labels.download_to(result);
  }

 private:
  static constexpr bool single = std::is_same_v<T, float>;

  void check_lengths() {
    const cuda::MeshSummary summary = device_->summary();
    if (!ordinary_edge_times(summary.shortest, summary.longest))  // else nothing need be fetched
      check_edge_times(whole_mesh(), whole_metric(), summary.shortest, summary.longest, summary.unit);
  }

  [[nodiscard]] MeshParts<Corners> mesh_parts() {
    MeshParts<Corners> parts;
    parts.vertex_count = mesh_.vertex_count();
    parts.elements_near = [this](std::span<const VertexId> vertices, int rings) {
      return device_->elements_near(vertices, rings);
    };
    parts.elements = [this](std::span<const ElementId> elements) { return mesh_.elements(elements); };
    parts.points = [this](std::span<const VertexId> vertices) { return mesh_.points(vertices); };
    parts.metric = [this](std::span<const ElementId> elements) { return metric_.of(elements); };
    return parts;
  }

  /// The host's, or fetched from the device: only vertices are found there as sources.
  const SimplexMesh<Corners>& whole_mesh() {
    if (mesh_.host() != nullptr) return *mesh_.host();
    if (!whole_mesh_) whole_mesh_ = mesh_.device()->fetch();
    return *whole_mesh_;
  }
  const Metric& whole_metric() {
    if (metric_.host() != nullptr) return *metric_.host();
    if (!whole_metric_) whole_metric_ = metric_.device()->fetch();
    return *whole_metric_;
  }

  cuda::MeshInput<Corners> mesh_;
  cuda::MetricInput metric_;
  SolveOptions options_;
  int threads_;
  std::unique_ptr<cuda::MeshSolver<T>> device_;
  Adjacency adjacency_;  ///< of the whole mesh, for sources that are not vertices
  std::optional<SimplexMesh<Corners>> whole_mesh_;
  std::optional<Metric> whole_metric_;
};

}  // namespace

template <int Corners>
std::unique_ptr<MeshDeviceAdapter> make_device_adapter(const cuda::MeshInput<Corners>& mesh,
                                                       const cuda::MetricInput& metric, const Plan& plan,
                                                       const SolveOptions& options, std::vector<std::string>& notes) {
  if (plan.precision == Precision::single_) {
    auto adapter = std::make_unique<MeshDeviceAdapterOf<float, Corners>>(mesh, metric, plan, options);
    if (adapter->fits()) return adapter;
    const cuda::MeshSummary summary = adapter->summary();
    notes.push_back(precision_note(summary.shortest * summary.unit, summary.longest * summary.unit));
  }
  return std::make_unique<MeshDeviceAdapterOf<double, Corners>>(mesh, metric, plan, options);
}

template std::unique_ptr<MeshDeviceAdapter> make_device_adapter(const cuda::MeshInput<3>&, const cuda::MetricInput&,
                                                                const Plan&, const SolveOptions&,
                                                                std::vector<std::string>&);
template std::unique_ptr<MeshDeviceAdapter> make_device_adapter(const cuda::MeshInput<4>&, const cuda::MetricInput&,
                                                                const Plan&, const SolveOptions&,
                                                                std::vector<std::string>&);

}  // namespace isochron
