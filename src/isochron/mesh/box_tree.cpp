#include "isochron/mesh/box_tree.h"

#include <limits>

#include "isochron/core/stop.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/ordering.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// By the place of their first vertex on the Hilbert curve: far fewer keys to sort than elements.
template <int Corners>
std::vector<std::uint32_t> sorted_elements(const SimplexMesh<Corners>& mesh, int threads) {
  const Permutation hilbert = hilbert_order(mesh.points, CurveDetail::points, threads);
  const auto place = [&](std::size_t e) {
    const std::uint32_t v = mesh.elements[e][0].value;
    return hilbert.identity() ? v : hilbert.old_to_new[v];
  };
  std::vector<std::uint32_t> cursor(mesh.vertex_count() + 1, 0);
  const StoppableLoop loop;
  loop(0, mesh.element_count(), [&](std::size_t e) { ++cursor[place(e) + 1]; });
  for (std::size_t v = 1; v < cursor.size(); ++v) cursor[v] += cursor[v - 1];
  std::vector<std::uint32_t> order(mesh.element_count());
  loop(0, mesh.element_count(), [&](std::size_t e) { order[cursor[place(e)]++] = static_cast<std::uint32_t>(e); });
  return order;
}

/// The boxes around each `fan_out` children.
template <class ChildBox>
std::vector<Box> boxes_around(std::size_t children, int threads, ChildBox&& child_box) {
  const Box empty{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  std::vector<Box> level((children + BoxTree::fan_out - 1) / BoxTree::fan_out, empty);
  stoppable_for(threads, level.size(), [&](std::size_t i) {
    const std::size_t end = std::min(children, (i + 1) * BoxTree::fan_out);
    for (std::size_t child = i * BoxTree::fan_out; child < end; ++child) extend(level[i], child_box(child));
  });
  return level;
}

}  // namespace

template <int Corners>
BoxTree build_box_tree(const SimplexMesh<Corners>& mesh, int threads) {
  return build_box_tree(mesh, sorted_elements(mesh, threads), threads);
}

template <int Corners>
BoxTree build_box_tree(const SimplexMesh<Corners>& mesh, std::vector<std::uint32_t> order, int threads) {
  BoxTree tree{std::move(order), {}};
  if (tree.order.empty()) return tree;
  tree.levels.push_back(boxes_around(tree.order.size(), threads, [&](std::size_t k) {
    return box_of(corner_points(mesh, ElementId(tree.order[k])));
  }));
  while (tree.levels.back().size() > 1) {
    const std::vector<Box>& below = tree.levels.back();
    auto above = boxes_around(below.size(), threads, [&](std::size_t k) { return below[k]; });
    tree.levels.push_back(std::move(above));
  }
  return tree;
}

template BoxTree build_box_tree<3>(const TriangleMesh&, int);
template BoxTree build_box_tree<4>(const TetMesh&, int);
template BoxTree build_box_tree<3>(const TriangleMesh&, std::vector<std::uint32_t>, int);
template BoxTree build_box_tree<4>(const TetMesh&, std::vector<std::uint32_t>, int);

}  // namespace isochron
