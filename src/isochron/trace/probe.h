// Times at points between vertices or voxels: receivers and electrodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

/// What a probe found.
struct ProbeTime {
  std::optional<double> time;  ///< none where the mesh or image is further away than the tolerance
  double distance = 0;         ///< from it
};

/// Times at points, interpolated in their elements.
template <int Corners>
std::vector<ProbeTime> probe_times(const SimplexMesh<Corners>& mesh, std::span<const double> times,
                                   std::span<const Vec3d> points, double tolerance, int threads);
/// The same in an image, between its voxels; points outside the mask have no time either.
std::vector<ProbeTime> probe_times(const ImageGrid& grid, std::span<const std::uint8_t> mask,
                                   std::span<const double> times, std::span<const Vec3d> points, double tolerance);

}  // namespace isochron
