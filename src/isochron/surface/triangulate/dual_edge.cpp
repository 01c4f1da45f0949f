#include "isochron/surface/triangulate/dual_edge.h"

#include <algorithm>
#include <cmath>

namespace isochron {
namespace {

// The part of a segment in the box where labels can differ from 0; false when there is none. One end may be very far.
bool clip(Vec3d& from, Vec3d& to, Vec3d extent) {
  double begin = 0, end = 1;
  const Vec3d step = to - from;
  for (int a = 0; a < 3; ++a) {
    if (step[a] == 0) {
      if (from[a] < 0 || from[a] > extent[a]) return false;
      continue;
    }
    const double low = -from[a] / step[a], high = (extent[a] - from[a]) / step[a];
    begin = std::max(begin, std::min(low, high));
    end = std::min(end, std::max(low, high));
  }
  if (!(begin < end)) return false;
  const Vec3d start = from;
  if (begin > 0) from = start + begin * step;
  if (end < 1) to = start + end * step;
  return true;
}

Vec3d bisect(const LabelField& field, Vec3d from, Vec3d to, int label) {
  for (int step = 0; step < 8; ++step) {
    const Vec3d middle = 0.5 * (from + to);
    (field.look(middle).label == label ? from : to) = middle;
  }
  return 0.5 * (from + to);
}

}  // namespace

DualCrossings dual_crossings(const LabelField& field, const DelaunayFacet& facet, Vec3d corner, double finest) {
  DualCrossings result;
  Vec3d from = facet.centres[0], to = facet.centres[1];
  if (!clip(from, to, field.extent())) return result;
  const double length = norm(to - from);
  const Vec3d along = length > 0 ? (to - from) / length : Vec3d{};
  LabelField::Look last = field.look(from);
  for (double at = 0; at < length;) {
    const double next = std::min(length, at + std::max(finest, 0.8 * last.clearance));
    const LabelField::Look now = field.look(from + next * along);
    if (now.label != last.label) {
      ++result.count;
      const Vec3d crossing = bisect(field, from + at * along, from + next * along, last.label);
      const double radius = norm(crossing - corner);
      if (result.count == 1 || radius > result.radius) {
        result.farthest = crossing;
        result.radius = radius;
      }
    }
    last = now;
    at = next;
  }
  return result;
}

}  // namespace isochron
