// Second-order times on the device, from first-order ones: see grid/second_order.h. For .cu files only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/device.h"
#include "isochron/solve/common/residual.h"
#include "isochron/solve/grid/cuda/stencil_views.h"

namespace isochron::cuda {

/// What a pass over one layer needs beside its times.
template <class T>
struct SecondOrderMemory {
  /// Memory that `make_room` takes for so many cells.
  static std::size_t bytes_for(std::size_t cells);
  /// Nothing when there is room already.
  void make_room(std::size_t cell_count);
  [[nodiscard]] std::size_t bytes() const {
    return sorted.bytes() + cells.bytes() + order.bytes() + ticket.bytes() + scratch.bytes();
  }

  DeviceArray<T> sorted;
  DeviceArray<std::uint32_t> cells, order;
  DeviceArray<unsigned long long> ticket{1};
  DeviceArray<std::byte> scratch;
};

/// The second-order times of a layer, one update a cell in the order of the first-order ones. Seeds that no other one
/// made earlier keep their times, others are not later than their own. There must be room in `memory`.
template <class T, class View>
void second_order_times(const View& view, const T* first, const SeedTime<T>* seeds, std::size_t seed_count,
                        SecondOrderMemory<T>& memory, T* second);

/// |u − update(u)| of second-order times, the worst in `worst`; `seeded` marks the seeds, whose own times are checked
/// elsewhere.
template <class T, class View>
void second_order_residual(const View& view, const T* first, const T* second, const SeedTime<T>* seeds,
                           std::size_t seed_count, const std::uint8_t* seeded, unsigned long long* worst);

}  // namespace isochron::cuda
