#include "isochron/surface/triangulate/rescues.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isochron {
namespace {

constexpr int max_tries = 3;
constexpr double reach = 2;  // edge lengths within which the other side of something thin is looked for

// How far the label changes again in this direction, from just beyond p on; `reach` lengths at most.
double thickness(const LabelField& field, Vec3d p, Vec3d direction, double size) {
  const double step = 0.02 * size;
  const int label = field.look(p + step * direction).label;
  double at = step;
  while (at < reach * size) {
    const LabelField::Look now = field.look(p + at * direction);
    if (now.label != label) break;
    at += std::max(step, 0.8 * now.clearance);
  }
  return std::min(at, reach * size);
}

}  // namespace

std::size_t Rescues::help(std::span<const VertexId> unused) {
  std::size_t added = 0;
  for (const VertexId v : unused) {
    if (v.index() >= tries_.size() || tries_[v.index()] >= max_tries) continue;
    ++tries_[v.index()];
    added += help(v);
  }
  return added;
}

std::size_t Rescues::help(VertexId v) {
  const Vec3d p = tets_.point(v), normal = field_.normal(p);
  const double size = sizes_.size(v, p);
  const double inward = thickness(field_, p, -normal, size), outward = thickness(field_, p, normal, size);
  const double gap = std::min(inward, outward);
  const double ring = size / std::exp2(tries_[v.index()]);
  const double factor = sizes_.factor(v) / std::exp2(tries_[v.index()] - 1);
  std::size_t added = 0;
  if (gap < reach * size) added += add(p + (inward < outward ? -gap : gap) * normal, v, 0.2 * gap, factor) ? 1 : 0;
  const Vec3d other = std::abs(normal.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d a = cross(normal, other) / norm(cross(normal, other)), b = cross(normal, a);
  constexpr int corners = 6;
  for (int k = 0; k < corners; ++k) {
    const double angle = 2 * std::numbers::pi * k / corners;
    added += add(p + ring * std::cos(angle) * a + ring * std::sin(angle) * b, v, 0.5 * ring, factor) ? 1 : 0;
  }
  return added;
}

// Only where no point is nearer than `apart`.
bool Rescues::add(Vec3d p, VertexId near, double apart, double factor) {
  const Vec3d q = field_.project(p);
  const VertexId nearest = tets_.nearest(q, near);
  if (nearest.valid() && norm(q - tets_.point(nearest)) < apart) return false;
  const VertexId added = tets_.insert(q, near);
  if (added.valid()) sizes_.set_factor(added, factor);
  return added.valid();
}

}  // namespace isochron
