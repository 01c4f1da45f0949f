#include "isochron/solve/simplex/device_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/timer.h"
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
class DeviceEngineOf final : public DeviceEngine {
 public:
  DeviceEngineOf(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric, const SolveOptions& options,
                 int threads, std::vector<std::string> notes)
      : mesh_(mesh), metric_(metric), options_(options), threads_(threads), notes_(std::move(notes)) {
    const Timer timer;
    if constexpr (Corners == 4) device_ = cuda::make_volume_solver<T>(mesh, metric);
    else device_ = cuda::make_surface_solver<T>(mesh, metric, options.obtuse);
    setup_seconds_ = timer.seconds();
  }

  [[nodiscard]] cuda::MeshSummary summary() const { return device_->summary(); }

  bool set_metric(const cuda::MetricInput& metric) override {
    const Timer timer;
    metric_ = metric;
    whole_metric_.reset();
    device_->set_metric(metric);
    setup_seconds_ = timer.seconds();
    return fits();
  }

  /// True when the metric's lengths can be held in T.
  [[nodiscard]] bool fits() const {
    const cuda::MeshSummary summary = device_->summary();
    return !single || fits_single(summary.shortest, summary.longest);
  }

  void solve(std::span<const Sources> source_sets, const TakeArrival& take) override {
    const std::vector<StartSeeds> starts = start_seeds(source_sets);
    const double tolerance = checked_tolerance(options_.tolerance.value_or(default_tolerance(single)));
    for (std::size_t first = 0; first < starts.size();) {
      const std::size_t count = std::min(starts.size() - first, device_->layers_that_fit());
      if (options_.progress.cancelled()) throw Cancelled();
      solve_layers(std::span(starts).subspan(first, count), tolerance,
                   [&](std::size_t layer, Arrival&& arrival) { take(first + layer, std::move(arrival)); });
      first += count;
      options_.progress.update(static_cast<double>(first) / static_cast<double>(starts.size()));
    }
  }

  DeviceArrival solve_on_device(const Sources& sources) override {
    if (options_.progress.cancelled()) throw Cancelled();
    const std::vector<StartSeeds> starts = start_seeds({&sources, 1});
    const cuda::LayerSeeds layer = as_layer(starts[0]);
    const double tolerance = checked_tolerance(options_.tolerance.value_or(default_tolerance(single)));
    DeviceArrival arrival;
    arrival.summary = describe();
    const Timer whole;
    double& seconds = arrival.summary.solve_seconds;
    arrival.summary.counters = device_->solve({&layer, 1}, static_cast<T>(tolerance), options_.band_width, seconds);
    arrival.times = cuda::DeviceArray<double>(mesh_.vertex_count());
    device_->times(0, starts[0].base, arrival.times);
    cuda::summarise(arrival.times, arrival.summary);
    arrival.summary.transfer_seconds = whole.seconds() - seconds;
    if (options_.verify == Keep::yes) add_residual(0, layer, tolerance, arrival.summary);
    if (options_.sources == Keep::yes) add_sources(layer, arrival);
    arrival.device = cuda::current_device();
    options_.progress.update(1);
    return arrival;
  }

  Residual residual(const Arrival& arrival, const Sources& sources) override {
    const std::vector<StartSeeds> starts = start_seeds({&sources, 1});
    const double tolerance = checked_tolerance(options_.tolerance.value_or(default_tolerance(single)));
    device_->load_times(arrival.times, starts[0].base);
    return device_->residual(0, as_layer(starts[0]), residual_tolerances * tolerance);
  }

 private:
  static constexpr bool single = std::is_same_v<T, float>;

  std::vector<StartSeeds> start_seeds(std::span<const Sources> source_sets) {
    const double unit = device_->summary().unit;
    std::vector<StartSeeds> starts;
    const auto add = [&](const std::vector<Seed>& seeds) { starts.push_back(make_start_seeds<T>(seeds, unit)); };
    const bool only_vertices = std::all_of(source_sets.begin(), source_sets.end(), [](const Sources& sources) {
      return !sources.vertices.empty() && sources.points.empty() && sources.level_set.empty();
    });
    if (only_vertices) {
      for (const auto& seeds : seeds_near(mesh_parts(), source_sets, options_.source_init, options_.ball_rings))
        add(seeds);
      return starts;
    }
    const SimplexMesh<Corners>& mesh = whole_mesh();
    if (adjacency_.offsets.empty()) adjacency_ = build_adjacency(mesh, threads_);
    for (std::size_t i = 0; i < source_sets.size(); ++i)
      for_source_set(i, source_sets.size(), [&] {
        const PlacedSources placed = place_sources(mesh, adjacency_, source_sets[i]);
        const int rings = limited_rings(options_.ball_rings, placed.points.size(), mesh_.vertex_count(), Corners - 1);
        add(make_seeds(mesh, whole_metric(), adjacency_, source_sets[i], placed, options_.source_init, rings));
      });
    return starts;
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

  static cuda::LayerSeeds as_layer(const StartSeeds& start) {
    cuda::LayerSeeds layer;
    for (const StartSeed& seed : start.seeds) {
      layer.vertices.push_back(seed.vertex.value);
      layer.times.push_back(seed.time);
      layer.labels.push_back(seed.source);
    }
    return layer;
  }

  void solve_layers(std::span<const StartSeeds> starts, double tolerance, const TakeArrival& take) {
    std::vector<cuda::LayerSeeds> layers;
    for (const StartSeeds& start : starts) layers.push_back(as_layer(start));
    const Timer whole;
    double seconds = 0;
    Counters counters = device_->solve(layers, static_cast<T>(tolerance), options_.band_width, seconds);
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
      if (options_.verify == Keep::yes) add_residual(layer, layers[layer], tolerance, arrival);
      if (options_.sources == Keep::yes) add_sources(layer, layers[layer], arrival);
      take(layer, std::move(arrival));
    }
  }

  void add_residual(std::size_t layer, const cuda::LayerSeeds& seeds, double tolerance, Arrival& arrival) {
    arrival.residual = device_->residual(layer, seeds, residual_tolerances * tolerance);
    arrival.converged = arrival.residual->passed();
  }

  /// The only source, where there is one.
  static std::optional<std::int32_t> one_source(const cuda::LayerSeeds& seeds) {
    const std::int32_t first = seeds.labels.front();
    const bool one = std::all_of(seeds.labels.begin(), seeds.labels.end(), [&](std::int32_t l) { return l == first; });
    return one ? std::optional(first) : std::nullopt;
  }

  void add_sources(std::size_t layer, const cuda::LayerSeeds& seeds, Arrival& arrival) {
    arrival.source.resize(mesh_.vertex_count());
    if (const auto label = one_source(seeds)) {
      for (std::size_t v = 0; v < arrival.source.size(); ++v)
        arrival.source[v] = std::isinf(arrival.times[v]) ? -1 : *label;
      return;
    }
    cuda::DeviceArray<std::int32_t> labels(mesh_.vertex_count());
    device_->labels(layer, seeds, labels);
    labels.download_to(arrival.source);
  }
  void add_sources(const cuda::LayerSeeds& seeds, DeviceArrival& arrival) {
    arrival.source = cuda::DeviceArray<std::int32_t>(mesh_.vertex_count());
    if (const auto label = one_source(seeds)) cuda::label_reached(arrival.times, *label, arrival.source);
    else device_->labels(0, seeds, arrival.source);
    cuda::wait();
  }

  [[nodiscard]] Arrival describe() const {
    Arrival arrival;
    arrival.method = Method::push;
    arrival.backend = Backend::cuda;
    arrival.precision = single ? Precision::single_ : Precision::double_;
    arrival.notes = notes_;
    arrival.setup_seconds = setup_seconds_;
    arrival.device_bytes = device_->summary().device_bytes;
    return arrival;
  }

  cuda::MeshInput<Corners> mesh_;
  cuda::MetricInput metric_;
  SolveOptions options_;
  int threads_;
  std::vector<std::string> notes_;
  std::unique_ptr<cuda::MeshSolver<T>> device_;
  Adjacency adjacency_;  ///< of the whole mesh, for sources that are not vertices
  std::optional<SimplexMesh<Corners>> whole_mesh_;
  std::optional<Metric> whole_metric_;
  double setup_seconds_ = 0;
};

}  // namespace

template <int Corners>
std::unique_ptr<DeviceEngine> make_device_engine(const cuda::MeshInput<Corners>& mesh, const cuda::MetricInput& metric,
                                                 const SolveOptions& options, int threads) {
  std::vector<std::string> notes;
  if (options.precision != Precision::double_) {
    auto engine = std::make_unique<DeviceEngineOf<float, Corners>>(mesh, metric, options, threads, notes);
    const cuda::MeshSummary summary = engine->summary();
    if (engine->fits()) return engine;
    notes.push_back(precision_note(summary.shortest * summary.unit, summary.longest * summary.unit));
  }
  return std::make_unique<DeviceEngineOf<double, Corners>>(mesh, metric, options, threads, std::move(notes));
}

template <int Corners>
std::size_t device_engine_bytes(const SimplexMesh<Corners>& mesh, const Metric& metric, Precision precision) {
  const std::size_t scalar = precision == Precision::double_ ? sizeof(double) : sizeof(float);
  const auto bytes = Corners == 4 ? cuda::volume_bytes : cuda::surface_bytes;
  return bytes(mesh.vertex_count(), mesh.element_count(), scalar, metric.bytes_per_element());
}

template std::unique_ptr<DeviceEngine> make_device_engine(const cuda::MeshInput<3>&, const cuda::MetricInput&,
                                                          const SolveOptions&, int);
template std::unique_ptr<DeviceEngine> make_device_engine(const cuda::MeshInput<4>&, const cuda::MetricInput&,
                                                          const SolveOptions&, int);
template std::size_t device_engine_bytes(const SimplexMesh<3>&, const Metric&, Precision);
template std::size_t device_engine_bytes(const SimplexMesh<4>&, const Metric&, Precision);

}  // namespace isochron
