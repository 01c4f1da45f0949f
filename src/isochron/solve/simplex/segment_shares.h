// How a straight segment is divided between elements.
#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "isochron/mesh.h"

namespace isochron {

/// The weights of a simplex's corners at a point (on a triangle: at its foot in the triangle's plane).
inline std::array<double, 4> corner_weights(const std::array<Vec3d, 4>& x, Vec3d p) {
  const double volume = dot(x[1] - x[0], cross(x[2] - x[0], x[3] - x[0]));
  const double b = dot(p - x[0], cross(x[2] - x[0], x[3] - x[0])) / volume,
               c = dot(x[1] - x[0], cross(p - x[0], x[3] - x[0])) / volume,
               d = dot(x[1] - x[0], cross(x[2] - x[0], p - x[0])) / volume;
  return {1 - b - c - d, b, c, d};
}
inline std::array<double, 3> corner_weights(const std::array<Vec3d, 3>& x, Vec3d p) {
  const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
  const double area = dot(normal, normal);
  const double b = dot(cross(p - x[0], x[2] - x[0]), normal) / area,
               c = dot(cross(x[1] - x[0], p - x[0]), normal) / area;
  return {1 - b - c, b, c};
}

/// The shares of the segment from `from` to `to` that lie in each of some elements, which together hold all of it.
/// Where it runs between several, the one with the smallest id has it.
template <int Corners>
std::vector<std::pair<ElementId, double>> segment_shares(const SimplexMesh<Corners>& mesh,
                                                         std::vector<ElementId> elements, Vec3d from, Vec3d to) {
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  struct Stretch {
    ElementId element;
    double begin, end;
  };
  constexpr double touch = 1e-9;
  std::vector<Stretch> stretches;
  std::vector<double> ends{0, 1};
  for (const ElementId e : elements) {
    const auto x = corner_points(mesh, e);
    const auto first = corner_weights(x, from), last = corner_weights(x, to);
    double begin = 0, end = 1;
    for (int c = 0; c < Corners; ++c) {
      const double change = last[c] - first[c];
      if (std::abs(change) < touch) {
        if (first[c] < -touch) end = -1;
      } else if (change > 0) {
        begin = std::max(begin, -first[c] / change);
      } else {
        end = std::min(end, -first[c] / change);
      }
    }
    if (!(end - begin > touch)) continue;
    stretches.push_back({e, begin, end});
    ends.insert(ends.end(), {begin, end});
  }
  std::sort(ends.begin(), ends.end());
  std::vector<std::pair<ElementId, double>> shares;
  double found = 0;
  for (std::size_t k = 1; k < ends.size(); ++k) {
    const double length = ends[k] - ends[k - 1], middle = 0.5 * (ends[k] + ends[k - 1]);
    if (!(length > 0)) continue;
    const auto holder = std::find_if(stretches.begin(), stretches.end(),
                                     [&](const Stretch& s) { return s.begin <= middle && middle <= s.end; });
    if (holder == stretches.end()) continue;
    shares.emplace_back(holder->element, length);
    found += length;
  }
  for (auto& share : shares) share.second /= found;
  return shares;
}

}  // namespace isochron
