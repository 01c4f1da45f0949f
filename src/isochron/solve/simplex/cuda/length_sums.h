// What is summed up over all lengths of a mesh on the device. For .cu files only.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "isochron/device.h"
#include "isochron/solve/simplex/cuda/mesh_solver.h"

namespace isochron::cuda {

/// What a lane has seen of lengths.
struct LaneSums {
  double shortest = 1e300, longest = 0;  ///< squared
  unsigned obtuse = 0;
  double edges = 0;
  double fastest = 1e300;  ///< squared: of the longest edges at a vertex, one an element, the shortest

  __device__ void see(double squared) {
    if (squared > 0 && squared < shortest) shortest = squared;
    if (squared > longest) longest = squared;
  }
  /// Of an element at a vertex: its longest edge from there (squared), and another.
  __device__ void see_at_vertex(double longest_squared, double squared) {
    if (longest_squared > 0 && longest_squared < fastest) fastest = longest_squared;
    edges += sqrt(squared);
  }
  /// Of a vertex whose elements all have been seen: turns `edges` into their mean. Returns the local edge travel time,
  /// that of the fast side where a vertex lies beside slow elements.
  __device__ double finish_vertex(std::uint64_t elements) {
    if (elements > 0) edges /= static_cast<double>(elements);
    const double fast = 2 * sqrt(fastest);
    return fast < edges ? fast : edges;
  }
  /// Every lane of the warp then has what all of them have seen.
  __device__ void join_warp() {
    for (unsigned step = 16; step > 0; step /= 2) {
      const double other_shortest = __shfl_xor_sync(0xffffffffU, shortest, step);
      const double other_longest = __shfl_xor_sync(0xffffffffU, longest, step);
      const double other_fastest = __shfl_xor_sync(0xffffffffU, fastest, step);
      if (other_shortest < shortest) shortest = other_shortest;
      if (other_fastest < fastest) fastest = other_fastest;
      if (other_longest > longest) longest = other_longest;
      obtuse += __shfl_xor_sync(0xffffffffU, obtuse, step);
      edges += __shfl_xor_sync(0xffffffffU, edges, step);
    }
  }
};

/// One of several places where lanes add what they have seen, so that they seldom meet.
struct LengthSums {
  unsigned long long shortest, longest;  ///< squared lengths as bits of doubles, which order like them
  unsigned long long obtuse;
  double edges;

  __device__ void add(const LaneSums& lane) {
    // Read first: most values change nothing, and a read is not a queue.
    if (lane.edges > 0) atomicAdd(&edges, lane.edges);
    if (lane.obtuse > 0) atomicAdd(&obtuse, static_cast<unsigned long long>(lane.obtuse));
    const auto short_bits = static_cast<unsigned long long>(__double_as_longlong(lane.shortest));
    const auto long_bits = static_cast<unsigned long long>(__double_as_longlong(lane.longest));
    if (short_bits < shortest) atomicMin(&shortest, short_bits);
    if (long_bits > longest) atomicMax(&longest, long_bits);
  }
};

/// The places, and their sum.
class AllLengthSums {
 public:
  static constexpr unsigned places = 256;

  AllLengthSums()
      : sums_(std::span<const LengthSums>(std::vector<LengthSums>(places, {0x7fefffffffffffffULL, 0, 0, 0}))) {}
  [[nodiscard]] LengthSums* data() { return sums_.data(); }
  [[nodiscard]] MeshSummary summary(double unit, std::size_t vertices) const {
    std::vector<LengthSums> sums(places);
    sums_.download_to(std::span<LengthSums>(sums));
    MeshSummary summary;
    summary.unit = unit;
    double shortest = 1.7e308, longest = 0, edges = 0;
    for (const LengthSums& part : sums) {
      shortest = std::min(shortest, std::bit_cast<double>(part.shortest));
      longest = std::max(longest, std::bit_cast<double>(part.longest));
      summary.obtuse_corners += part.obtuse;
      edges += part.edges;
    }
    summary.shortest = std::sqrt(shortest);
    summary.longest = std::sqrt(longest);
    summary.mean_edge = edges > 0 ? edges / static_cast<double>(vertices) : 1;
    return summary;
  }

 private:
  DeviceArray<LengthSums> sums_;
};

}  // namespace isochron::cuda
