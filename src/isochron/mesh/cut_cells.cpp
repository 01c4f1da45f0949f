#include "isochron/mesh/cut_cells.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace isochron {
namespace {

/// The sine of an angle that counts as straight: about the rounding of single precision, in which files often are.
constexpr double straight = 1e-6;

/// A side of a solid, seen from outside; triangles have no fourth corner.
using Side = std::array<int, 4>;
constexpr int none = -1;
constexpr std::array<Side, 5> pyramid_sides{
    {{0, 3, 2, 1}, {0, 1, 4, none}, {1, 2, 4, none}, {2, 3, 4, none}, {3, 0, 4, none}}};
constexpr std::array<Side, 5> prism_sides{{{0, 2, 1, none}, {3, 4, 5, none}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}};
constexpr std::array<Side, 6> hexahedron_sides{
    {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};

std::span<const Side> sides_of(SolidShape shape) {
  switch (shape) {
    case SolidShape::pyramid: return pyramid_sides;
    case SolidShape::prism: return prism_sides;
    default: return hexahedron_sides;
  }
}

/// Where the first axis of the plane is that is seen best along the normal.
int first_axis(const Vec3d& normal) {
  int main = 0;
  for (int d = 1; d < 3; ++d)
    if (std::abs(normal[d]) > std::abs(normal[main])) main = d;
  return (main + 1) % 3;
}

}  // namespace

bool CellCutter::is_before(VertexId a, VertexId b) const {
  if (order_ == CornerOrder::ids) return a < b;
  const Vec3d &p = point(a), &q = point(b);
  return std::tie(p.x, p.y, p.z, a) < std::tie(q.x, q.y, q.z, b);
}

// Fills the corners, counter-clockwise in their plane, without those that repeat the one before them. False: no area.
bool CellCutter::lay_flat(std::span<const VertexId> polygon) {
  corners_.clear();
  for (const VertexId v : polygon)
    if (corners_.empty() || corners_.back().id != v) corners_.push_back({v});
  while (corners_.size() > 1 && corners_.back().id == corners_.front().id) corners_.pop_back();
  const std::size_t count = corners_.size();
  if (count < 3 || count > max_corners) return false;
  const Vec3d origin = point(corners_[0].id);
  Vec3d normal{};
  double extent = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const Vec3d p = point(corners_[i].id) - origin;
    if (i + 1 < count) normal = normal + cross(p, point(corners_[i + 1].id) - origin);
    extent = std::max(extent, dot(p, p));
  }
  constexpr double rounding = 1e-14;
  if (!(norm(normal) > rounding * extent)) return false;
  // One coordinate is left out, so that corners in a row along an axis stay in a row.
  const int first = first_axis(normal), second = (first + 1) % 3, left_out = (first + 2) % 3;
  for (std::size_t i = 0; i < count; ++i) {
    Corner& corner = corners_[i];
    const Vec3d p = point(corner.id) - origin;
    corner.x = normal[left_out] > 0 ? p[first] : p[second];
    corner.y = normal[left_out] > 0 ? p[second] : p[first];
    corner.before = (i + count - 1) % count;
    corner.after = (i + 1) % count;
  }
  return true;
}

bool CellCutter::turns_left(std::size_t corner) const {
  const Corner &b = corners_[corner], &a = corners_[b.before], &c = corners_[b.after];
  const double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - b.x, vy = c.y - b.y;
  return ux * vy - uy * vx > flatness_ * std::hypot(ux, uy) * std::hypot(vx, vy);
}

bool CellCutter::is_left_of(const Corner& from, const Corner& to, const Corner& p) const {
  const double ux = to.x - from.x, uy = to.y - from.y, vx = p.x - from.x, vy = p.y - from.y;
  return ux * vy - uy * vx >= -flatness_ * std::hypot(ux, uy) * std::hypot(vx, vy);
}

// Whether the triangle at the corner lies inside the polygon. Corners on its sides count as in its way: else what is
// left could be a polygon without area. Only corners that are not convex can be in the way.
bool CellCutter::is_ear(std::size_t corner) const {
  if (!turns_left(corner)) return false;
  const Corner &b = corners_[corner], &a = corners_[b.before], &c = corners_[b.after];
  const auto same_place = [](const Corner& p, const Corner& q) { return p.x == q.x && p.y == q.y; };
  return std::none_of(not_convex_.begin(), not_convex_.end(), [&](std::size_t other) {
    const Corner& p = corners_[other];
    const bool gone = corners_[p.before].after != other;
    if (gone || same_place(p, a) || same_place(p, b) || same_place(p, c)) return false;
    return is_left_of(a, b, p) && is_left_of(b, c, p) && is_left_of(c, a, p);
  });
}

void CellCutter::cut_off(std::size_t corner) {
  const Corner& b = corners_[corner];
  triangles_.push_back({corners_[b.before].id, b.id, corners_[b.after].id});
  corners_[b.before].after = b.after;
  corners_[b.after].before = b.before;
}

// Cuts off ears until a triangle is left. Every second corner is passed over, which avoids fans of thin triangles.
bool CellCutter::cut_all(std::size_t left) {
  std::size_t corner = 1, refused = 0;
  while (left > 3) {
    const std::size_t after = corners_[corner].after;
    if (is_ear(corner)) {
      cut_off(corner);
      corner = corners_[after].after;
      --left;
      refused = 0;
    } else {
      corner = after;
      if (++refused <= left) continue;
      if (flatness_ == 0) return false;
      flatness_ = 0;  // the corners are nearly in a row: any area will do
      refused = 0;
    }
  }
  flatness_ = 0;
  if (!turns_left(corner)) return false;
  cut_off(corner);
  return true;
}

// The diagonal from the first corner, when it lies inside.
void CellCutter::cut_quad() {
  std::size_t first = 0;
  for (std::size_t i = 1; i < 4; ++i)
    if (is_before(corners_[i].id, corners_[first].id)) first = i;
  const auto id = [&](std::size_t i) { return corners_[(first + i) % 4].id; };
  if (!is_ear((first + 1) % 4) || !is_ear((first + 3) % 4)) return;
  triangles_.push_back({id(0), id(1), id(2)});
  triangles_.push_back({id(0), id(2), id(3)});
}

std::span<const std::array<VertexId, 3>> CellCutter::triangles(std::span<const VertexId> polygon) {
  triangles_.clear();
  not_convex_.clear();
  flatness_ = straight;
  if (!lay_flat(polygon)) return {};
  for (std::size_t i = 0; i < corners_.size(); ++i)
    if (!turns_left(i)) not_convex_.push_back(i);
  if (corners_.size() == 4) cut_quad();
  if (triangles_.empty() && !cut_all(corners_.size())) return {};
  return triangles_;
}

// One side of a solid, cut from its first corner, gives tetrahedra with the first corner of the solid.
void CellCutter::add_tets(VertexId first, std::span<const VertexId> side) {
  const auto earlier = [&](VertexId a, VertexId b) { return is_before(a, b); };
  const auto start = static_cast<std::size_t>(std::min_element(side.begin(), side.end(), earlier) - side.begin());
  const auto at = [&](std::size_t i) { return side[(start + i) % side.size()]; };
  for (std::size_t i = 1; i + 1 < side.size(); ++i) {
    const std::array tet{first, at(0), at(i), at(i + 1)};
    const bool flat = tet[1] == tet[2] || tet[2] == tet[3] || tet[1] == tet[3];
    if (!flat) tets_.push_back(tet);
  }
}

void CellCutter::turn_positive() {
  double volume = 0;
  for (const auto& [a, b, c, d] : tets_)
    volume += dot(cross(point(b) - point(a), point(c) - point(a)), point(d) - point(a));
  if (volume < 0)
    for (auto& tet : tets_) std::swap(tet[2], tet[3]);
}

std::span<const std::array<VertexId, 4>> CellCutter::tets(SolidShape shape, std::span<const VertexId> corners) {
  tets_.clear();
  const auto earlier = [&](VertexId a, VertexId b) { return is_before(a, b); };
  const VertexId first = *std::min_element(corners.begin(), corners.end(), earlier);
  for (const Side& side : sides_of(shape)) {
    std::array<VertexId, 4> ids;
    std::size_t count = 0;
    for (const int corner : side)
      if (corner != none) ids[count++] = corners[static_cast<std::size_t>(corner)];
    if (std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count), first) ==
        ids.begin() + static_cast<std::ptrdiff_t>(count))
      add_tets(first, std::span(ids).first(count));
  }
  turn_positive();
  return tets_;
}

}  // namespace isochron
