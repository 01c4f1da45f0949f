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
    return open(v.index()) ? std::optional(v) : std::nullopt;
  }
  /// √(∇uᵀ D ∇u) at a voxel by the differences that the solver's adaptive scheme takes, of order 1 or 2: 1 where the
  /// times fit the metric, k where they grow as with one k times as slow; 0 where no neighbour is earlier.
  [[nodiscard]] double slope(VertexId v, int order) const;
  /// Interpolated between the voxels that may be passed; +inf outside them.
  [[nodiscard]] double time(const Vec3d& p) const;
  /// −D∇u at a voxel, scaled to a unit of travel time; zero where it may not be passed or no neighbour is earlier.
  [[nodiscard]] Vec3d velocity(const std::array<std::int64_t, 3>& index) const;
  /// Travel time of the straight line, with each voxel's metric on its part of it; +inf when the line leaves the voxels
  /// that may be passed, and also when it slips between two others that touch, or when it takes longer than `limit`.
  [[nodiscard]] double cost(const Vec3d& a, const Vec3d& b,
                            double limit = std::numeric_limits<double>::infinity()) const;
  /// M of a voxel, for steps in voxels. On a flat image it says nothing about the third axis.
  [[nodiscard]] SymTensor3d tensor(VertexId v) const;

 private:
  [[nodiscard]] double difference(const std::array<std::int64_t, 3>& index, VertexId v, int axis) const;

  template <std::size_t Axes>
  [[nodiscard]] bool slips_between(const std::array<std::int64_t, 3>& here, const std::array<std::int64_t, 3>& step,
                                   const std::array<bool, Axes>& crosses) const;
  template <int Axes, class CostThrough>
  [[nodiscard]] double integrate(const Vec3d& a, const Vec3d& d, double limit, const CostThrough& cost_through) const;

  /// Whether a voxel of the image may be passed.
  [[nodiscard]] bool open(std::size_t v) const { return (mask_.empty() || mask_[v] != 0) && std::isfinite(times_[v]); }

  const ImageGrid& grid_;
  const Metric& metric_;
  const SpeedMetric* speeds_;  ///< null unless the metric is one
  SymTensor3d from_world_;     ///< inverse of the tensor of squared lengths in the world of steps in voxels
  std::span<const std::uint8_t> mask_;
  std::span<const double> times_;
};

/// Where the front came from, along a path. Steps are short, so the velocities of the eight voxels around a place are
/// kept for the next one among them.
class CellVelocities {
 public:
  explicit CellVelocities(const GridField& field) : field_(field) {}
  /// A step of length 1 in voxels; zero where no neighbour is earlier.
  [[nodiscard]] Vec3d direction(const Vec3d& p);

 private:
  const GridField& field_;
  std::optional<std::array<std::int64_t, 3>> low_;  ///< the first of the voxels
  std::array<Vec3d, 8> velocities_{};
};

}  // namespace isochron
