// Times at receivers as weighted times of vertices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/domain.h"

namespace isochron {

/// The time at receiver r is the sum of weight · time of the vertices (voxels) from offsets[r] to offsets[r + 1].
struct ReceiverRows {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> vertices;
  std::vector<double> weights;

  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
  [[nodiscard]] double time_at(std::size_t receiver, std::span<const double> times) const;
  void add_transposed(std::size_t receiver, double value, std::span<double> cotangent) const;
};

/// Linear interpolation in elements that conduct, or between voxels of the mask. Throws InputError for a receiver that
/// is further away than the tolerance.
template <int Corners>
ReceiverRows receiver_rows(const SimplexMesh<Corners>& conducting, std::span<const Vec3d> receivers, double tolerance,
                           int threads);
ReceiverRows receiver_rows(const MaskedGrid& image, std::span<const Vec3d> receivers, double tolerance);

}  // namespace isochron
