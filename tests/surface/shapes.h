// Shapes with a known surface, as fields on a lattice, and points on them.
#pragma once

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isochron/core/random.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/triangulate/label_field.h"
#include "surface/sampled.h"

namespace isochron {

inline SizeField uniform_size(const Lattice& lattice, double size) {
  return {lattice, std::vector<float>(lattice.point_count(), static_cast<float>(size))};
}

/// Distance to a box with rounded edges; approximate inside.
inline double plate_distance(Vec3d p, Vec3d centre, Vec3d half, double rounding) {
  Vec3d d = p - centre;
  for (int a = 0; a < 3; ++a) d[a] = std::abs(d[a]) - (half[a] - rounding);
  const Vec3d out{std::max(d.x, 0.0), std::max(d.y, 0.0), std::max(d.z, 0.0)};
  return norm(out) + std::min(std::max({d.x, d.y, d.z}), 0.0) - rounding;
}

/// Points on the field's surface no closer to each other than `apart` times the size there, as many as fit in.
inline std::vector<Vec3d> scattered(const SplineField& field, const SizeField& sizes, double apart,
                                    std::uint64_t seed) {
  const SplineLabels labels(field);
  const SplineView<double> view = field.view();
  const SizeView<double> size = sizes.view();
  const Lattice& lattice = field.lattice();
  const Vec3d extent = labels.extent();
  const double bin = apart * *std::max_element(sizes.values.begin(), sizes.values.end());
  const auto key = [&](Vec3d p, int dx, int dy, int dz) {
    const auto part = [&](double x, int d) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(x / bin) + d + 8);
    };
    return part(p.x, dx) | part(p.y, dy) << 20 | part(p.z, dz) << 40;
  };
  std::unordered_map<std::uint64_t, std::vector<Vec3d>> bins;
  std::vector<Vec3d> points;
  const auto is_free = [&](Vec3d p) {
    const double radius = apart * size.size(p);
    for (int c = 0; c < 27; ++c) {
      const auto found = bins.find(key(p, c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1));
      if (found == bins.end()) continue;
      for (const Vec3d q : found->second)
        if (norm(p - q) < radius) return false;
    }
    return true;
  };
  Random random(seed);
  for (int pass = 0; pass < 12; ++pass) {
    for (int k = 0; k < lattice.shape[2]; ++k) {
      for (int j = 0; j < lattice.shape[1]; ++j) {
        for (int i = 0; i < lattice.shape[0]; ++i) {
          Vec3d p = lattice.position(i, j, k);
          if (std::abs(view.value(p)) > 1.5 * lattice.spacing.x) continue;
          for (int a = 0; a < 3; ++a) p[a] += lattice.spacing[a] * random.uniform(-0.5, 0.5);
          p = labels.project(p);
          bool inside = std::abs(view.value(p)) < 1e-4;
          for (int a = 0; a < 3; ++a) inside &= p[a] >= 0 && p[a] <= extent[a];
          if (!inside || !is_free(p)) continue;
          points.push_back(p);
          bins[key(p, 0, 0, 0)].push_back(p);
        }
      }
    }
  }
  return points;
}

}  // namespace isochron
