#include "isochron/solve/grid/cuda/speed_scale.h"

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"
#include "isochron/solve/cuda/user_values.h"

namespace isochron::cuda {
namespace {

struct OfVoxel {
  const double* speed;
  __device__ SpeedSums operator()(std::uint32_t voxel) const {
    if (voxel == nobody) return {0, 0};
    const double f = speed[voxel];
    return f > 0 && isfinite(f) ? SpeedSums{1 / f, 0} : SpeedSums{0, 1};
  }
};
struct Add {
  __host__ __device__ SpeedSums operator()(const SpeedSums& a, const SpeedSums& b) const {
    return {a.slowness + b.slowness, a.bad + b.bad};
  }
};

template <class Scale>
__global__ void write_scale(const double* speed, const std::uint32_t* voxel, std::size_t cells, double factor,
                            Scale* scale, unsigned* bad) {
  const std::size_t i = thread_number();
  if (i >= cells) return;
  if (voxel[i] == nobody) {
    scale[i] = 0;
    return;
  }
  const double f = speed[voxel[i]];
  const auto value = static_cast<Scale>(factor * f * f);
  if (!(value > 0) || !isfinite(value)) *bad = 1;
  scale[i] = value;
}

}  // namespace

SpeedSums add_up_speeds(const double* speed, const DeviceArray<std::uint32_t>& voxel) {
  DeviceArray<SpeedSums> sums(1);
  const auto values = thrust::make_transform_iterator(voxel.data(), OfVoxel{speed});
  with_scratch("adding up", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, values, sums.data(), static_cast<std::int64_t>(voxel.size()),
                                     Add(), SpeedSums{});
  });
  SpeedSums result;
  sums.download_to(std::span<SpeedSums>(&result, 1));
  return result;
}

bool write_scales(const double* speed, const DeviceArray<std::uint32_t>& voxel, double factor,
                  DeviceArray<float>& scale) {
  DeviceValue<unsigned> bad;
  launch_for(voxel.size(), write_scale<float>, speed, voxel.data(), voxel.size(), factor, scale.data(), bad.data());
  return bad.read() == 0;
}

}  // namespace isochron::cuda
