// Points that keep their distance.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/surface/field/spline.h"

namespace isochron {

/// Takes points that are far enough from all that it took before. Positions are in the lattice of the sizes.
class Thinning {
 public:
  explicit Thinning(const SizeField& sizes)
      : sizes_(sizes.view()), width_(3 * *std::min_element(sizes.values.begin(), sizes.values.end())) {}

  /// Takes p if all others are at least `apart` sizes away; says whether it did.
  bool offer(Vec3d p, double apart) {
    const double distance = apart * sizes_.size(p);
    bool free = true;
    visit_near(p, distance, [&](std::uint32_t i) { free &= norm(points_[i] - p) >= distance; });
    if (!free) return false;
    bins_[key(p, 0, 0, 0)].push_back(static_cast<std::uint32_t>(points_.size()));
    points_.push_back(p);
    return true;
  }

  /// Calls `visit` with the numbers of all points that are less than `distance` away, and of others.
  template <class Visit>
  void visit_near(Vec3d p, double distance, Visit&& visit) const {
    const int far = static_cast<int>(std::ceil(distance / width_));
    for (int z = -far; z <= far; ++z)
      for (int y = -far; y <= far; ++y)
        for (int x = -far; x <= far; ++x) {
          const auto bin = bins_.find(key(p, x, y, z));
          if (bin == bins_.end()) continue;
          for (const std::uint32_t i : bin->second) visit(i);
        }
  }

  [[nodiscard]] const std::vector<Vec3d>& points() const { return points_; }
  [[nodiscard]] double size(Vec3d p) const { return sizes_.size(p); }

 private:
  [[nodiscard]] std::uint64_t key(Vec3d p, int x, int y, int z) const {
    const int step[3] = {x, y, z};
    std::uint64_t result = 0;
    for (int a = 0; a < 3; ++a) {
      const auto cell = static_cast<std::int64_t>(std::floor(p[a] / width_)) + step[a];
      result = result << 21 | (static_cast<std::uint64_t>(cell) & 0x1fffff);
    }
    return result;
  }

  SizeView<double> sizes_;
  double width_;
  std::vector<Vec3d> points_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> bins_;
};

}  // namespace isochron
