#include "isochron/mesh/locator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/ordering.h"

namespace isochron {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool finite(Vec3d p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

template <class Box>
void extend(Box& box, Vec3d low, Vec3d high) {
  for (int i = 0; i < 3; ++i) {
    box.low[i] = std::min(box.low[i], low[i]);
    box.high[i] = std::max(box.high[i], high[i]);
  }
}

template <class Box>
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
PointLocator<Corners>::PointLocator(const SimplexMesh<Corners>& mesh, int threads) : mesh_(&mesh) {
  if (mesh.element_count() == 0) return;
  sort_elements(threads);
  build_boxes(threads);
}

template <int Corners>
void PointLocator<Corners>::sort_elements(int threads) {
  // By the place of their first vertex on the Hilbert curve: far fewer keys to sort than elements.
  const Permutation hilbert = hilbert_order(mesh_->points, CurveDetail::points, threads);
  const auto place = [&](std::size_t e) {
    const std::uint32_t v = mesh_->elements[e][0].value;
    return hilbert.identity() ? v : hilbert.old_to_new[v];
  };
  std::vector<std::uint32_t> cursor(mesh_->vertex_count() + 1, 0);
  for (std::size_t e = 0; e < mesh_->element_count(); ++e) ++cursor[place(e) + 1];
  for (std::size_t v = 1; v < cursor.size(); ++v) cursor[v] += cursor[v - 1];
  order_.resize(mesh_->element_count());
  for (std::size_t e = 0; e < mesh_->element_count(); ++e) order_[cursor[place(e)]++] = static_cast<std::uint32_t>(e);
}

template <int Corners>
void PointLocator<Corners>::build_boxes(int threads) {
  const auto build_level = [&](std::size_t children, auto&& extend_by_child) {
    const Box empty{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    std::vector<Box> level((children + fan_out - 1) / fan_out, empty);
    parallel_for(threads, level.size(), [&](std::size_t i) {
      const std::size_t end = std::min(children, (i + 1) * fan_out);
      for (std::size_t child = i * fan_out; child < end; ++child) extend_by_child(level[i], child);
    });
    levels_.push_back(std::move(level));
  };
  build_level(order_.size(), [&](Box& box, std::size_t k) {
    for (const Vec3d x : corner_points(*mesh_, ElementId(order_[k]))) extend(box, x, x);
  });
  while (levels_.back().size() > 1) {
    const std::size_t below = levels_.size() - 1;
    build_level(levels_[below].size(),
                [&](Box& box, std::size_t k) { extend(box, levels_[below][k].low, levels_[below][k].high); });
  }
}

template <int Corners>
void PointLocator<Corners>::visit_leaf(Search& state, std::size_t index) const {
  const std::size_t end = std::min(order_.size(), (index + 1) * fan_out);
  for (std::size_t k = index * fan_out; k < end; ++k) {
    const ElementId e(order_[k]);
    const auto x = corner_points(*mesh_, e);
    Box box{x[0], x[0]};
    for (const Vec3d& corner : x) extend(box, corner, corner);
    if (squared_distance(box, state.p) > state.limit) continue;
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
  const std::vector<Box>& boxes = levels_[level - 1];
  std::array<std::pair<double, std::size_t>, fan_out> near;
  const std::size_t begin = index * fan_out;
  const std::size_t count = std::min(boxes.size() - begin, fan_out);
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
  if (!levels_.empty()) descend(state, levels_.size() - 1, 0);
  if (!state.element.valid()) return std::nullopt;
  const bool exact = state.limit == 0;
  const Vec3d point = exact ? p : weighted_point(corner_points(*mesh_, state.element), state.weights);
  return Location<Corners>{state.element, state.weights, point, std::sqrt(state.limit)};
}

template <int Corners>
std::optional<Location<Corners>> PointLocator<Corners>::locate(Vec3d p, double tolerance) const {
  if (!finite(p) || !(tolerance >= 0)) return std::nullopt;
  return search(p, tolerance * tolerance);
}

template <int Corners>
Location<Corners> PointLocator<Corners>::nearest(Vec3d p) const {
  if (!finite(p)) throw InputError("the point has a coordinate that is not a finite number; give three finite numbers");
  auto found = search(p, 0);  // mostly it lies in an element, and this looks at very few
  if (!found) found = search(p, infinity);
  if (!found) throw InputError("the mesh has no elements to find a point in; give a mesh with triangles or tetrahedra");
  return *found;
}

template class PointLocator<3>;
template class PointLocator<4>;

}  // namespace isochron
