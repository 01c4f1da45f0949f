// Border times packed on the device into messages to the neighbours. This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/dist/halo.h"

namespace isochron::ranks {

/// A time that the ranks with copies of a border vertex do not have yet.
template <class T>
struct BorderTime {
  std::uint32_t border;  ///< its place in the border
  T time;
};

/// A message in device memory, as `Outbox` sends it; no bytes when there is nothing to say.
struct PackedMessage {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};

template <class T>
class BorderLanes {
 public:
  explicit BorderLanes(const Halo& halo);
  /// The messages of so many changed times in device memory, by neighbour. They are there when it returns, and last
  /// until it is called again. No border vertex may be there twice.
  std::vector<PackedMessage> pack(const BorderTime<T>* changed, std::uint32_t count);

 private:
  cuda::DeviceArray<std::uint32_t> offsets_;  ///< as in `Halo`
  cuda::DeviceArray<HaloCopy> copies_;
  std::vector<std::uint32_t> begins_;  ///< by neighbour: values before its lane, for as many as it can ever get
  cuda::DeviceArray<std::uint32_t> device_begins_;
  cuda::DeviceArray<std::uint32_t> counts_;  ///< by neighbour: values for it; behind them those that are packed
  cuda::DeviceArray<std::byte> packed_;
};

}  // namespace isochron::ranks
