// Arrival times on an image whose stencils lie in the memory of a CUDA device: the host sends seeds and gets times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isochron/arrival.h"
#include "isochron/device.h"
#include "isochron/solve/common/limits.h"
#include "isochron/solve/common/seed.h"
#include "isochron/solve/grid/stencils.h"

namespace isochron::cuda {

/// How the device numbers cells.
enum class CellNumbers {
  box,  ///< as `GridBox` does, with the border and what is masked out: neighbours are computed
  list  ///< by their place in `GridCells::list`: neighbours are stored, and masked-out cells cost nothing
};

/// Several independent solves on one image, its layers, go at once. The vertices of seeds are cells (device's numbers);
/// times are in the problem's unit.
template <class T>
class DeviceGrid {
 public:
  static constexpr std::size_t max_layers = 128;

  virtual ~DeviceGrid() = default;
  [[nodiscard]] virtual CellNumbers numbers() const = 0;
  [[nodiscard]] virtual std::size_t cell_count() const = 0;  ///< numbers from 0 on
  [[nodiscard]] virtual std::size_t device_bytes() const = 0;
  /// Layers that fit the memory now, at most `max_layers`.
  [[nodiscard]] virtual std::size_t layers_that_fit() const = 0;
  /// Brings every layer to the first-order fixed point, and to the order asked for. Gives the work of all; seconds of
  /// the kernels alone go to `seconds`. `band_width` is in mean shortest steps, 0: tuned.
  virtual Counters solve(std::span<const StartSeeds> layers, T tolerance, double band_width, double& seconds) = 0;
  /// Whether the last solve came to its end.
  [[nodiscard]] virtual bool converged() const { return true; }
  /// The times of a layer of the last solve, one per cell number.
  virtual void times(std::size_t layer, std::span<T> result) const = 0;
  /// The same where they are, in device memory.
  [[nodiscard]] virtual const T* times(std::size_t layer) const = 0;
  /// Puts given times in place of the first layer's; of order 2 the choice of differences stays that of the last solve.
  virtual void load_times(std::span<const T> times) = 0;
  /// |u − update(u)| at every allowed cell of a layer; seeds may be earlier than their stencils say, not later.
  /// `worst_vertex` is a cell number.
  virtual Residual residual(std::size_t layer, std::span<const Seed> seeds, double limit) = 0;
  /// Other speeds on the same image, for what `make_speed_grid` has made.
  virtual void set_scale(DeviceArray<float>&& /*scale*/, T /*mean_edge*/) {}
  /// Gives up after so many rounds; 0: as many as theory says (`max_rounds`).
  void limit_rounds(std::uint32_t rounds) { limit_ = rounds; }

 protected:
  [[nodiscard]] std::uint32_t most_rounds() const { return limit_ > 0 ? limit_ : max_rounds({cell_count()}); }

 private:
  std::uint32_t limit_ = 0;
};

/// Device memory that an image takes with one layer, about, before its stencils are known.
constexpr std::size_t device_grid_bytes(std::size_t allowed_cells, std::size_t box_cells, std::size_t scalar_bytes,
                                        int order) {
  const bool second = order == 2;
  const std::size_t pass = second ? 3 * scalar_bytes + 14 : 0;  // its times, the sort's arrays and copies, marks
  const std::size_t a_layer = 2 * scalar_bytes + 12 + pass;
  const std::size_t listed = allowed_cells * (80 + 64 + 48 + (second ? 48 : 0) + a_layer);  // record, dependents, edges
  const std::size_t boxed = 2 * allowed_cells < box_cells ? 0 : box_cells * (1 + 12 + a_layer);
  return listed > boxed ? listed : boxed;
}

/// Copies the stencils to the device, for solves of order 1 or 2; the problem is not needed afterwards. Throws
/// DeviceError when there is no device or its memory is too small.
template <class Problem>
std::unique_ptr<DeviceGrid<typename Problem::Scalar>> make_device_grid(const Problem& problem, int order, int threads);

/// The same for speeds: the problem has no scales, which are on the device.
template <class T, int Dim>
std::unique_ptr<DeviceGrid<T>> make_speed_grid(const AxisProblem<T, Dim>& problem, DeviceArray<float>&& scale,
                                               int order);

}  // namespace isochron::cuda
