// What a solve gives back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isochron/options.h"
#include "isochron/types.h"

namespace isochron {

/// Work done, counted as the papers count it.
struct Counters {
  std::uint64_t local_solves = 0;     ///< updates of one corner of one element
  std::uint64_t vertex_updates = 0;   ///< vertices processed (pushed from or recomputed), repeats included
  std::uint64_t rounds = 0;           ///< passes over the active list, sweeps, or bands
  std::uint64_t heap_operations = 0;  ///< fmm: insertions, moves and removals
  double mean_heap_size = 0;          ///< fmm: averaged over the removals
  std::uint64_t element_bytes = 0;    ///< patch_fim on meshes: of device memory that its layout of the elements takes
  double layout_seconds = 0;          ///< patch_fim, cell assembly: what the GPU took to make it of the uploaded mesh
};

/// Where the first arrival at a vertex came from: up to three vertices (of one element) and their barycentric weights.
struct Upwind {
  std::array<VertexId, 3> vertices{};
  std::array<float, 3> weights{};
};

/// Two checks of times that do not depend on each other.
struct Residual {
  double worst = 0;             ///< largest |u(v) − update(v)|, in local edge travel times, outside the sources
  double limit = 0;             ///< what counts as passed
  GlobalVertexId worst_vertex;  ///< where
  /// Largest share by which a time since the first onset is below what the largest speed takes along a straight line.
  double share_below = 0;
  double max_share_below = 0;   ///< what counts as passed
  GlobalVertexId vertex_below;  ///< where

  [[nodiscard]] bool settled() const { return worst <= limit; }
  [[nodiscard]] bool not_too_early() const { return share_below <= max_share_below; }
  [[nodiscard]] bool passed() const { return settled() && not_too_early(); }
};

/// What is divided between ranks.
enum class Division {
  domain,  ///< the mesh or image: all work on one solve
  sources  ///< many solves: each rank does some by itself, on the whole
};

/// Communication of one solve over ranks, of all of them together; none where each rank does some solves.
struct Traffic {
  Division division = Division::domain;
  int parts = 1;  ///< of the mesh or image: one a rank, or a group of ranks
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t halo_bytes = 0;   ///< what it would be with each time sent once to each rank that holds a copy
  std::uint64_t bands = 0;        ///< as the ranks went through them together
  std::uint64_t agreements = 0;   ///< reductions
  double idle_seconds = 0;        ///< mean over the ranks
  double min_idle_seconds = 0;    ///< of the busiest one
  std::size_t part_vertices = 0;  ///< of this rank's part, ghosts too
};

struct DeviceResult;  // isochron/domain.h

/// First-arrival times in the user's numbering; +inf where nothing arrived. Of a domain in parts the arrays are those
/// of this rank's own vertices (of the voxels of its box), everything else is of all ranks.
struct Arrival {
  std::vector<double> times;
  std::vector<std::int32_t> source;  ///< index into Sources, −1 where unreached
  /// The times and sources where they were left in device memory; those above are empty then.
  std::shared_ptr<DeviceResult> on_device;
  std::vector<Upwind> upwind;  ///< on request
  std::size_t reached = 0;
  std::size_t unreached = 0;
  std::size_t not_conducting = 0;  ///< elements of a mesh that were left out
  double max_time = 0;             ///< of the reached vertices
  bool converged = true;
  std::optional<Residual> residual;  ///< with `verify`

  std::optional<std::size_t> changed;  ///< by `Solver::update`: how many times are not what they were

  Method method = Method::banded;
  std::optional<SourceInit> source_init;  ///< as it was used: a ball where factoring did not suit the metric
  std::size_t point_sources = 0;          ///< vertices and points that the front started from
  std::size_t source_balls = 0;           ///< those of them that got a ball
  Backend backend = Backend::serial;
  Precision precision = Precision::double_;
  int threads = 1;  ///< of this solve, or of the batch that it was one of
  Counters counters;
  double setup_seconds = 0;
  double solve_seconds = 0;
  double transfer_seconds = 0;     ///< copies to and from a device, beside the solve
  std::size_t device_bytes = 0;    ///< of GPU memory that the prepared mesh and the solve hold
  std::optional<Traffic> traffic;  ///< of a solve over ranks
  std::vector<std::string> notes;  ///< what the user should know: a label, a hand-over, a raised precision

  [[nodiscard]] double solves_per_vertex() const {
    const std::size_t vertices = reached + unreached;
    return vertices == 0 ? 0 : static_cast<double>(counters.local_solves) / static_cast<double>(vertices);
  }
};

/// Receives the result of each of several solves, with its index.
using TakeArrival = std::function<void(std::size_t, Arrival&&)>;

}  // namespace isochron
