// Images on the GPU: between voxels on the host and the cells of the device.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/user_values.h"
#include "isochron/solve/device_engine.h"
#include "isochron/solve/grid/cuda/device_grid.h"
#include "isochron/solve/grid/grid_finish.h"

namespace isochron {

/// Labels are found on the host.
class ImageDeviceAdapter : public DeviceAdapter {
 public:
  /// Other speeds, for a device grid that `make_speed_grid` has made; the adapter's problem is theirs already.
  virtual void set_scale(cuda::DeviceArray<float>&& scale) = 0;
};

/// The grid and the problem must outlive it. `device` has been made for the problem, which needs its scales only for
/// the labels of several sources.
template <class Problem>
class ImageDeviceAdapterOf final : public ImageDeviceAdapter {
  using T = typename Problem::Scalar;

 public:
  ImageDeviceAdapterOf(const ImageGrid& grid, const Problem& problem, std::unique_ptr<cuda::DeviceGrid<T>> device,
                       int threads)
      : grid_(grid), problem_(problem), cells_(*problem.cells), threads_(threads), device_(std::move(device)) {}

  void set_scale(cuda::DeviceArray<float>&& scale) override {
    device_->set_scale(std::move(scale), problem_.mean_edge);
  }

  [[nodiscard]] std::size_t user_count() const override { return grid_.voxel_count(); }
  [[nodiscard]] Precision precision() const override {
    return std::is_same_v<T, float> ? Precision::single_ : Precision::double_;
  }
  [[nodiscard]] std::size_t device_bytes() const override { return device_->device_bytes(); }
  [[nodiscard]] std::size_t layers_that_fit() const override { return device_->layers_that_fit(); }

  [[nodiscard]] StartSeeds start(std::span<const Seed> seeds) const override {
    StartSeeds start = make_start_seeds<T>(seeds, problem_.unit);
    std::size_t place = 0;
    for (Seed& seed : start.seeds) {  // from here on `vertex` is the number of a cell on the device
      const auto [i, j, k] = grid_.index(seed.vertex.in_whole());
      place = place_of(cells_.box.cell({static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)}), place);
      seed.vertex = GlobalVertexId(number(place));
    }
    return start;
  }
  Counters solve(std::span<const StartSeeds> layers, double tolerance, double band_width, double& seconds) override {
    return device_->solve(layers, static_cast<T>(tolerance), band_width, seconds);
  }
  [[nodiscard]] bool converged() const override { return device_->converged(); }
  void load_times(std::span<const double> times, double base) override {
    std::vector<T> given(device_->cell_count(), std::numeric_limits<T>::infinity());
    parallel_for(threads_, cells_.list.size(),
                 [&](std::size_t k) { given[number(k)] = static_cast<T>((times[voxel(k)] - base) / problem_.unit); });
    device_->load_times(given);
  }
  Residual residual(std::size_t layer, const StartSeeds& start, double limit) override {
    Residual result = device_->residual(layer, start.seeds, limit);
    if (result.worst > 0) result.worst_vertex = cells_.box.voxel(cells_.box.index(cell(result.worst_vertex)));
    return result;
  }

  void write_times(std::size_t layer, double base, cuda::DeviceArray<double>& result) override {
    cuda::fill_times(result, std::numeric_limits<double>::infinity());
    cuda::to_user_times(device_->times(layer), owners().data(), owners().size(), problem_.unit, base, result);
  }
  void write_labels(std::size_t layer, const StartSeeds& start, cuda::DeviceArray<std::int32_t>& result) override {
    std::vector<std::int32_t> labels(result.size(), -1);
    make_room(1);
    fetch(layer);
    read_labels(layer, start, threads_, labels);
    make_room(0);
    result.upload_from(labels);
  }

  [[nodiscard]] int readers() const override { return threads_; }
  void make_room(std::size_t layers) override {
    fetched_.clear();
    while (fetched_.size() < layers) fetched_.emplace_back(device_->cell_count());
  }
  [[nodiscard]] bool reads_all() const override { return cells_.list.size() == grid_.voxel_count(); }
  void summarise_times(Arrival& arrival) const override {
    double latest = -std::numeric_limits<double>::infinity();
    std::size_t reached = 0;
    for (std::size_t k = 0; k < cells_.list.size(); ++k) {
      const double time = arrival.times[voxel(k)];
      if (!std::isfinite(time)) continue;
      ++reached;
      latest = std::max(latest, time);
    }
    arrival.reached = reached;
    arrival.unreached = grid_.voxel_count() - reached;
    arrival.max_time = latest;
  }
  void fetch(std::size_t layer) override { device_->times(layer, fetched_[layer % fetched_.size()]); }
  void read_times(std::size_t layer, double base, int threads, std::span<double> result) override {
    const std::vector<T>& times = fetched_[layer % fetched_.size()];
    parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
      result[voxel(k)] = static_cast<double>(times[number(k)]) * problem_.unit + base;
    });
  }
  void read_labels(std::size_t layer, const StartSeeds& start, int threads, std::span<std::int32_t> result) override {
    const std::vector<T>& times = fetched_[layer % fetched_.size()];
    std::vector<T> in_box(problem_.vertex_count, std::numeric_limits<T>::infinity());
    std::vector<std::int32_t> label(problem_.vertex_count, -1);
    for (std::size_t k = 0; k < cells_.list.size(); ++k) in_box[cells_.list[k]] = times[number(k)];
    for (const Seed& seed : start.seeds)
      if (const std::uint32_t x = cell(seed.vertex); !(in_box[x] < static_cast<T>(seed.time))) label[x] = seed.source;
    GridLabelSpreader(problem_, in_box.data(), label, threads).spread();
    parallel_for(threads, cells_.list.size(), [&](std::size_t k) {
      if (std::isfinite(times[number(k)])) result[voxel(k)] = label[cells_.list[k]];
    });
  }

 private:
  /// Of the k-th allowed cell: its number on the device, and its voxel.
  [[nodiscard]] std::uint32_t number(std::size_t k) const {
    return device_->numbers() == cuda::CellNumbers::list ? static_cast<std::uint32_t>(k) : cells_.list[k];
  }
  [[nodiscard]] std::size_t voxel(std::size_t k) const {
    return cells_.box.voxel(cells_.box.index(cells_.list[k])).index();
  }
  /// The cell of the box that has a number on the device.
  [[nodiscard]] std::uint32_t cell(GlobalVertexId number) const {
    return device_->numbers() == cuda::CellNumbers::list ? cells_.list[number.index()]
                                                         : static_cast<std::uint32_t>(number.value);
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

  /// Whose voxel each of the device's cells is.
  const cuda::DeviceArray<std::uint32_t>& owners() {
    if (owners_.size() > 0) return owners_;
    std::vector<std::uint32_t> owners(device_->cell_count(), cuda::nobody);
    for (std::size_t k = 0; k < cells_.list.size(); ++k) owners[number(k)] = static_cast<std::uint32_t>(voxel(k));
    owners_ = cuda::DeviceArray<std::uint32_t>(std::span<const std::uint32_t>(owners));
    return owners_;
  }

  const ImageGrid& grid_;
  const Problem& problem_;
  const GridCells& cells_;
  int threads_;
  std::unique_ptr<cuda::DeviceGrid<T>> device_;
  std::vector<std::vector<T>> fetched_;      ///< times of layers on the host, by cell number
  cuda::DeviceArray<std::uint32_t> owners_;  ///< from the first times on that stay on the device
};

}  // namespace isochron
