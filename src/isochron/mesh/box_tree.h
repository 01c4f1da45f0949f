// The elements of a mesh in a packed tree of boxes, for everything that looks for what is near.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/mesh.h"

namespace isochron {

struct Box {
  Vec3d low, high;
};

inline void extend(Box& box, const Box& by) {
  for (int i = 0; i < 3; ++i) {
    box.low[i] = std::min(box.low[i], by.low[i]);
    box.high[i] = std::max(box.high[i], by.high[i]);
  }
}

/// Of points, of which there is at least one. Coordinates that are not numbers count for nothing.
inline Box box_of(std::span<const Vec3d> points, int threads = 1) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Box nothing{{inf, inf, inf}, {-inf, -inf, -inf}};
  Box box = nothing;
  std::mutex mutex;
  parallel_chunks(threads, points.size(), [&](std::size_t begin, std::size_t end) {
    Box part = nothing;
    for (std::size_t v = begin; v < end; ++v) extend(part, {points[v], points[v]});
    const std::lock_guard lock(mutex);
    extend(box, part);
  });
  return box;
}

/// True when they have a point in common, be it on their borders.
inline bool touch(const Box& a, const Box& b) {
  for (int i = 0; i < 3; ++i)
    if (a.low[i] > b.high[i] || b.low[i] > a.high[i]) return false;
  return true;
}

/// About 11 bytes an element. Building takes a sort of the vertices and one pass over the elements.
struct BoxTree {
  static constexpr std::size_t fan_out = 8;  // elements in a leaf, and boxes in a box

  std::vector<std::uint32_t> order;      ///< elements, so that those of a leaf lie together
  std::vector<std::vector<Box>> levels;  ///< levels[0] are the leaves, the last one is the root alone; empty without
                                         ///< elements
};

/// The points must be finite.
template <int Corners>
BoxTree build_box_tree(const SimplexMesh<Corners>& mesh, int threads);

/// The same with the elements in this order.
template <int Corners>
BoxTree build_box_tree(const SimplexMesh<Corners>& mesh, std::vector<std::uint32_t> order, int threads);

}  // namespace isochron
