#include "isochron/surface/triangulate/junctions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "isochron/core/parallel.h"
#include "isochron/surface/triangulate/thinning.h"

namespace isochron {
namespace {

constexpr double apart = 0.7;  // in sizes: least distance along curves
constexpr int sweeps = 20;

// The directions of the curves at a point.
std::vector<Vec3d> directions(const MaterialLabels& field, const JunctionPoint& at) {
  std::vector<Vec3d> result;
  const auto& m = at.materials;
  for (std::size_t a = 0; a < m.size(); ++a)
    for (std::size_t b = a + 1; b < m.size(); ++b)
      for (std::size_t c = b + 1; c < m.size(); ++c) {
        const Vec3d along = field.along({m[a], m[b], m[c]}, at.position);
        result.push_back(along);
        result.push_back(-1.0 * along);
      }
  return result;
}

// Takes points, and goes on from them along their curves for as long as there is nobody.
class Follower {
 public:
  Follower(const MaterialLabels& field, const SizeField& sizes) : field_(field), taken_(sizes) {}

  bool add(Vec3d p) {
    if (!taken_.offer(p, apart)) return false;
    points_.push_back({p, field_.meeting(p)});
    return true;
  }
  void follow() {
    for (; followed_ < points_.size(); ++followed_) {
      const Vec3d here = points_[followed_].position;
      const double size = taken_.size(here);
      for (const Vec3d along : directions(field_, points_[followed_]))
        for (const double step : {1.0, apart + 0.05}) {
          Vec3d there = here + step * size * along;
          if (field_.find_junction(there, 0.5 * size) && add(there)) break;
        }
    }
  }
  [[nodiscard]] const Thinning& taken() const { return taken_; }
  std::vector<JunctionPoint> take_points() { return std::move(points_); }

 private:
  const MaterialLabels& field_;
  Thinning taken_;
  std::vector<JunctionPoint> points_;
  std::size_t followed_ = 0;
};

// The two points beside one on its curve.
struct Beside {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t before = nobody, behind = nobody;
};

Beside beside(const MaterialLabels& field, const std::vector<JunctionPoint>& points, const Thinning& taken,
              std::uint32_t i) {
  Beside result;
  const JunctionPoint& here = points[i];
  if (here.materials.size() != 3) return result;
  const Vec3d along = field.along({here.materials[0], here.materials[1], here.materials[2]}, here.position);
  const double far = 2 * taken.size(here.position);
  double least[2] = {far, far};
  taken.visit_near(here.position, far, [&](std::uint32_t j) {
    const auto& others = points[j].materials;
    const bool same_curve = std::includes(others.begin(), others.end(), here.materials.begin(), here.materials.end());
    if (j == i || !same_curve) return;
    const Vec3d chord = points[j].position - here.position;
    const double length = norm(chord), on = dot(chord, along);
    const int side = on > 0 ? 1 : 0;
    if (std::abs(on) < 0.5 * length || length >= least[side]) return;
    least[side] = length;
    (side == 1 ? result.before : result.behind) = j;
  });
  return result;
}

// Slides points along their curves to the middle between those beside them, as the sizes measure it.
void even_out(const MaterialLabels& field, const Thinning& taken, int threads, std::vector<JunctionPoint>& points) {
  std::vector<Beside> sides(points.size());
  parallel_for(threads, points.size(),
               [&](std::size_t i) { sides[i] = beside(field, points, taken, static_cast<std::uint32_t>(i)); });
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<Vec3d> moved(points.size());
    parallel_for(threads, points.size(), [&](std::size_t i) {
      const JunctionPoint& here = points[i];
      moved[i] = here.position;
      if (sides[i].before == Beside::nobody || sides[i].behind == Beside::nobody) return;
      const Vec3d before = points[sides[i].before].position, behind = points[sides[i].behind].position;
      const double size = taken.size(here.position);
      const double ahead = norm(before - here.position) / (size + taken.size(before));
      const double back = norm(here.position - behind) / (size + taken.size(behind));
      const Vec3d way = ahead > back ? before - here.position : behind - here.position;
      Vec3d there = here.position + (size * std::abs(ahead - back) / norm(way)) * way;
      if (field.find_junction(there, 0.5 * size) && field.meeting(there) == here.materials) moved[i] = there;
    });
    for (std::size_t i = 0; i < points.size(); ++i) points[i].position = moved[i];
  }
}

}  // namespace

std::vector<JunctionPoint> follow_junctions(const MaterialLabels& field, const SizeField& sizes,
                                            std::span<const Vec3d> corners, std::span<const Vec3d> starts,
                                            int threads) {
  Follower follower(field, sizes);
  for (const Vec3d& p : corners) follower.add(p);
  follower.follow();
  for (const Vec3d& p : starts)
    if (follower.add(p)) follower.follow();
  std::vector<JunctionPoint> points = follower.take_points();
  even_out(field, follower.taken(), threads, points);
  return points;
}

}  // namespace isochron
