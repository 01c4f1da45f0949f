#include "isochron/mesh/self_intersections.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "isochron/core/parallel.h"
#include "isochron/mesh/box_tree.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/ordering.h"
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

/// Vertices with so many triangles are hubs: the boxes of all triangles around one touch there.
constexpr std::uint32_t hub_valence = 32;
constexpr std::uint32_t no_hub = std::numeric_limits<std::uint32_t>::max();

/// The hub with the most triangles at each triangle, or none. Empty when there are no hubs.
std::vector<std::uint32_t> find_hubs(const TriangleMesh& mesh) {
  std::vector<std::uint32_t> valence(mesh.vertex_count(), 0);
  for (const auto& corners : mesh.elements)
    for (const VertexId v : corners) ++valence[v.index()];
  if (std::none_of(valence.begin(), valence.end(), [](std::uint32_t n) { return n > hub_valence; })) return {};
  std::vector<std::uint32_t> hubs(mesh.element_count(), no_hub);
  for (std::size_t e = 0; e < hubs.size(); ++e) {
    const VertexId v = *std::max_element(mesh.elements[e].begin(), mesh.elements[e].end(), [&](VertexId a, VertexId b) {
      return std::pair(valence[a.index()], b.value) < std::pair(valence[b.index()], a.value);
    });
    if (valence[v.index()] > hub_valence) hubs[e] = v.value;
  }
  return hubs;
}

/// Triangles around a hub meet only where the far edge of one of them, opposite the hub, meets the other.
Box far_box(const TriangleMesh& mesh, ElementId e, std::uint32_t hub) {
  const TriangleMesh::Element& ids = mesh.element(e);
  const std::size_t at = ids[0].value == hub ? 0 : ids[1].value == hub ? 1 : 2;
  return box_of(std::array{mesh.point(ids[(at + 1) % 3]), mesh.point(ids[(at + 2) % 3])});
}

/// The triangles around each hub side by side, along a curve through the middles of their far edges.
std::vector<std::uint32_t> order_with_hubs(const TriangleMesh& mesh, std::span<const std::uint32_t> hubs, int threads) {
  std::vector<Vec3d> middles(mesh.element_count());
  for (std::size_t e = 0; e < middles.size(); ++e) {
    const Box box =
        hubs[e] == no_hub ? box_of(corner_points(mesh, ElementId(e))) : far_box(mesh, ElementId(e), hubs[e]);
    middles[e] = 0.5 * box.low + 0.5 * box.high;
  }
  const Permutation curve = hilbert_order(middles, CurveDetail::points, threads);
  std::vector<std::uint32_t> order(middles.size()), place(middles.size());
  std::vector<std::uint32_t> place_of_hub(mesh.vertex_count(), no_hub);  // where the first of its triangles is
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    const std::uint32_t e = order[k] = curve.identity() ? k : curve.new_to_old[k];
    if (hubs[e] == no_hub) place[e] = k;
    else place[e] = place_of_hub[hubs[e]] = std::min(place_of_hub[hubs[e]], k);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return place[a] < place[b]; });
  return order;
}

/// What all triangles under a box of the tree have in common.
struct HubBox {
  std::uint32_t hub = no_hub;
  Box far{};  ///< around their far edges

  void join(const HubBox& other) {
    if (hub != other.hub) hub = no_hub;
    else extend(far, other.far);
  }
};

/// Looks for partners of each triangle among those behind it in the tree's order. `Take` gets each pair.
class PairSearch {
 public:
  PairSearch(const TriangleMesh& mesh, int threads) : mesh_(mesh), hubs_(find_hubs(mesh)) {
    tree_ = hubs_.empty() ? build_box_tree(mesh, threads)
                          : build_box_tree(mesh, order_with_hubs(mesh, hubs_, threads), threads);
    if (!hubs_.empty()) add_hub_boxes();
  }

  [[nodiscard]] std::size_t size() const { return tree_.order.size(); }

  /// For the triangle at this place of the order. Gives the work: a box compared is 1, a triangle `triangle_work`.
  template <class Take>
  std::size_t search(std::size_t k, Take&& take) const {
    const ElementId e(tree_.order[k]);
    return descend({k, e, box_of(corner_points(mesh_, e))}, tree_.levels.size() - 1, 0, take);
  }

 private:
  struct Wanted {
    std::size_t place;
    ElementId triangle;
    Box box;
  };

  template <class Take>
  std::size_t descend(const Wanted& wanted, std::size_t level, std::size_t index, Take& take) const {
    if (!may_meet(wanted, level, index)) return 0;
    std::size_t work = 0;
    const std::size_t children = level == 0 ? tree_.order.size() : tree_.levels[level - 1].size();
    const std::size_t end = std::min(children, (index + 1) * BoxTree::fan_out);
    for (std::size_t child = index * BoxTree::fan_out; child < end; ++child) {
      if (level > 0) work += descend(wanted, level - 1, child, take);
      else if (child > wanted.place) work += test(wanted, ElementId(tree_.order[child]), take);
    }
    return work;
  }

  [[nodiscard]] bool may_meet(const Wanted& wanted, std::size_t level, std::size_t index) const {
    const Box& box = tree_.levels[level][index];
    if (!touch(wanted.box, box)) return false;
    if (hubs_.empty()) return true;
    const HubBox& common = hub_boxes_[level][index];
    const auto& ids = mesh_.element(wanted.triangle);
    const bool around_it = std::any_of(ids.begin(), ids.end(), [&](VertexId v) { return v.value == common.hub; });
    return !around_it || touch(wanted.box, common.far) || touch(far_box(mesh_, wanted.triangle, common.hub), box);
  }

  template <class Take>
  std::size_t test(const Wanted& wanted, ElementId other, Take& take) const {
    constexpr std::size_t triangle_work = 20;
    const ElementId e = wanted.triangle;
    if (!touch(wanted.box, box_of(corner_points(mesh_, other)))) return 1;
    if (triangles_meet(mesh_, e, other)) take(TrianglePair{std::min(e, other), std::max(e, other)});
    return triangle_work;
  }

  void add_hub_boxes() {
    const auto level_above = [](std::size_t children, auto&& child) {
      std::vector<HubBox> level;
      for (std::size_t k = 0; k < children; ++k) {
        if (k % BoxTree::fan_out == 0) level.push_back(child(k));
        else level.back().join(child(k));
      }
      return level;
    };
    hub_boxes_.push_back(level_above(tree_.order.size(), [&](std::size_t k) {
      const std::uint32_t e = tree_.order[k];
      return HubBox{hubs_[e], hubs_[e] == no_hub ? Box{} : far_box(mesh_, ElementId(e), hubs_[e])};
    }));
    while (hub_boxes_.size() < tree_.levels.size()) {
      const std::vector<HubBox>& below = hub_boxes_.back();
      auto above = level_above(below.size(), [&](std::size_t k) { return below[k]; });
      hub_boxes_.push_back(std::move(above));
    }
  }

  const TriangleMesh& mesh_;
  std::vector<std::uint32_t> hubs_;
  BoxTree tree_;
  std::vector<std::vector<HubBox>> hub_boxes_;  // as the tree's levels; empty when there are no hubs
};

/// Calls `take(thread, pair)`; false when that would be more than `max_work` (see `PairSearch`).
template <class Take>
bool for_each_pair(const TriangleMesh& mesh, int threads, const Progress& progress, std::uint64_t max_work,
                   Take&& take) {
  const PairSearch search(mesh, threads);
  constexpr std::size_t at_once = 512;
  const std::size_t chunks = (search.size() + at_once - 1) / at_once;
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> work{0};
  const auto ended = [&] { return progress.cancelled() || work.load(std::memory_order_relaxed) > max_work; };
  parallel_region(threads, [&](int thread, int) {
    for (std::size_t chunk; (chunk = next++) < chunks && !ended();) {
      const std::size_t end = std::min(search.size(), (chunk + 1) * at_once);
      for (std::size_t k = chunk * at_once; k < end && !ended(); ++k)
        work.fetch_add(search.search(k, [&](const TrianglePair& pair) { take(thread, pair); }),
                       std::memory_order_relaxed);
      if (thread == 0 && chunk % 64 == 0) progress.update(static_cast<double>(chunk) / static_cast<double>(chunks));
    }
  });
  if (progress.cancelled()) throw Cancelled();
  return work <= max_work;
}

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
  std::vector<std::vector<TrianglePair>> parts(std::max(1, threads));
  for_each_pair(mesh, static_cast<int>(parts.size()), progress, std::numeric_limits<std::uint64_t>::max(),
                [&](int thread, const TrianglePair& pair) { parts[thread].push_back(pair); });
  std::vector<TrianglePair> result;
  for (const auto& part : parts) result.insert(result.end(), part.begin(), part.end());
  std::sort(result.begin(), result.end());
  return result;
}

std::optional<std::size_t> count_self_intersections(const TriangleMesh& mesh, int threads, const Progress& progress,
                                                    std::uint64_t max_work) {
  std::atomic<std::size_t> count{0};
  const bool complete = for_each_pair(mesh, std::max(1, threads), progress, max_work,
                                      [&](int, const TrianglePair&) { count.fetch_add(1, std::memory_order_relaxed); });
  return complete ? std::optional(count.load()) : std::nullopt;
}

}  // namespace isochron
