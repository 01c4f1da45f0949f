#include "isochron/mesh/self_intersections.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "isochron/core/parallel.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/orientation.h"

namespace isochron {

namespace {

using Triangle = std::array<Vec3d, 3>;

/// A plane of two coordinates in which a triangle does not shrink to a line.
struct Projection {
  int x = 0, y = 1;

  [[nodiscard]] int orientation(Vec3d a, Vec3d b, Vec3d c) const {
    return isochron::orientation(a[x], a[y], b[x], b[y], c[x], c[y]);
  }
};

/// False when the corners lie on one line.
bool find_projection(const Triangle& t, Projection& result) {
  for (int axis = 0; axis < 3; ++axis) {
    result = {(axis + 1) % 3, (axis + 2) % 3};
    if (result.orientation(t[0], t[1], t[2]) != 0) return true;
  }
  return false;
}

/// Points of one line: whether c lies between a and b, or is one of them.
bool between(Vec3d a, Vec3d b, Vec3d c, const Projection& plane) {
  for (const int i : {plane.x, plane.y})
    if (c[i] < std::min(a[i], b[i]) || c[i] > std::max(a[i], b[i])) return false;
  return true;
}

bool segments_meet(Vec3d a, Vec3d b, Vec3d c, Vec3d d, const Projection& plane) {
  const int ab_c = plane.orientation(a, b, c), ab_d = plane.orientation(a, b, d);
  const int cd_a = plane.orientation(c, d, a), cd_b = plane.orientation(c, d, b);
  if (ab_c * ab_d < 0 && cd_a * cd_b < 0) return true;
  return (ab_c == 0 && between(a, b, c, plane)) || (ab_d == 0 && between(a, b, d, plane)) ||
         (cd_a == 0 && between(c, d, a, plane)) || (cd_b == 0 && between(c, d, b, plane));
}

bool inside(const Triangle& t, Vec3d p, const Projection& plane) {
  const int whole = plane.orientation(t[0], t[1], t[2]);
  for (int k = 0; k < 3; ++k)
    if (plane.orientation(t[k], t[(k + 1) % 3], p) * whole < 0) return false;
  return true;
}

/// For a segment in the triangle's plane.
bool flat_segment_meets(const Triangle& t, Vec3d p, Vec3d q) {
  Projection plane;
  if (!find_projection(t, plane)) return false;
  if (inside(t, p, plane) || inside(t, q, plane)) return true;
  for (int k = 0; k < 3; ++k)
    if (segments_meet(p, q, t[k], t[(k + 1) % 3], plane)) return true;
  return false;
}

/// `p_side` and `q_side` say on which side of the triangle's plane the segment's ends lie.
bool segment_meets(const Triangle& t, Vec3d p, Vec3d q, int p_side, int q_side) {
  if (p_side * q_side > 0) return false;
  if (p_side == 0 && q_side == 0) return flat_segment_meets(t, p, q);
  // The line p q meets the plane in one point of the segment; it lies inside when it passes all edges on one side.
  bool left = false, right = false;
  for (int k = 0; k < 3; ++k) {
    const int side = orientation(p, q, t[k], t[(k + 1) % 3]);
    left |= side > 0;
    right |= side < 0;
  }
  return !(left && right);
}

std::array<int, 3> sides(const Triangle& of, const Triangle& corners) {
  std::array<int, 3> result;
  for (int k = 0; k < 3; ++k) result[k] = orientation(of[0], of[1], of[2], corners[k]);
  return result;
}

bool all_beyond(const std::array<int, 3>& side) {
  return (side[0] > 0 && side[1] > 0 && side[2] > 0) || (side[0] < 0 && side[1] < 0 && side[2] < 0);
}

bool separate_triangles_meet(const Triangle& a, const Triangle& b) {
  const auto b_sides = sides(a, b);
  if (all_beyond(b_sides)) return false;
  const auto a_sides = sides(b, a);
  if (all_beyond(a_sides)) return false;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    if (segment_meets(a, b[k], b[next], b_sides[k], b_sides[next])) return true;
    if (segment_meets(b, a[k], a[next], a_sides[k], a_sides[next])) return true;
  }
  return false;
}

/// Both have their shared corner first. What they share beyond it reaches from there to the far edge of one of them.
bool triangles_at_corner_meet(const Triangle& a, const Triangle& b) {
  const int b1 = orientation(a[0], a[1], a[2], b[1]), b2 = orientation(a[0], a[1], a[2], b[2]);
  if (b1 * b2 > 0) return false;
  const int a1 = orientation(b[0], b[1], b[2], a[1]), a2 = orientation(b[0], b[1], b[2], a[2]);
  if (a1 * a2 > 0) return false;
  return segment_meets(a, b[1], b[2], b1, b2) || segment_meets(b, a[1], a[2], a1, a2);
}

/// Both have their shared edge first; they overlap when they lie in one plane and on one side of the edge.
bool triangles_at_edge_meet(const Triangle& a, const Triangle& b) {
  if (orientation(a[0], a[1], a[2], b[2]) != 0) return false;
  Projection plane;
  return find_projection(a, plane) && plane.orientation(a[0], a[1], a[2]) == plane.orientation(a[0], a[1], b[2]);
}

/// The corners of both, those they share by id first and in the same order. Gives how many they share.
int aligned_corners(const TriangleMesh& mesh, ElementId first, ElementId second, Triangle& a, Triangle& b) {
  TriangleMesh::Element ids = mesh.element(first), other = mesh.element(second);
  int shared = 0;
  for (int i = 0; i < 3; ++i) {
    const auto found = std::find(other.begin() + shared, other.end(), ids[i]);
    if (found == other.end()) continue;
    std::iter_swap(other.begin() + shared, found);
    std::swap(ids[shared++], ids[i]);
  }
  for (int k = 0; k < 3; ++k) {
    a[k] = mesh.point(ids[k]);
    b[k] = mesh.point(other[k]);
  }
  return shared;
}

bool has_area(const Triangle& t) {
  Projection ignored;
  return find_projection(t, ignored);
}

/// Looks for partners of each triangle among those behind it in the tree's order.
class PairSearch {
 public:
  PairSearch(const TriangleMesh& mesh, int threads) : mesh_(mesh), tree_(build_box_tree(mesh, threads)) {}

  [[nodiscard]] std::size_t leaf_count() const { return tree_.levels.empty() ? 0 : tree_.levels[0].size(); }

  void search_leaf(std::size_t leaf, std::vector<TrianglePair>& found) const {
    const std::size_t end = std::min(tree_.order.size(), (leaf + 1) * BoxTree::fan_out);
    for (std::size_t k = leaf * BoxTree::fan_out; k < end; ++k) {
      const ElementId e(tree_.order[k]);
      descend(k, e, box_of(corner_points(mesh_, e)), tree_.levels.size() - 1, 0, found);
    }
  }

 private:
  void descend(std::size_t k, ElementId e, const Box& box, std::size_t level, std::size_t index,
               std::vector<TrianglePair>& found) const {
    if (!touch(box, tree_.levels[level][index])) return;
    const std::size_t children = level == 0 ? tree_.order.size() : tree_.levels[level - 1].size();
    const std::size_t end = std::min(children, (index + 1) * BoxTree::fan_out);
    for (std::size_t child = index * BoxTree::fan_out; child < end; ++child) {
      if (level > 0) descend(k, e, box, level - 1, child, found);
      else if (child > k) test(e, box, ElementId(tree_.order[child]), found);
    }
  }

  void test(ElementId e, const Box& box, ElementId other, std::vector<TrianglePair>& found) const {
    if (!touch(box, box_of(corner_points(mesh_, other))) || !triangles_meet(mesh_, e, other)) return;
    found.push_back({std::min(e, other), std::max(e, other)});
  }

  const TriangleMesh& mesh_;
  BoxTree tree_;
};

}  // namespace

bool triangles_meet(const TriangleMesh& mesh, ElementId a, ElementId b) {
  Triangle one, other;
  const int shared = aligned_corners(mesh, a, b, one, other);
  const bool meet = shared == 0   ? separate_triangles_meet(one, other)
                    : shared == 1 ? triangles_at_corner_meet(one, other)
                    : shared == 2 ? triangles_at_edge_meet(one, other)
                                  : true;
  return meet && has_area(one) && has_area(other);
}

std::vector<TrianglePair> self_intersections(const TriangleMesh& mesh, int threads, const Progress& progress) {
  const PairSearch search(mesh, threads);
  constexpr std::size_t leaves_at_once = 64;
  const std::size_t chunks = (search.leaf_count() + leaves_at_once - 1) / leaves_at_once;
  std::atomic<std::size_t> next{0};
  std::vector<std::vector<TrianglePair>> parts(std::max(1, threads));
  parallel_region(static_cast<int>(parts.size()), [&](int thread, int) {
    for (std::size_t chunk; (chunk = next++) < chunks && !progress.cancelled();) {
      const std::size_t end = std::min(search.leaf_count(), (chunk + 1) * leaves_at_once);
      for (std::size_t leaf = chunk * leaves_at_once; leaf < end; ++leaf) search.search_leaf(leaf, parts[thread]);
      if (thread == 0 && chunk % 64 == 0) progress.update(static_cast<double>(chunk) / static_cast<double>(chunks));
    }
  });
  if (progress.cancelled()) throw Cancelled();
  std::vector<TrianglePair> result;
  for (const auto& part : parts) result.insert(result.end(), part.begin(), part.end());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace isochron
