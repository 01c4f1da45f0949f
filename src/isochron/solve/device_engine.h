// Solves that run on the GPU from seeds to times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/capabilities.h"
#include "isochron/device.h"
#include "isochron/solve/common/arrival_parts.h"
#include "isochron/solve/common/seed.h"

namespace isochron {

/// A mesh or image that is kept prepared in device memory between solves; the host only sends seeds and gets times.
/// Several independent solves on it, its layers, may run at once. Throws DeviceError when the device fails or its
/// memory is too small.
///
/// For results on the host the engine calls `make_room(n)` after a solve, then for n layers after another `fetch` of
/// each, and then, in up to n threads at once, `read_times`, `summarise_times` and `read_labels`; at the end
/// `make_room(0)`.
class DeviceAdapter {
 public:
  virtual ~DeviceAdapter() = default;
  /// Vertices or voxels.
  [[nodiscard]] virtual std::size_t user_count() const = 0;
  [[nodiscard]] virtual Precision precision() const = 0;
  /// Device memory that is held now.
  [[nodiscard]] virtual std::size_t device_bytes() const = 0;
  /// Layers that one `solve` takes now.
  [[nodiscard]] virtual std::size_t layers_that_fit() const = 0;

  /// The seeds of a layer, in the unit and with the vertex numbers that the functions below take.
  [[nodiscard]] virtual StartSeeds start(std::span<const Seed> seeds) const = 0;
  /// Returns the work of all layers; seconds of the kernels alone go to `seconds`.
  virtual Counters solve(std::span<const StartSeeds> layers, double tolerance, double band_width, double& seconds) = 0;
  /// Whether the last solve came to its end.
  [[nodiscard]] virtual bool converged() const { return true; }
  /// Puts given times (user's numbering) in place of the first layer's.
  virtual void load_times(std::span<const double> times, double base) = 0;
  /// The fixed-point check of a layer.
  virtual Residual residual(std::size_t layer, const StartSeeds& start, double limit) = 0;

  /// The times of a layer in device memory, in the user's numbering.
  virtual void write_times(std::size_t layer, double base, cuda::DeviceArray<double>& result) = 0;
  /// The source of every vertex or voxel, −1 where nothing arrived; needed where there are several sources.
  virtual void write_labels(std::size_t layer, const StartSeeds& start, cuda::DeviceArray<std::int32_t>& result) = 0;

  /// Threads that may read a layer each at once. With one it is the engine's own, which may also use the device.
  [[nodiscard]] virtual int readers() const { return 1; }
  /// Makes room on the host for so many fetched layers; 0 gives it back.
  virtual void make_room(std::size_t /*layers*/) {}
  /// Whether `read_times` writes the times of all vertices or voxels.
  [[nodiscard]] virtual bool reads_all() const { return true; }
  /// Counts the reached and finds the latest of them.
  virtual void summarise_times(Arrival& arrival) const { summarise(arrival); }
  /// Copies to the host what the two below need, in place of an earlier layer if there is no more room.
  virtual void fetch(std::size_t /*layer*/) {}
  /// Of all vertices or voxels; or only of those that a front may reach, where `result` is +inf everywhere before.
  virtual void read_times(std::size_t layer, double base, int threads, std::span<double> result) = 0;
  /// `result` is −1 everywhere before.
  virtual void read_labels(std::size_t layer, const StartSeeds& start, int threads, std::span<std::int32_t> result) = 0;
};

/// Solves on a device: batches of as many layers as its memory allows. `Arrival::upwind` is not filled. For one call:
/// what it is made of must outlive it.
class DeviceEngine {
 public:
  DeviceEngine(DeviceAdapter& adapter, const Plan& plan, const SolveOptions& options)
      : adapter_(adapter), plan_(plan), options_(options), tolerance_(plan.tolerance(adapter.precision())) {}

  /// Solves for each set of seeds. An InputError names its set.
  void solve(std::span<const std::vector<Seed>> seed_sets, const TakeArrival& take);
  /// The fixed-point check of times in the user's numbering.
  Residual residual(std::span<const double> times, const std::vector<Seed>& seeds);

 private:
  Arrival solve_layers(std::span<const StartSeeds> layers);
  void keep_on_device(const StartSeeds& start, Arrival& arrival);
  void read_layers(std::span<const StartSeeds> layers, const Arrival& common, const TakeArrival& take);
  void read_layer(std::size_t layer, const StartSeeds& start, int threads, Arrival& arrival);
  void check(std::size_t layer, const StartSeeds& start, Arrival& arrival);

  DeviceAdapter& adapter_;
  const Plan& plan_;
  const SolveOptions& options_;
  double tolerance_;
};

}  // namespace isochron
