#include "isochron/mesh/curve_cut.h"

#include <algorithm>
#include <array>
#include <limits>

#include "isochron/mesh/ordering.h"

namespace isochron {

CurveFrame common_frame(Exchange& exchange, std::span<const Vec3d> points) {
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  std::array<double, 6> box;  // minus the low corner, and the high one
  box.fill(nothing);
  for (const Vec3d& p : points)
    for (int d = 0; d < 3; ++d) {
      box[d] = std::max(box[d], -p[d]);
      box[3 + d] = std::max(box[3 + d], p[d]);
    }
  exchange.max(box);
  if (box[0] == nothing) box.fill(0);
  const std::uint64_t count = std::max<std::uint64_t>(1, sum_of_all(exchange, points.size()));
  return curve_frame({-box[0], -box[1], -box[2]}, {box[3], box[4], box[5]}, count, CurveDetail::points);
}

std::vector<std::uint64_t> curve_keys(std::span<const Vec3d> points, const CurveFrame& frame) {
  static constexpr HilbertTable<2> flat;
  static constexpr HilbertTable<3> solid;
  std::vector<std::uint64_t> keys(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    keys[i] = frame.dim == 2 ? frame.key(flat, points[i]) : frame.key(solid, points[i]);
  return keys;
}

std::vector<std::uint64_t> curve_splitters(Exchange& exchange, std::vector<std::uint64_t> keys, const CurveFrame& frame,
                                           std::size_t pieces) {
  std::sort(keys.begin(), keys.end());
  const std::uint64_t all = sum_of_all(exchange, keys.size());
  const std::uint64_t slack = all / pieces / 200;
  struct Search {
    std::uint64_t low, high;  // the splitter is above `low` and not above `high`
    std::uint64_t wanted;     // keys below it
  };
  std::vector<Search> searches;
  const std::uint64_t end = std::uint64_t{1} << (frame.bits * frame.dim);
  for (std::size_t i = 1; i < pieces; ++i) searches.push_back({0, end, i * all / pieces});
  std::vector<std::uint64_t> below(searches.size());
  for (bool open = !searches.empty(); open;) {
    const auto middle = [](const Search& s) { return s.low + (s.high - s.low) / 2; };
    for (std::size_t i = 0; i < searches.size(); ++i)
      below[i] =
          static_cast<std::uint64_t>(std::lower_bound(keys.begin(), keys.end(), middle(searches[i])) - keys.begin());
    exchange.sum(below);
    open = false;  // all processes see the same numbers, so they end together
    for (std::size_t i = 0; i < searches.size(); ++i) {
      Search& s = searches[i];
      if (s.high - s.low <= 1) continue;
      const std::uint64_t gap = below[i] > s.wanted ? below[i] - s.wanted : s.wanted - below[i];
      if (gap <= slack) s = {middle(s) - 1, middle(s), s.wanted};
      else if (below[i] < s.wanted) s.low = middle(s);
      else s.high = middle(s);
      open = open || s.high - s.low > 1;
    }
  }
  std::vector<std::uint64_t> splitters;
  for (const Search& s : searches) splitters.push_back(s.high);
  // Searches that ended early can pass one another.
  std::sort(splitters.begin(), splitters.end());
  return splitters;
}

std::size_t piece_of_key(std::span<const std::uint64_t> splitters, std::uint64_t key) {
  return static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), key) - splitters.begin());
}

}  // namespace isochron
