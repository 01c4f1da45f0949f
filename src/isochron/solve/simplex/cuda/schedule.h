// Schedules on a CUDA device that work on a problem prepared by the host: the papers' schemes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "isochron/solve/options.h"
#include "isochron/solve/simplex/problem.h"
#include "isochron/solve/simplex/state.h"

namespace isochron::cuda {

/// A prepared problem in device memory. Solving again uploads nothing but the times.
template <class T, int Corners>
class DeviceSchedule {
 public:
  virtual ~DeviceSchedule() = default;
  /// Brings `state.time` to the fixed point. Throws RuntimeError when the device fails.
  virtual void run(SolveState<T>& state) = 0;
};

/// Each copies what a solve needs to the device. Throws RuntimeError when there is no device or its memory does not do,
/// UsageError when an option cannot be met.
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_patch_fim(const SimplexProblem<T, Corners>& problem,
                                                           const SimplexMesh<Corners>& mesh,
                                                           const SchemeOptions& options);
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_active_list(const SimplexProblem<T, Corners>& problem,
                                                             const SimplexMesh<Corners>& mesh,
                                                             const SchemeOptions& options);
template <class T, int Corners>
std::unique_ptr<DeviceSchedule<T, Corners>> make_domain_decomposition(const SimplexProblem<T, Corners>& problem,
                                                                      const SimplexMesh<Corners>& mesh,
                                                                      const SchemeOptions& options);

/// Numbers of the schedule for surfaces, found by measuring on compute capability 9.0 (bench/NOTES.md).
struct SurfaceTuning {
  std::uint32_t patch_vertices = 512;  ///< a power of two; at most what the largest block holds
  std::uint32_t hops = 1;              ///< of a block in a patch before others learn of it
  std::uint32_t warp_hops = 2;         ///< of a warp by itself in one of these
  int blocks_per_multiprocessor = 1;
  double band_width = 8;  ///< patches whose news differ by less than this many edges are taken in any order
};

/// Device memory that a surface takes, about: a record for every corner, half as many empty places, and the vertices'
/// own.
constexpr std::size_t surface_bytes(std::size_t vertices, std::size_t elements, std::size_t scalar_bytes) {
  return elements * 3 * (4 + 5 * scalar_bytes) * 3 / 2 + vertices * (24 + 4 * scalar_bytes);
}

/// Triangles in patches that blocks solve in shared memory: what `push` does on surfaces. Without `tuning` it takes
/// what suits the device.
template <class T>
std::unique_ptr<DeviceSchedule<T, 3>> make_surface(const SimplexProblem<T, 3>& problem, const SimplexMesh<3>& mesh,
                                                   const std::optional<SurfaceTuning>& tuning = {});

}  // namespace isochron::cuda
