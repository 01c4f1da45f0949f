// The elements of a mesh in a packed tree of boxes, for everything that looks for what is near.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh.h"

namespace isochron {

struct Box {
  Vec3d low, high;
};

/// Precondition: there are points.
inline Box box_of(std::span<const Vec3d> points) {
  Box box{points[0], points[0]};
  for (const Vec3d& p : points)
    for (int i = 0; i < 3; ++i) {
      box.low[i] = std::min(box.low[i], p[i]);
      box.high[i] = std::max(box.high[i], p[i]);
    }
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

inline void extend(Box& box, const Box& by) {
  for (int i = 0; i < 3; ++i) {
    box.low[i] = std::min(box.low[i], by.low[i]);
    box.high[i] = std::max(box.high[i], by.high[i]);
  }
}

}  // namespace isochron
