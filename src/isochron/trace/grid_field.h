// Times on an image between its voxels: interpolated values, characteristics, and travel times of straight lines.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "isochron/image.h"
#include "isochron/metric.h"

namespace isochron {

/// A view of times (+inf outside the mask and where unreached) on an image; positions are indices, between voxels too.
/// A voxel reaches half a step around its centre, and only voxels that are in the mask and reached are ever looked at.
class GridField {
 public:
  GridField(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
            std::span<const double> times);

  [[nodiscard]] const ImageGrid& grid() const { return grid_; }
  /// Whether a voxel is as fast in all directions.
  [[nodiscard]] bool isotropic() const { return metric_.isotropic(); }
  [[nodiscard]] double time(VertexId v) const { return times_[v.index()]; }
  [[nodiscard]] static Vec3d index_of(const ImageGrid& grid, VertexId v) {
    const auto [i, j, k] = grid.index(v);
    return {static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
  }

  /// A position up to rounding outside the image, or beside the plane of a flat one, brought into it.
  [[nodiscard]] static Vec3d clamped(const ImageGrid& grid, Vec3d p) {
    for (int k = 0; k < 3; ++k) p[k] = std::clamp(p[k], -0.5, grid.shape[k] - 0.5 - 1e-9);
    if (grid.flat()) p.z = 0;
    return p;
  }

  /// The voxel around a position, if it may be passed.
  [[nodiscard]] std::optional<VertexId> voxel(const Vec3d& p) const;
  /// The same for a whole index.
  [[nodiscard]] std::optional<VertexId> voxel(const std::array<std::int64_t, 3>& index) const {
    for (int k = 0; k < 3; ++k)
      if (index[k] < 0 || index[k] >= static_cast<std::int64_t>(grid_.shape[k])) return std::nullopt;
    const VertexId v = grid_.voxel(static_cast<std::uint32_t>(index[0]), static_cast<std::uint32_t>(index[1]),
                                   static_cast<std::uint32_t>(index[2]));
    if (!mask_.empty() && mask_[v.index()] == 0) return std::nullopt;
    if (!std::isfinite(times_[v.index()])) return std::nullopt;
    return v;
  }
  /// √(∇uᵀ D ∇u) at a voxel by the differences that the solver's adaptive scheme takes, of order 1 or 2: 1 where the
  /// times fit the metric, k where they grow as with one k times as slow; 0 where no neighbour is earlier.
  [[nodiscard]] double slope(VertexId v, int order) const;
  /// Interpolated between the voxels that may be passed; +inf outside them.
  [[nodiscard]] double time(const Vec3d& p) const;
  /// Where the front came from, as a step of length 1 in voxels; zero where no neighbour is earlier.
  [[nodiscard]] Vec3d direction(const Vec3d& p) const;
  /// Travel time of the straight line, with each voxel's metric on its part of it; +inf when the line leaves the voxels
  /// that may be passed, and also when it slips between two others that touch, or when it takes longer than `limit`.
  [[nodiscard]] double cost(const Vec3d& a, const Vec3d& b,
                            double limit = std::numeric_limits<double>::infinity()) const;
  /// M of a voxel, for steps in voxels. On a flat image it says nothing about the third axis.
  [[nodiscard]] SymTensor3d tensor(VertexId v) const;

 private:
  [[nodiscard]] Vec3d velocity(const std::array<std::int64_t, 3>& index, VertexId v) const;
  [[nodiscard]] double difference(const std::array<std::int64_t, 3>& index, int axis, double here) const;

  /// Travel time of a step d (in voxels) through a voxel, whose length in the world is `length`.
  [[nodiscard]] double step_cost(VertexId v, const Vec3d& d, double length) const {
    return speeds_ != nullptr ? length / speeds_->speed[v.index()] : std::sqrt(squared_length(tensor(v), d));
  }

  const ImageGrid& grid_;
  const Metric& metric_;
  const SpeedMetric* speeds_;  ///< null unless the metric is one
  SymTensor3d world_;          ///< squared lengths in the world of steps in voxels
  SymTensor3d from_world_;     ///< its inverse
  std::span<const std::uint8_t> mask_;
  std::span<const double> times_;
};

}  // namespace isochron
