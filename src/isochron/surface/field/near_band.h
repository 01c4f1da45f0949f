// The lattice points near the zero set of values on a lattice, and where on it each of them is nearest, roughly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/surface/field/lattice.h"

namespace isochron {

/// Points with an edge to a neighbour of the other sign, and all others within three voxels of where such edges cross
/// the surface. The same on any number of threads.
class NearBand {
 public:
  /// `level` must stay valid; zero counts as positive.
  NearBand(const Lattice& lattice, std::span<const float> level, int threads);

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Index on the lattice.
  [[nodiscard]] std::uint32_t point(std::size_t m) const { return points_[m]; }
  /// The nearest of the crossings that its neighbours have for nearest.
  [[nodiscard]] Vec3d foot(std::size_t m) const { return {feet_[m].x, feet_[m].y, feet_[m].z}; }
  /// Whether an edge of the lattice at this point crosses the surface.
  [[nodiscard]] bool crossing(std::size_t m) const { return m < crossing_count_; }
  /// A distance for points with crossing edges that needs nothing else: that to the plane through the crossings.
  [[nodiscard]] double axis_distance(std::size_t m) const;

  /// Gives back the memory of the feet.
  void forget_feet() { feet_ = {}; }

 private:
  /// Lattice points, each with its foot.
  struct Places {
    std::vector<std::uint32_t> points;
    std::vector<Vec3f> feet;
  };
  /// What a round brings: points that are new to the band, and the slots of those that now have a nearer foot.
  struct Round {
    Places found;
    std::vector<std::uint32_t> improved;
  };

  /// Calls `visit(axis, way from the point to the surface along it, with its sign)` for the point's crossing edges.
  template <class Visit>
  void for_crossings(int i, int j, int k, Visit&& visit) const;
  Places crossings_in(int from_slice, int to_slice) const;
  Round neighbours_in(int from_slice, int to_slice, const Places& front);
  Places append(const std::vector<Round>& parts);

  Lattice lattice_;
  std::span<const float> level_;
  std::vector<std::uint32_t> points_;  ///< those with crossing edges first
  std::vector<Vec3f> feet_;
  std::vector<std::uint32_t> slot_;  ///< of each lattice point, while the band is made
  std::size_t crossing_count_ = 0;
};

}  // namespace isochron
