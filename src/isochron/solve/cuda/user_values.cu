#include "isochron/solve/cuda/user_values.h"

#include <limits>

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/fill.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"

namespace isochron::cuda {
namespace {

template <class T>
__global__ void user_times(const T* time, const std::uint32_t* owner, std::size_t count, double unit, double base,
                           double* result) {
  const std::size_t i = thread_number();
  if (i < count && owner[i] != nobody) result[owner[i]] = static_cast<double>(time[i]) * unit + base;
}

template <class Label>
__global__ void label_finite(const double* times, std::size_t count, Label label, Label* result) {
  const std::size_t i = thread_number();
  if (i < count) result[i] = isinf(times[i]) ? Label(-1) : label;
}

struct Reached {
  unsigned long long count;
  double latest;
};
struct AsReached {
  __host__ __device__ Reached operator()(double time) const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    return time < inf && time > -inf ? Reached{1, time} : Reached{0, -inf};
  }
};
struct Join {
  __host__ __device__ Reached operator()(const Reached& a, const Reached& b) const {
    return {a.count + b.count, a.latest > b.latest ? a.latest : b.latest};
  }
};

}  // namespace

template <class T>
void to_user_times(const T* time, const std::uint32_t* owner, std::size_t count, double unit, double base,
                   DeviceArray<double>& result) {
  launch_for(count, user_times<T>, time, owner, count, unit, base, result.data());
}

void fill_times(DeviceArray<double>& times, double value) { fill(times, times.size(), value); }

void label_reached(const DeviceArray<double>& times, std::int32_t label, DeviceArray<std::int32_t>& result) {
  launch_for(times.size(), label_finite<std::int32_t>, times.data(), times.size(), label, result.data());
}

void summarise(const DeviceArray<double>& times, Arrival& arrival) {
  DeviceValue<Reached> found;
  const auto values = thrust::make_transform_iterator(times.data(), AsReached());
  with_scratch("counting who was reached", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, values, found.data(), static_cast<std::int64_t>(times.size()),
                                     Join(), Reached{0, -std::numeric_limits<double>::infinity()});
  });
  const Reached reached = found.read();
  arrival.reached = reached.count;
  arrival.unreached = times.size() - reached.count;
  arrival.max_time = reached.latest;
}

template void to_user_times(const float*, const std::uint32_t*, std::size_t, double, double, DeviceArray<double>&);
template void to_user_times(const double*, const std::uint32_t*, std::size_t, double, double, DeviceArray<double>&);

}  // namespace isochron::cuda
