// The solver of images on the GPU: between sources and results on the host and the times on the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "isochron/capabilities.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/error.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/user_values.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/grid_finish.h"

namespace isochron {

/// Labels are found on the host.
class GridDeviceEngine : public DeviceEngine {
 public:
  /// Other speeds, for what `make_speed_engine` has made; its problem is theirs already.
  virtual void set_scale(cuda::DeviceArray<float>&& scale) = 0;
};

/// The grid and the problem must outlive it. `device` has been made for the problem.
template <class Problem>
class GridDeviceEngineOf final : public GridDeviceEngine {
  using T = typename Problem::Scalar;

 public:
  GridDeviceEngineOf(const ImageGrid& grid, const Problem& problem, std::unique_ptr<cuda::DeviceGrid<T>> device,
                     const Plan& plan, const SolveOptions& options)
      : grid_(grid),
        problem_(problem),
        cells_(*problem.cells),
        options_(options),
        method_(plan.method),
        order_(plan.order),
        threads_(plan.batch_threads),
        tolerance_(plan.tolerance(std::is_same_v<T, float> ? Precision::single_ : Precision::double_)),
        device_(std::move(device)) {}

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
    const Layer layer = make_layer(seeds);
    Arrival arrival = describe();
    arrival.on_device = std::make_shared<DeviceResult>();
    const Timer whole;
    arrival.counters =
        device_->solve({&layer.seeds, 1}, static_cast<T>(tolerance_), options_.band_width, arrival.solve_seconds);
    cuda::DeviceArray<double>& times = arrival.on_device->times = cuda::DeviceArray<double>(grid_.voxel_count());
    cuda::fill_times(times, std::numeric_limits<double>::infinity());
    cuda::to_user_times(device_->times(0), owners().data(), owners().size(), problem_.unit, layer.start.base, times);
    cuda::summarise(times, arrival);
    arrival.transfer_seconds = whole.seconds() - arrival.solve_seconds;
    arrival.device_bytes = device_->device_bytes();
    arrival.converged = device_->converged();
    if (options_.verify == Keep::yes) add_residual(0, layer, arrival);
    if (options_.sources == Keep::yes) add_sources(layer, *arrival.on_device);
    arrival.on_device->device = cuda::current_device();
    return arrival;
  }

  void set_scale(cuda::DeviceArray<float>&& scale) override {
    device_->set_scale(std::move(scale), problem_.mean_edge);
  }

  Residual residual(std::span<const double> times, const std::vector<Seed>& seeds) override {
    const Layer layer = make_layer(seeds);
    std::vector<T> given(device_->cell_count(), std::numeric_limits<T>::infinity());
    parallel_for(threads_, cells_.list.size(), [&](std::size_t k) {
      given[number(k)] = static_cast<T>((times[voxel(k)] - layer.start.base) / problem_.unit);
    });
    double seconds = 0;
    if (order_ == 2) device_->solve({&layer.seeds, 1}, static_cast<T>(tolerance_), options_.band_width, seconds);
    device_->load_times(given);
    return checked(0, layer);
  }

 private:
  /// What one solve starts with.
  struct Layer {
    StartSeeds start;
    cuda::GridSeeds seeds;
  };

  /// A cell of the box by the voxel of a seed.
  [[nodiscard]] std::uint32_t cell_of(VertexId voxel) const {
    const auto [i, j, k] = grid_.index(voxel);
    return cells_.box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)});
  }
  /// Of the k-th allowed cell: its number on the device, and its voxel.
  [[nodiscard]] std::uint32_t number(std::size_t k) const {
    return device_->numbers() == cuda::CellNumbers::list ? static_cast<std::uint32_t>(k) : cells_.list[k];
  }
  [[nodiscard]] std::size_t voxel(std::size_t k) const {
    return cells_.box.voxel(cells_.box.index(cells_.list[k])).index();
  }

  /// Where a cell is in the list. It is looked for from `last` on in steps that double: seeds mostly come in order.
  [[nodiscard]] std::size_t place_of(std::uint32_t cell, std::size_t last) const {
    const std::vector<std::uint32_t>& list = cells_.list;
    std::size_t low = last < list.size() && list[last] <= cell ? last : 0, step = 1;
    while (low + step < list.size() && list[low + step] <= cell) {
      low += step;
      step *= 2;
    }
    const auto begin = list.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(list.size(), low + step));
    return static_cast<std::size_t>(std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), end, cell) - begin);
  }

  [[nodiscard]] Layer make_layer(const std::vector<Seed>& seeds) const {
    Layer layer{make_start_seeds<T>(seeds, problem_.unit), {}};
    layer.seeds.reserve(layer.start.seeds.size());
    std::size_t place = 0;
    for (const Seed& seed : layer.start.seeds) {
      place = place_of(cell_of(seed.vertex.in_whole()), place);
      layer.seeds.push_back({number(place), seed.time});
    }
    return layer;
  }

  [[nodiscard]] Residual checked(std::size_t layer, const Layer& start) const {
    Residual result = device_->residual(layer, start.seeds, residual_tolerances * tolerance_);
    if (!(result.worst > 0)) return result;
    const auto worst = static_cast<std::uint32_t>(result.worst_vertex.value);
    const std::uint32_t cell = device_->numbers() == cuda::CellNumbers::list ? cells_.list[worst] : worst;
    result.worst_vertex = cells_.box.voxel(cells_.box.index(cell));
    return result;
  }

  void solve_layers(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) {
    std::vector<Layer> layers;
    std::vector<cuda::GridSeeds> seeds;
    for (const auto& set : seed_sets) {
      layers.push_back(make_layer(set));
      seeds.push_back(layers.back().seeds);
    }
    const auto count = static_cast<double>(layers.size());
    Arrival common = describe();
    const Timer whole;
    double seconds = 0;
    common.counters = device_->solve(seeds, static_cast<T>(tolerance_), options_.band_width, seconds);
    common.counters.local_solves /= layers.size();  // each layer's share; the rounds are common to all
    common.counters.vertex_updates /= layers.size();
    common.solve_seconds = seconds / count;
    common.transfer_seconds = (whole.seconds() - seconds) / count;
    common.device_bytes = device_->device_bytes();
    common.converged = device_->converged();
    // Only this thread talks to the device; the results are made by all.
    const auto team = static_cast<std::size_t>(std::max(1, threads_));
    std::vector<std::vector<T>> times(std::min(team, layers.size()), std::vector<T>(device_->cell_count()));
    for (std::size_t first = 0; first < layers.size(); first += team) {
      const std::size_t group = std::min(team, layers.size() - first);
      std::vector<Arrival> arrivals(group, common);
      for (std::size_t i = 0; i < group; ++i) fetch(first + i, layers[first + i], times[i], arrivals[i]);
      parallel_region(static_cast<int>(group), [&](int thread, int granted) {
        for (auto i = static_cast<std::size_t>(thread); i < group; i += static_cast<std::size_t>(granted))
          finish(layers[first + i], times[i], group == 1 ? threads_ : 1, arrivals[i]);
      });
      for (std::size_t i = 0; i < group; ++i) take(first + i, std::move(arrivals[i]));
    }
  }

  void fetch(std::size_t layer, const Layer& start, std::vector<T>& times, Arrival& arrival) {
    const Timer copying;
    device_->times(layer, times);
    arrival.transfer_seconds += copying.seconds();
    if (options_.verify == Keep::yes) add_residual(layer, start, arrival);
  }

  void add_residual(std::size_t layer, const Layer& start, Arrival& arrival) const {
    arrival.residual = checked(layer, start);
    if (!arrival.residual->passed()) arrival.converged = false;
  }

  /// Whose voxel each of the device's cells is.
  const cuda::DeviceArray<std::uint32_t>& owners() {
    if (owners_.size() > 0) return owners_;
    std::vector<std::uint32_t> owners(device_->cell_count(), cuda::nobody);
    for (std::size_t k = 0; k < cells_.list.size(); ++k) owners[number(k)] = static_cast<std::uint32_t>(voxel(k));
    owners_ = cuda::DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(owners));
    return owners_;
  }

  void finish(const Layer& layer, const std::vector<T>& times, int threads, Arrival& arrival) const {
    const Timer copying;
    arrival.times.assign(grid_.voxel_count(), std::numeric_limits<double>::infinity());
    parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
      arrival.times[voxel(k)] = static_cast<double>(times[number(k)]) * problem_.unit + layer.start.base;
    });
    arrival.transfer_seconds += copying.seconds();
    arrival.max_time = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < cells_.list.size(); ++k) {
      const T time = times[number(k)];
      if (!std::isfinite(time)) continue;
      ++arrival.reached;
      arrival.max_time = std::max(arrival.max_time, static_cast<double>(time) * problem_.unit + layer.start.base);
    }
    arrival.unreached = grid_.voxel_count() - arrival.reached;
    if (options_.sources == Keep::yes) add_sources(layer, times, threads, arrival);
  }

  void add_sources(const Layer& layer, DeviceResult& result) {
    result.source = cuda::DeviceArray<std::int32_t>(grid_.voxel_count());
    if (const std::int32_t only = only_source(layer.start.seeds); only >= 0) {
      cuda::label_reached(result.times, only, result.source);
      cuda::wait();
      return;
    }
    std::vector<T> times(device_->cell_count());
    device_->times(0, times);
    Arrival on_host;
    add_sources(layer, times, threads_, on_host);
    result.source.upload_from(on_host.source);
  }

  void add_sources(const Layer& layer, const std::vector<T>& times, int threads, Arrival& arrival) const {
    const auto& seeds = layer.start.seeds;
    arrival.source.assign(grid_.voxel_count(), -1);
    if (const std::int32_t only = only_source(seeds); only >= 0) {
      parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
        if (std::isfinite(times[number(k)])) arrival.source[voxel(k)] = only;
      });
      return;
    }
    std::vector<T> in_box(problem_.vertex_count, std::numeric_limits<T>::infinity());
    std::vector<std::int32_t> label(problem_.vertex_count, -1);
    for (std::size_t k = 0; k < cells_.list.size(); ++k) in_box[cells_.list[k]] = times[number(k)];
    for (const Seed& seed : seeds) {
      const std::uint32_t cell = cell_of(seed.vertex.in_whole());
      if (!(in_box[cell] < static_cast<T>(seed.time))) label[cell] = seed.source;
    }
    GridLabelSpreader(problem_, in_box.data(), label, threads).spread();
    parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
      if (std::isfinite(times[number(k)])) arrival.source[voxel(k)] = label[cells_.list[k]];
    });
  }

  [[nodiscard]] Arrival describe() const {
    Arrival arrival;
    arrival.method = method_;
    arrival.backend = Backend::cuda;
    arrival.precision = std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
    return arrival;
  }

  const ImageGrid& grid_;
  const Problem& problem_;
  const GridCells& cells_;
  SolveOptions options_;
  Method method_;
  int order_;
  int threads_;
  double tolerance_;
  std::unique_ptr<cuda::DeviceGrid<T>> device_;
  cuda::DeviceArray<std::uint32_t> owners_;  ///< from the first times on that stay on the device
};

/// Of the adaptive scheme. The grid and the problem must outlive it.
template <class Problem>
std::unique_ptr<GridDeviceEngine> make_grid_device_engine(const ImageGrid& grid, const Problem& problem,
                                                          const Plan& plan, const SolveOptions& options);

/// The same for speeds whose scales are on the device; see `SpeedStencils`. The problem needs its scales only for the
/// labels of several sources.
template <class T, int Dim>
std::unique_ptr<GridDeviceEngine> make_speed_engine(const ImageGrid& grid, const AxisProblem<T, Dim>& problem,
                                                    cuda::DeviceArray<float>&& scale, const Plan& plan,
                                                    const SolveOptions& options);

/// For each cell of the box: its voxel, or `cuda::nobody` where none may be entered.
std::vector<std::uint32_t> voxels_of_cells(const GridCells& cells);

}  // namespace isochron
