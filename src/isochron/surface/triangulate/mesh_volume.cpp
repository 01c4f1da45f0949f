#include "isochron/surface/triangulate/mesh_volume.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/surface/field/volume.h"

namespace isochron {
namespace {

Vec3d area_vector(const TriangleMesh& mesh, std::size_t triangle) {
  const auto x = corner_points(mesh, ElementId(triangle));
  return 0.5 * cross(x[1] - x[0], x[2] - x[0]);
}

/// The labels of the sides as places in a list; outside is the last place.
struct Places {
  std::vector<std::int32_t> labels;
  std::vector<std::pair<std::size_t, std::size_t>> sides;  // behind, before
};

Places places_of(std::span<const RegionSides> sides, const LabelVolumes& volumes) {
  Places result;
  std::map<std::int32_t, std::size_t> place;
  for (const auto& [label, volume] : volumes) {
    place[label] = result.labels.size();
    result.labels.push_back(label);
  }
  place[0] = result.labels.size();
  for (const RegionSides& one : sides) result.sides.emplace_back(place.at(one.behind), place.at(one.before));
  return result;
}

/// Moves each corner by the mean, over the areas around it, of how far the triangles are to move.
void move_corners(const Places& places, const std::vector<double>& offsets, double max_move, TriangleMesh& mesh) {
  std::vector<Vec3d> moves(mesh.points.size());
  std::vector<double> areas(mesh.points.size(), 0);
  for (std::size_t t = 0; t < places.sides.size(); ++t) {
    const auto [behind, before] = places.sides[t];
    const Vec3d area = area_vector(mesh, t);
    for (const VertexId v : mesh.elements[t]) {
      moves[v.index()] += (offsets[behind] - offsets[before]) * area;
      areas[v.index()] += norm(area);
    }
  }
  for (std::size_t v = 0; v < moves.size(); ++v) {
    if (!(areas[v] > 0)) continue;
    const Vec3d move = moves[v] / areas[v];
    mesh.points[v] += std::min(1.0, max_move / std::max(norm(move), 1e-300)) * move;
  }
}

/// Puts corners back where the triangles meet otherwise; all of them when that does not suffice.
void undo_crossings(const std::vector<Vec3d>& before, int threads, TriangleMesh& mesh) {
  constexpr int rounds = 5;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<TrianglePair> pairs = self_intersections(mesh, threads);
    if (pairs.empty()) return;
    for (const TrianglePair& pair : pairs)
      for (const ElementId triangle : pair)
        for (const VertexId v : mesh.element(triangle)) mesh.points[v.index()] = before[v.index()];
  }
  mesh.points = before;
}

}  // namespace

LabelVolumes enclosed_volumes(const TriangleMesh& mesh, std::span<const RegionSides> sides) {
  LabelVolumes result;
  if (mesh.points.empty()) return result;
  const Vec3d origin = mesh.points[0];
  for (std::size_t t = 0; t < sides.size(); ++t) {
    const double cone = dot(mesh.point(mesh.elements[t][0]) - origin, area_vector(mesh, t)) / 3;
    result[sides[t].behind] += cone;
    result[sides[t].before] -= cone;
  }
  result.erase(0);
  return result;
}

void move_to_volumes(std::span<const RegionSides> sides, const LabelVolumes& wanted, double max_move, int threads,
                     TriangleMesh& mesh) {
  constexpr double near_enough = 0.02;
  constexpr int steps = 3;
  const LabelVolumes first = enclosed_volumes(mesh, sides);
  LabelVolumes target = first;
  for (auto& [label, volume] : target) {
    const auto want = wanted.find(label);
    if (want != wanted.end() && std::abs(volume - want->second) > near_enough * want->second) volume = want->second;
  }
  if (target == first) return;
  const std::vector<Vec3d> positions(mesh.points.begin(), mesh.points.end());
  const Places places = places_of(sides, target);
  const std::size_t outside = places.labels.size();
  for (int step = 0; step < steps; ++step) {
    std::map<std::pair<std::size_t, std::size_t>, double> areas;
    for (std::size_t t = 0; t < places.sides.size(); ++t) {
      const auto [behind, before] = places.sides[t];
      areas[std::minmax(behind, before)] += norm(area_vector(mesh, t));
    }
    std::vector<SharedBorder> borders;
    borders.reserve(areas.size());
    for (const auto& [pair, area] : areas) borders.push_back({pair.first, pair.second, area});
    const LabelVolumes now = enclosed_volumes(mesh, sides);
    std::vector<double> growth(outside + 1, 0);
    for (std::size_t i = 0; i < outside; ++i) growth[i] = target.at(places.labels[i]) - now.at(places.labels[i]);
    move_corners(places, offsets_for_growth(borders, outside, growth), max_move / steps, mesh);
  }
  undo_crossings(positions, threads, mesh);
}

std::string volume_note(const LabelVolumes& found, const LabelVolumes& wanted, double voxel) {
  constexpr std::size_t most = 5;
  std::vector<std::pair<double, std::int32_t>> off;
  for (const auto& [label, volume] : wanted) {
    const auto have = found.find(label);
    if (have == found.end() || volume <= few_voxels * voxel) continue;
    if (const double share = have->second / volume - 1; std::abs(share) > max_volume_change)
      off.emplace_back(share, label);
  }
  if (off.empty()) return {};
  std::sort(off.begin(), off.end(), [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(most, off.size()); ++i)
    parts.push_back(fmt::format("{} ({:+.0f} %)", off[i].second, 100 * off[i].first));
  return fmt::format(
      "the mesh has another volume than the voxels, by more than {:.0f} %, of label {}{}; ask for smaller "
      "triangles or smooth less",
      100 * max_volume_change, join_text(parts, ", "),
      off.size() > most ? fmt::format(" and {} more", off.size() - most) : "");
}

}  // namespace isochron
