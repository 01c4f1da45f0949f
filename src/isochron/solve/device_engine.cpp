#include "isochron/solve/device_engine.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/domain.h"
#include "isochron/error.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/start.h"
#include "isochron/solve/cuda/user_values.h"
#include "isochron/solve/source_set.h"

namespace isochron {

void DeviceEngine::solve(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take) {
  const std::size_t sets = seed_sets.size();
  for (std::size_t done = 0; done < sets;) {
    const std::size_t count = plan_.keep_on_device ? 1 : std::min(sets - done, adapter_.layers_that_fit());
    if (options_.progress.cancelled()) throw Cancelled();
    std::vector<StartSeeds> layers;
    for (std::size_t i = done; i < done + count; ++i)
      layers.push_back(for_source_set(i, sets, [&] { return adapter_.start(seed_sets[i]); }));
    Arrival common = solve_layers(layers);
    if (plan_.keep_on_device) {
      keep_on_device(layers[0], common);
      take(done, std::move(common));
    } else {
      read_layers(layers, common,
                  [&](std::size_t layer, Arrival&& arrival) { take(done + layer, std::move(arrival)); });
    }
    done += count;
    options_.progress.update(static_cast<double>(done) / static_cast<double>(sets));
  }
}

Residual DeviceEngine::residual(std::span<const double> times, const std::vector<Seed>& seeds) {
  const StartSeeds start = adapter_.start(seeds);
  // The choice of second-order differences is that of the first-order times.
  if (plan_.order == 2) (void)solve_layers({&start, 1});
  adapter_.load_times(times, start.base);
  return adapter_.residual(0, start, residual_tolerances * tolerance_);
}

/// What the results of all layers have in common.
Arrival DeviceEngine::solve_layers(std::span<const StartSeeds> layers) {
  Arrival common;
  const Timer whole;
  double seconds = 0;
  common.counters = adapter_.solve(layers, tolerance_, options_.band_width, seconds);
  common.counters.local_solves /= layers.size();  // each layer's share; the rounds are common to all
  common.counters.vertex_updates /= layers.size();
  common.solve_seconds = seconds / static_cast<double>(layers.size());
  common.transfer_seconds = (whole.seconds() - seconds) / static_cast<double>(layers.size());
  common.method = plan_.method;
  common.backend = Backend::cuda;
  common.precision = adapter_.precision();
  common.device_bytes = adapter_.device_bytes();
  common.converged = adapter_.converged();
  return common;
}

void DeviceEngine::keep_on_device(const StartSeeds& start, Arrival& arrival) {
  arrival.on_device = std::make_shared<DeviceResult>();
  DeviceResult& result = *arrival.on_device;
  const Timer copying;
  result.times = cuda::DeviceArray<double>(adapter_.user_count());
  adapter_.write_times(0, start.base, result.times);
  cuda::summarise(result.times, arrival);
  arrival.transfer_seconds += copying.seconds();
  check(0, start, arrival);
  if (options_.sources == Keep::yes) {
    result.source = cuda::DeviceArray<std::int32_t>(adapter_.user_count());
    if (const std::int32_t only = only_source(start.seeds); only >= 0)
      cuda::label_reached(result.times, only, result.source);
    else adapter_.write_labels(0, start, result.source);
    cuda::wait();
  }
  result.device = cuda::current_device();
}

/// Only this thread uses the device; the results are made by all readers.
void DeviceEngine::read_layers(std::span<const StartSeeds> layers, const Arrival& common, const TakeArrival& take) {
  const int readers = std::max(1, adapter_.readers());
  const struct Room {
    DeviceAdapter& adapter;
    ~Room() { adapter.make_room(0); }
  } room{adapter_};
  adapter_.make_room(std::min<std::size_t>(readers, layers.size()));
  for (std::size_t first = 0; first < layers.size(); first += static_cast<std::size_t>(readers)) {
    const std::size_t group = std::min<std::size_t>(readers, layers.size() - first);
    std::vector<Arrival> arrivals(group, common);
    for (std::size_t i = 0; i < group; ++i) {
      const Timer copying;
      adapter_.fetch(first + i);
      arrivals[i].transfer_seconds += copying.seconds();
      check(first + i, layers[first + i], arrivals[i]);
    }
    parallel_region(static_cast<int>(group), [&](int thread, int granted) {
      for (auto i = static_cast<std::size_t>(thread); i < group; i += static_cast<std::size_t>(granted))
        read_layer(first + i, layers[first + i], group == 1 ? readers : 1, arrivals[i]);
    });
    for (std::size_t i = 0; i < group; ++i) take(first + i, std::move(arrivals[i]));
  }
}

void DeviceEngine::read_layer(std::size_t layer, const StartSeeds& start, int threads, Arrival& arrival) {
  const Timer copying;
  // Large arrays are set to zero faster than to anything else.
  if (adapter_.reads_all()) arrival.times.resize(adapter_.user_count());
  else arrival.times.assign(adapter_.user_count(), std::numeric_limits<double>::infinity());
  adapter_.read_times(layer, start.base, threads, arrival.times);
  arrival.transfer_seconds += copying.seconds();
  adapter_.summarise_times(arrival);
  if (options_.sources == Keep::no) return;
  arrival.source.assign(arrival.times.size(), -1);
  const std::int32_t only = only_source(start.seeds);
  if (only < 0) adapter_.read_labels(layer, start, threads, arrival.source);
  else
    parallel_for(threads, arrival.times.size(), [&](std::size_t v) {
      if (arrival.times[v] < std::numeric_limits<double>::infinity()) arrival.source[v] = only;
    });
}

void DeviceEngine::check(std::size_t layer, const StartSeeds& start, Arrival& arrival) {
  if (options_.verify == Keep::no) return;
  arrival.residual = adapter_.residual(layer, start, residual_tolerances * tolerance_);
  if (!arrival.residual->passed()) arrival.converged = false;
}

}  // namespace isochron
