// Results in the user's numbering in device memory. This header needs no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/arrival.h"
#include "isochron/device.h"

namespace isochron::cuda {

/// In a list of whose each place is: nobody's.
inline constexpr std::uint32_t nobody = 0xffffffffU;

/// Puts unit · time + base of each of `count` places where its owner's time is.
template <class T>
void to_user_times(const T* time, const std::uint32_t* owner, std::size_t count, double unit, double base,
                   DeviceArray<double>& result);

/// One time for all.
void fill_times(DeviceArray<double>& times, double value);

/// `label` where something arrived, else −1.
void label_reached(const DeviceArray<double>& times, std::int32_t label, DeviceArray<std::int32_t>& result);

/// Sets what `summarise` sets on the host. Waits for the device, so that the times are complete.
void summarise(const DeviceArray<double>& times, Arrival& arrival);

}  // namespace isochron::cuda
