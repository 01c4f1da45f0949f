#include "isochron/mesh/visibility.h"

#include <array>
#include <cmath>
#include <optional>

#include "isochron/mesh/closest_point.h"

namespace isochron {

namespace {

/// Where a segment, as a parameter in [0, 1], lies in one element, and the corners it leaves between.
template <int Corners>
struct Crossing {
  double enter = 0;
  double leave = 1;
  std::array<VertexId, Corners> exit{};
  std::size_t exit_count = 0;
};

bool in_plane(const std::array<Vec3d, 3>& x, Vec3d from, Vec3d to) {
  constexpr double relative = 1e-6;
  const Vec3d normal = cross(x[1] - x[0], x[2] - x[0]);
  const double limit = relative * norm(to - from) * norm(normal);
  return std::abs(dot(normal, from - x[0])) <= limit && std::abs(dot(normal, to - x[0])) <= limit;
}

/// Clips the segment by the element's faces; empty when it does not meet the element (or the element is flat).
template <int Corners>
std::optional<Crossing<Corners>> cross_element(const SimplexMesh<Corners>& mesh, ElementId e, Vec3d from, Vec3d to) {
  const auto x = corner_points(mesh, e);
  if constexpr (Corners == 3) {
    if (!in_plane(x, from, to)) return std::nullopt;
  }
  const auto a = barycentric(x, from);
  const auto b = barycentric(x, to);
  if (!a || !b) return std::nullopt;

  constexpr double relative = 1e-9;
  std::array<double, Corners> tolerance{};
  Crossing<Corners> result;
  for (int c = 0; c < Corners; ++c) {
    const double slope = (*b)[c] - (*a)[c];
    tolerance[c] = relative * (1 + std::abs((*a)[c]) + std::abs((*b)[c]));
    const double above = (*a)[c] + tolerance[c];
    if (slope > 0) result.enter = std::max(result.enter, -above / slope);
    if (slope < 0) result.leave = std::min(result.leave, -above / slope);
    if (slope == 0 && above < 0) return std::nullopt;
  }
  if (!(result.enter <= result.leave)) return std::nullopt;
  for (int c = 0; c < Corners; ++c)
    if ((*a)[c] + result.leave * ((*b)[c] - (*a)[c]) > 4 * tolerance[c])
      result.exit[result.exit_count++] = mesh.element(e)[c];
  return result;
}

}  // namespace

template <int Corners>
bool segment_inside(const SimplexMesh<Corners>& mesh, const Adjacency& adjacency, Vec3d from,
                    std::span<const ElementId> start, VertexId to, const std::function<bool(ElementId)>& passable) {
  constexpr double slack = 1e-8;  // of the parameter: a little more than clipping widens an element by
  const Vec3d target = mesh.point(to);
  std::vector<Crossing<Corners>> open;  // a heap: what leads furthest is followed first
  std::vector<ElementId> seen;
  const auto less_far = [](const auto& a, const auto& b) { return a.leave < b.leave; };
  const auto ends_in = [&](ElementId e) {
    const auto& corners = mesh.element(e);
    return std::find(corners.begin(), corners.end(), to) != corners.end();
  };
  // Returns true when the element, which the segment is in at `reached`, has the target as a corner: it is convex.
  const auto enter = [&](ElementId e, double reached) {
    if (std::find(seen.begin(), seen.end(), e) != seen.end() || !passable(e)) return false;
    const auto crossing = cross_element(mesh, e, from, target);
    if (crossing && crossing->enter > reached + slack) return false;  // lies ahead: may be entered from elsewhere
    seen.push_back(e);
    if (!crossing || crossing->leave < reached - slack) return false;
    if (ends_in(e)) return true;
    open.push_back(*crossing);
    std::push_heap(open.begin(), open.end(), less_far);
    return false;
  };

  bool arrived = std::any_of(start.begin(), start.end(), [&](ElementId e) { return passable(e) && ends_in(e); });
  for (const ElementId e : start) arrived = arrived || enter(e, 0);
  while (!arrived && !open.empty()) {
    std::pop_heap(open.begin(), open.end(), less_far);
    const Crossing<Corners> last = open.back();
    open.pop_back();
    if (last.exit_count == 0) continue;
    for_elements_sharing(mesh, adjacency, std::span(last.exit.data(), last.exit_count),
                         [&](ElementId e) { arrived = arrived || enter(e, last.leave); });
  }
  return arrived;
}

template bool segment_inside<3>(const TriangleMesh&, const Adjacency&, Vec3d, std::span<const ElementId>, VertexId,
                                const std::function<bool(ElementId)>&);
template bool segment_inside<4>(const TetMesh&, const Adjacency&, Vec3d, std::span<const ElementId>, VertexId,
                                const std::function<bool(ElementId)>&);

}  // namespace isochron
