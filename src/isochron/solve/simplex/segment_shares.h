// How a straight segment is divided between elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "isochron/mesh.h"
#include "isochron/mesh/closest_point.h"

namespace isochron {

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
  constexpr double max_off_plane = 1e-5;  // `segment_inside` allows a tenth of that
  std::vector<Stretch> stretches;
  std::vector<double> ends{0, 1};
  for (const ElementId e : elements) {
    const auto x = corner_points(mesh, e);
    const auto first_found = barycentric(x, from), last_found = barycentric(x, to);
    if (!first_found || !last_found) continue;
    const auto &first = *first_found, &last = *last_found;
    const double off_plane = norm(weighted_point(x, first) - from) + norm(weighted_point(x, last) - to);
    if (off_plane > max_off_plane * norm(to - from)) continue;
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
