#include "isochron/solve/simplex/device_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/user_values.h"
#include "isochron/solve/simplex/cuda/surface.h"
#include "isochron/solve/simplex/cuda/volume.h"
#include "isochron/solve/simplex/near_sources.h"
#include "isochron/solve/source_set.h"

namespace isochron {
namespace {

template <class T, int Corners>
class MeshDeviceEngineOf final : public MeshDeviceEngine {
 public:
  MeshDeviceEngineOf(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric, const Plan& plan,
                     const SolveOptions& options)
      : mesh_(mesh),
        metric_(metric),
        options_(options),
        threads_(plan.threads),
        tolerance_(plan.tolerance(single ? Precision::single_ : Precision::double_)) {
    if constexpr (Corners == 4) device_ = cuda::make_volume_solver<T>(mesh, metric);
    else device_ = cuda::make_surface_solver<T>(mesh, metric, options.obtuse);
  }

  [[nodiscard]] cuda::MeshSummary summary() const { return device_->summary(); }

  bool set_metric(const cuda::MetricInput& metric) override {
    metric_ = metric;
    whole_metric_.reset();
    device_->set_metric(metric);
    return fits();
  }

  /// True when the metric's lengths can be held in T.
  [[nodiscard]] bool fits() const {
    const cuda::MeshSummary summary = device_->summary();
    return !single || fits_single(summary.shortest, summary.longest);
  }

  std::vector<std::vector<Seed>> seeds(std::span<const Sources> source_sets, std::size_t first) override {
    const std::span<const Sources> wanted = source_sets.subspan(first);
    const bool only_vertices = std::all_of(wanted.begin(), wanted.end(), [](const Sources& sources) {
      return !sources.vertices.empty() && sources.points.empty() && sources.level_set.empty();
    });
    if (only_vertices) return seeds_near(mesh_parts(), wanted, options_.source_init, options_.ball_rings);
    const SimplexMesh<Corners>& mesh = whole_mesh();
    if (adjacency_.offsets.empty()) adjacency_ = build_adjacency(mesh, threads_);
    std::vector<std::vector<Seed>> sets;
    for (std::size_t i = first; i < source_sets.size(); ++i)
      for_source_set(i, source_sets.size(), [&] {
        const PlacedSources placed = place_sources(mesh, adjacency_, source_sets[i]);
        const int rings = limited_rings(options_.ball_rings, placed.points.size(), mesh_.vertex_count(), Corners - 1);
        sets.push_back(
            make_seeds(mesh, whole_metric(), adjacency_, source_sets[i], placed, options_.source_init, rings));
      });
    return sets;
  }

  void solve(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) override {
    for (std::size_t first = 0; first < seed_sets.size();) {
      const std::size_t count = std::min(seed_sets.size() - first, device_->layers_that_fit());
      if (options_.progress.cancelled()) throw Cancelled();
      solve_layers(seed_sets.subspan(first, count),
                   [&](std::size_t layer, Arrival&& arrival) { take(first + layer, std::move(arrival)); });
      first += count;
      options_.progress.update(static_cast<double>(first) / static_cast<double>(seed_sets.size()));
    }
  }

  Arrival solve_in_place(const std::vector<Seed>& seeds) override {
    if (options_.progress.cancelled()) throw Cancelled();
    const StartSeeds start = start_of(seeds);
    Arrival arrival = describe();
    arrival.on_device = std::make_shared<DeviceResult>();
    const Timer whole;
    double& seconds = arrival.solve_seconds;
    arrival.counters = device_->solve({&start, 1}, static_cast<T>(tolerance_), options_.band_width, seconds);
    cuda::DeviceArray<double>& times = arrival.on_device->times = cuda::DeviceArray<double>(mesh_.vertex_count());
    device_->times(0, start.base, times);
    cuda::summarise(times, arrival);
    arrival.transfer_seconds = whole.seconds() - seconds;
    if (options_.verify == Keep::yes) add_residual(0, start, arrival);
    if (options_.sources == Keep::yes) add_sources(start, *arrival.on_device);
    arrival.on_device->device = cuda::current_device();
    return arrival;
  }

  Residual residual(std::span<const double> times, const std::vector<Seed>& seeds) override {
    const StartSeeds start = start_of(seeds);
    device_->load_times(times, start.base);
    return device_->residual(0, start.seeds, residual_tolerances * tolerance_);
  }

 private:
  static constexpr bool single = std::is_same_v<T, float>;

  StartSeeds start_of(const std::vector<Seed>& seeds) const {
    return make_start_seeds<T>(seeds, device_->summary().unit);
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

  void solve_layers(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) {
    std::vector<StartSeeds> starts;
    for (const std::vector<Seed>& seeds : seed_sets) starts.push_back(start_of(seeds));
    const Timer whole;
    double seconds = 0;
    Counters counters = device_->solve(starts, static_cast<T>(tolerance_), options_.band_width, seconds);
    counters.local_solves /= starts.size();  // each layer's share; the rounds are common to all
    counters.vertex_updates /= starts.size();
    const double around = (whole.seconds() - seconds) / static_cast<double>(starts.size());
    for (std::size_t layer = 0; layer < starts.size(); ++layer) {
      Arrival arrival = describe();
      arrival.counters = counters;
      arrival.solve_seconds = seconds / static_cast<double>(starts.size());
      const Timer copying;
      arrival.times.resize(mesh_.vertex_count());
      device_->times(layer, starts[layer].base, arrival.times);
      arrival.transfer_seconds = around + copying.seconds();
      if (options_.verify == Keep::yes) add_residual(layer, starts[layer], arrival);
      if (options_.sources == Keep::yes) add_sources(layer, starts[layer], arrival);
      take(layer, std::move(arrival));
    }
  }

  void add_residual(std::size_t layer, const StartSeeds& start, Arrival& arrival) {
    arrival.residual = device_->residual(layer, start.seeds, residual_tolerances * tolerance_);
    arrival.converged = arrival.residual->passed();
  }

  void add_sources(std::size_t layer, const StartSeeds& start, Arrival& arrival) {
    arrival.source.resize(mesh_.vertex_count());
    if (const std::int32_t only = only_source(start.seeds); only >= 0) {
      for (std::size_t v = 0; v < arrival.source.size(); ++v)
        arrival.source[v] = std::isinf(arrival.times[v]) ? -1 : only;
      return;
    }
    cuda::DeviceArray<std::int32_t> labels(mesh_.vertex_count());
    device_->labels(layer, start.seeds, labels);
    labels.download_to(arrival.source);
  }
  void add_sources(const StartSeeds& start, DeviceResult& result) {
    result.source = cuda::DeviceArray<std::int32_t>(mesh_.vertex_count());
    if (const std::int32_t only = only_source(start.seeds); only >= 0)
      cuda::label_reached(result.times, only, result.source);
    else device_->labels(0, start.seeds, result.source);
    cuda::wait();
  }

  [[nodiscard]] Arrival describe() const {
    Arrival arrival;
    arrival.method = Method::push;
    arrival.backend = Backend::cuda;
    arrival.precision = single ? Precision::single_ : Precision::double_;
    arrival.device_bytes = device_->summary().device_bytes;
    return arrival;
  }

  cuda::MeshInput<Corners> mesh_;
  cuda::MetricInput metric_;
  SolveOptions options_;
  int threads_;
  double tolerance_;
  std::unique_ptr<cuda::MeshSolver<T>> device_;
  Adjacency adjacency_;  ///< of the whole mesh, for sources that are not vertices
  std::optional<SimplexMesh<Corners>> whole_mesh_;
  std::optional<Metric> whole_metric_;
};

}  // namespace

template <int Corners>
MadeEngine make_device_engine(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric, const Plan& plan,
                              const SolveOptions& options) {
  MadeEngine made;
  if (plan.precision == Precision::single_) {
    auto engine = std::make_unique<MeshDeviceEngineOf<float, Corners>>(mesh, metric, plan, options);
    const cuda::MeshSummary summary = engine->summary();
    if (engine->fits()) {
      made.engine = std::move(engine);
      return made;
    }
    made.notes.push_back(precision_note(summary.shortest * summary.unit, summary.longest * summary.unit));
  }
  made.engine = std::make_unique<MeshDeviceEngineOf<double, Corners>>(mesh, metric, plan, options);
  return made;
}

template <int Corners>
std::size_t device_engine_bytes(std::size_t vertices, std::size_t elements, std::size_t metric_bytes,
                                Precision precision) {
  const std::size_t scalar = precision == Precision::double_ ? sizeof(double) : sizeof(float);
  const auto bytes = Corners == 4 ? cuda::volume_bytes : cuda::surface_bytes;
  return bytes(vertices, elements, scalar, metric_bytes);
}

template MadeEngine make_device_engine(const cuda::MeshInput<3>&, const cuda::MetricInput&, const Plan&,
                                       const SolveOptions&);
template MadeEngine make_device_engine(const cuda::MeshInput<4>&, const cuda::MetricInput&, const Plan&,
                                       const SolveOptions&);
template std::size_t device_engine_bytes<3>(std::size_t, std::size_t, std::size_t, Precision);
template std::size_t device_engine_bytes<4>(std::size_t, std::size_t, std::size_t, Precision);

}  // namespace isochron
