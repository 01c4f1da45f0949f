#include "isochron/surface/triangulate/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

constexpr double too_far = 0.25;       // of the size wanted
constexpr double merged_within = 0.1;  // of a component's width

struct Piece {
  std::uint32_t partner = SurfaceTopology::no_component;
  std::size_t votes = 0;
  double distance = 0;  // mean, of all that were asked
};

// For each component of `from` the one of `to` that most of its triangles are nearest to.
std::vector<Piece> partners(const TriangleMesh& from, const SurfaceTopology& topology, const PointLocator<3>& to,
                            const SurfaceTopology& other, int threads) {
  constexpr std::size_t enough = 400;  // triangles asked in each component
  std::vector<std::size_t> seen(topology.components.size());
  std::vector<std::uint32_t> asked;
  for (std::size_t t = 0; t < from.element_count(); ++t) {
    const std::uint32_t c = topology.component_of[t];
    if (c == SurfaceTopology::no_component) continue;
    const std::size_t stride = 1 + topology.components[c].triangles / enough;
    if (seen[c]++ % stride == 0) asked.push_back(static_cast<std::uint32_t>(t));
  }
  std::vector<std::uint32_t> answers(asked.size());
  std::vector<double> distances(asked.size());
  parallel_for(threads, asked.size(), [&](std::size_t i) {
    const auto& corners = from.elements[asked[i]];
    const Vec3d centre = (from.point(corners[0]) + from.point(corners[1]) + from.point(corners[2])) / 3;
    const Location<3> nearest = to.nearest(centre);
    answers[i] = other.component_of[nearest.element.index()];
    distances[i] = nearest.distance;
  });
  std::vector<std::map<std::uint32_t, std::size_t>> votes(topology.components.size());
  std::vector<Piece> result(topology.components.size());
  std::vector<std::size_t> counts(topology.components.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::uint32_t c = topology.component_of[asked[i]];
    ++votes[c][answers[i]];
    result[c].distance += distances[i];
    ++counts[c];
  }
  for (std::size_t c = 0; c < votes.size(); ++c) {
    result[c].distance /= static_cast<double>(std::max<std::size_t>(1, counts[c]));
    for (const auto& [partner, count] : votes[c]) {
      if (count <= result[c].votes) continue;
      result[c].partner = partner;
      result[c].votes = count;
    }
  }
  return result;
}

}  // namespace

ExpectedSurface::ExpectedSurface(const TriangleMesh& mesh, int threads)
    : mesh_(mesh), threads_(threads), topology_(surface_topology(mesh)), locator_(mesh, threads) {}

std::vector<SurfaceDifference> ExpectedSurface::differences(const TriangleMesh& found) const {
  const SurfaceTopology& before = topology_;
  const SurfaceTopology after = surface_topology(found);
  const std::vector<Piece> there = partners(mesh_, before, PointLocator<3>(found, threads_), after, threads_);
  const std::vector<Piece> back = partners(found, after, locator_, before, threads_);
  std::vector<std::size_t> pieces(before.components.size());
  std::vector<long> euler(before.components.size());
  for (std::size_t c = 0; c < back.size(); ++c) {
    ++pieces[back[c].partner];
    euler[back[c].partner] += after.components[c].euler_characteristic();
  }
  std::vector<SurfaceDifference> result;
  for (std::size_t c = 0; c < before.components.size(); ++c) {
    const SurfaceComponent& component = before.components[c];
    SurfaceDifference difference;
    difference.component = c;
    difference.area = component.area;
    difference.place = mesh_.point(mesh_.element(component.first)[0]);
    difference.expected_euler = component.euler_characteristic();
    difference.found_euler = euler[c];
    if (pieces[c] == 0) {
      // What lies nearest to it belongs to another one: it grew together with that if that is really near.
      const bool near = there[c].distance < merged_within * std::sqrt(component.area);
      difference.kind = near ? SurfaceDifference::Kind::merged : SurfaceDifference::Kind::lost;
      if (near) difference.found_euler = after.components[there[c].partner].euler_characteristic();
    } else if (pieces[c] > 1) {
      difference.kind = SurfaceDifference::Kind::divided;
    } else if (euler[c] != difference.expected_euler) {
      difference.kind = SurfaceDifference::Kind::handles;
    } else {
      continue;
    }
    result.push_back(difference);
  }
  return result;
}

std::size_t ExpectedSurface::drop_specks(TriangleMesh& found, double volume) const {
  const SurfaceTopology after = surface_topology(found);
  const auto small = [&](std::size_t c) { return std::abs(after.components[c].volume) < volume; };
  const std::vector<Piece> there = partners(mesh_, topology_, PointLocator<3>(found, threads_), after, threads_);
  std::vector<char> dropped(after.components.size());
  for (std::size_t c = 0; c < dropped.size(); ++c) dropped[c] = small(c) ? 1 : 0;
  for (const Piece& piece : there) dropped[piece.partner] = 0;
  const auto count = static_cast<std::size_t>(std::count(dropped.begin(), dropped.end(), 1));
  if (count == 0) return 0;

  TriangleMesh kept;
  std::vector<VertexId> renumbered(found.vertex_count());
  for (std::size_t t = 0; t < found.element_count(); ++t) {
    if (dropped[after.component_of[t]] != 0) continue;
    kept.elements.push_back(found.elements[t]);
    for (VertexId& v : kept.elements.back()) {
      VertexId& now = renumbered[v.index()];
      if (!now.valid()) {
        now = VertexId(kept.points.size());
        kept.points.push_back(found.point(v));
      }
      v = now;
    }
  }
  found = std::move(kept);
  return count;
}

std::vector<Vec3d> ExpectedSurface::uncovered(const TriangleMesh& found, const LabelField& field,
                                              const SizeView<double>& sizes) const {
  return uncovered(mesh_.points.copy(), found, field, sizes);
}

std::vector<Vec3d> ExpectedSurface::uncovered(const TriangleMesh& found, const LabelField& field,
                                              const SizeView<double>& sizes,
                                              const std::vector<SurfaceDifference>& only) const {
  std::vector<char> wanted(topology_.components.size());
  for (const SurfaceDifference& difference : only) wanted[difference.component] = 1;
  std::vector<Vec3d> points;
  for (std::size_t t = 0; t < mesh_.element_count(); ++t)
    if (wanted[topology_.component_of[t]] != 0) points.push_back(mesh_.point(mesh_.elements[t][0]));
  return uncovered(std::move(points), found, field, sizes);
}

std::vector<Vec3d> ExpectedSurface::uncovered(std::vector<Vec3d> points, const TriangleMesh& found,
                                              const LabelField& field, const SizeView<double>& sizes) const {
  const PointLocator<3> locator(found, threads_);
  std::vector<char> far(points.size());
  parallel_for(threads_, points.size(), [&](std::size_t i) {
    points[i] = field.project(points[i]);
    const double size = sizes.size(points[i]);
    if (field.look(points[i]).clearance > 0.01 * size) return;  // it did not reach the surface
    far[i] = locator.locate(points[i], too_far * size) ? 0 : 1;
  });
  std::vector<Vec3d> result;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (far[i] != 0) result.push_back(points[i]);
  return result;
}

}  // namespace isochron
