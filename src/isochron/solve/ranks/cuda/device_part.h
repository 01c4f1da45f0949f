// One rank's part of a mesh or an image in the memory of its GPU, and the steps that a solve on it is made of. This
// header needs no CUDA.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "isochron/solve/ranks/cuda/border_lanes.h"
#include "isochron/solve/simplex/problem.h"

namespace isochron::ranks {

/// What a part has left to do, and what it has done since it was cleared.
template <class T>
struct PartStanding {
  std::uint32_t near = 0;                            ///< vertices that wait before the horizon
  std::uint32_t far = 0;                             ///< and behind it; some may have been pushed from meanwhile
  T far_least = std::numeric_limits<T>::infinity();  ///< no vertex that waits behind the horizon is earlier
  std::uint32_t changed = 0;                         ///< border times that `push` has found
  std::uint64_t solves = 0, updates = 0, rounds = 0;
};

/// Times only fall. A vertex whose time falls waits until it has been pushed from: before the horizon, or behind it
/// until the horizon has moved past it. Only own vertices are pushed to.
template <class T>
class DevicePart {
 public:
  DevicePart() = default;
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;
  virtual ~DevicePart() = default;

  /// No vertex has a time, and the horizon is at zero. Gains are measured by this tolerance from now on.
  virtual void clear(T tolerance) = 0;
  /// Lowers times. Vertices whose time is now countably earlier than when they were last pushed from wait.
  virtual void lower(std::span<const std::uint32_t> vertices, std::span<const T> times) = 0;
  /// The same of a message in device memory, which may go when it returns.
  virtual void lower(const DeviceMessage& message) = 0;
  /// Moves the horizon on to a later time.
  virtual void open(T horizon) = 0;
  /// Rounds of pushes from all that waits before the horizon, as long as something does; then finds the border times
  /// before the horizon that have changed since they were last found.
  virtual void push(std::uint32_t rounds) = 0;
  /// After everything above.
  [[nodiscard]] virtual PartStanding<T> standing() = 0;
  /// The first so many border times that the last `push` has found.
  virtual void changed(std::vector<BorderTime<T>>& result, std::uint32_t count) = 0;
  /// The same, by neighbour, as messages in device memory that last until the next `push`.
  virtual std::vector<PackedMessage> pack(std::uint32_t count) = 0;
  virtual void times(std::span<T> result) = 0;
};

/// Copies what a solve needs of the part to the current device. The first `owned` vertices are its own. Throws
/// DeviceError when there is no device or its memory is too small.
template <class T, int Corners>
std::unique_ptr<DevicePart<T>> make_device_part(const SimplexProblem<T, Corners>& problem, std::uint32_t owned,
                                                const Halo& halo);

}  // namespace isochron::ranks
