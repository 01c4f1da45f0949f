#include "isochron/solve/simplex/cuda/curve_order.h"

#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include "isochron/core/cuda/device_value.h"
#include "isochron/core/cuda/launch.h"
#include "isochron/core/cuda/scratch.h"
#include "isochron/mesh/ordering.h"

namespace isochron::cuda {
namespace {

__device__ const HilbertTable<2> flat_curve;
__device__ const HilbertTable<3> solid_curve;

__global__ void check_points(const Vec3d* points, std::size_t count, unsigned* bad) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const Vec3d p = points[i];
  if (!(isfinite(p.x) && isfinite(p.y) && isfinite(p.z))) *bad = 1;
}

struct Box {
  Vec3d low, high;
};
struct Join {
  __host__ __device__ Box operator()(const Box& a, const Box& b) const {
    Box c;
    for (int k = 0; k < 3; ++k) {
      c.low[k] = a.low[k] < b.low[k] ? a.low[k] : b.low[k];
      c.high[k] = a.high[k] > b.high[k] ? a.high[k] : b.high[k];
    }
    return c;
  }
};
struct AsBox {
  __host__ __device__ Box operator()(const Vec3d& p) const { return {p, p}; }
};

Box bounding_box(const DeviceArray<Vec3d>& points) {
  DeviceValue<Box> box;
  const auto boxes = thrust::make_transform_iterator(points.data(), AsBox());
  const Box nothing{{1e300, 1e300, 1e300}, {-1e300, -1e300, -1e300}};
  with_scratch("measuring the mesh", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Reduce(scratch, bytes, boxes, box.data(), static_cast<std::int64_t>(points.size()),
                                     Join(), nothing);
  });
  return box.read();
}

/// Puts two zeros between the low 21 bits.
__device__ inline std::uint64_t spread(std::uint64_t x) {
  x &= 0x1fffffULL;
  x = (x | x << 32) & 0x1f00000000ffffULL;
  x = (x | x << 16) & 0x1f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  return (x | x << 2) & 0x1249249249249249ULL;
}

__global__ void morton_keys(const Vec3d* points, std::size_t count, Box box, std::uint64_t* key, std::uint32_t* id) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  const Vec3d size = box.high - box.low;
  double longest = size.x > size.y ? size.x : size.y;
  if (size.z > longest) longest = size.z;
  const double scale = longest > 0 ? 2097151.0 / longest : 0;
  const Vec3d p = scale * (points[i] - box.low);
  key[i] = spread(static_cast<std::uint64_t>(p.x)) | spread(static_cast<std::uint64_t>(p.y)) << 1 |
           spread(static_cast<std::uint64_t>(p.z)) << 2;
  id[i] = static_cast<std::uint32_t>(i);
}

__global__ void hilbert_keys(const Vec3d* points, std::size_t count, CurveFrame frame, std::uint64_t* key,
                             std::uint32_t* id) {
  const std::size_t i = thread_number();
  if (i >= count) return;
  key[i] = frame.dim == 2 ? frame.key(flat_curve, points[i]) : frame.key(solid_curve, points[i]);
  id[i] = static_cast<std::uint32_t>(i);
}

__global__ void invert(const std::uint32_t* new_to_old, std::size_t count, std::uint32_t* old_to_new) {
  const std::size_t i = thread_number();
  if (i < count) old_to_new[new_to_old[i]] = static_cast<std::uint32_t>(i);
}

__global__ void reorder(const Vec3d* points, const std::uint32_t* new_to_old, std::size_t count, Vec3d* result) {
  const std::size_t i = thread_number();
  if (i < count) result[i] = points[new_to_old[i]];
}

}  // namespace

CurveOrder order_along(Curve curve, std::span<const Vec3d> points) {
  return order_along(curve, DeviceArray<Vec3d>(points));
}

CurveOrder order_along(Curve curve, const DeviceArray<Vec3d>& points) {
  const std::size_t count = points.size();
  CurveOrder order;
  order.old_to_new = DeviceArray<std::uint32_t>(count);
  order.new_to_old = DeviceArray<std::uint32_t>(count);
  DeviceValue<unsigned> bad;
  launch_for(count, check_points, points.data(), count, bad.data());
  const Box box = bounding_box(points);
  order.all_finite = bad.read() == 0;
  if (!order.all_finite) return order;
  DeviceArray<std::uint64_t> key(count), sorted(count);
  DeviceArray<std::uint32_t> id(count);
  int bits = 63;
  if (curve == Curve::morton) {
    launch_for(count, morton_keys, points.data(), count, box, key.data(), id.data());
  } else {
    const CurveFrame frame = curve_frame(box.low, box.high, count, CurveDetail::points);
    bits = frame.bits * frame.dim;
    launch_for(count, hilbert_keys, points.data(), count, frame, key.data(), id.data());
  }
  with_scratch("ordering vertices", [&](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, key.data(), sorted.data(), id.data(),
                                           order.new_to_old.data(), static_cast<std::int64_t>(count), 0, bits);
  });
  launch_for(count, invert, order.new_to_old.data(), count, order.old_to_new.data());
  order.points = DeviceArray<Vec3d>(count);
  launch_for(count, reorder, points.data(), order.new_to_old.data(), count, order.points.data());
  return order;
}

}  // namespace isochron::cuda
