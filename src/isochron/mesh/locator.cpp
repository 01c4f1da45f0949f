#include "isochron/mesh/locator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/error.h"
#include "isochron/mesh/closest_point.h"

namespace isochron {

namespace {

double squared_distance(const Box& box, Vec3d p) {
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    const double gap = std::max({box.low[i] - p[i], p[i] - box.high[i], 0.0});
    sum += gap * gap;
  }
  return sum;
}

}  // namespace

template <int Corners>
struct PointLocator<Corners>::Search {
  Vec3d p;
  double limit;  // squared; only what is at most this far counts
  ElementId element{};
  std::array<double, Corners> weights{};
};

template <int Corners>
PointLocator<Corners>::PointLocator(const SimplexMesh<Corners>& mesh, int threads)
    : mesh_(&mesh), tree_(build_box_tree(mesh, threads)) {}

template <int Corners>
void PointLocator<Corners>::visit_leaf(Search& state, std::size_t index) const {
  const std::size_t end = std::min(tree_.order.size(), (index + 1) * BoxTree::fan_out);
  for (std::size_t k = index * BoxTree::fan_out; k < end; ++k) {
    const ElementId e(tree_.order[k]);
    const auto x = corner_points(*mesh_, e);
    if (squared_distance(box_of(x), state.p) > state.limit) continue;
    const auto found = closest_point(x, state.p);
    if (state.element.valid() ? found.squared_distance >= state.limit : !(found.squared_distance <= state.limit))
      continue;
    state.limit = found.squared_distance;
    state.element = e;
    state.weights = found.weights;
  }
}

template <int Corners>
void PointLocator<Corners>::descend(Search& state, std::size_t level, std::size_t index) const {
  if (level == 0) return visit_leaf(state, index);
  const std::vector<Box>& boxes = tree_.levels[level - 1];
  std::array<std::pair<double, std::size_t>, BoxTree::fan_out> near;
  const std::size_t begin = index * BoxTree::fan_out;
  const std::size_t count = std::min(boxes.size() - begin, BoxTree::fan_out);
  for (std::size_t k = 0; k < count; ++k) near[k] = {squared_distance(boxes[begin + k], state.p), begin + k};
  std::sort(near.begin(), near.begin() + count);
  for (std::size_t k = 0; k < count; ++k) {
    if (near[k].first > state.limit) return;
    if (state.element.valid() && state.limit == 0) return;
    descend(state, level - 1, near[k].second);
  }
}

template <int Corners>
std::optional<Location<Corners>> PointLocator<Corners>::search(Vec3d p, double squared_limit) const {
  Search state{p, squared_limit};
  if (!tree_.levels.empty()) descend(state, tree_.levels.size() - 1, 0);
  if (!state.element.valid()) return std::nullopt;
  const bool exact = state.limit == 0;
  const Vec3d point = exact ? p : weighted_point(corner_points(*mesh_, state.element), state.weights);
  return Location<Corners>{state.element, state.weights, point, std::sqrt(state.limit)};
}

template <int Corners>
std::optional<Location<Corners>> PointLocator<Corners>::locate(Vec3d p, double tolerance) const {
  if (!is_finite(p) || !(tolerance >= 0)) return std::nullopt;
  return search(p, tolerance * tolerance);
}

template <int Corners>
Location<Corners> PointLocator<Corners>::nearest(Vec3d p) const {
  if (!is_finite(p))
    throw InputError("the point has a coordinate that is not a finite number; give three finite numbers");
  auto found = search(p, 0);  // mostly it lies in an element, and this looks at very few
  if (!found) found = search(p, std::numeric_limits<double>::infinity());
  if (!found) throw InputError("the mesh has no elements to find a point in; give a mesh with triangles or tetrahedra");
  return *found;
}

template class PointLocator<3>;
template class PointLocator<4>;

}  // namespace isochron
