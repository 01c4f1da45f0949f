#include "isochron/trace/grid_shorten.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace isochron {
namespace {

/// Makes a path quicker: takes straight ways where they are, and moves single points and runs of them sideways.
///
/// Where the metric is strongly anisotropic and turns from voxel to voxel, a traced path costs several times what the
/// front took, since it is never quite along the fibre of each voxel. To be quicker than such a path says little then:
/// a straight way through slow voxels is, too. So cuts begin short and reach further from sweep to sweep: the path has
/// settled along the fibres when it is compared with long ones. Where all directions are alike, the traced path is the
/// front's but for wiggles of a voxel: narrow shifts are enough, and few sweeps of them. Cuts are short too, but go
/// through ever fewer points, so that a straight way is found at any length.
class Relaxation {
 public:
  Relaxation(const GridField& field, const EndRegion& start, const EndRegion& finish, std::vector<Vec3d>& points)
      : field_(field), start_(start), finish_(finish), alike_(field.isotropic()), points_(points) {
    measure(1, points_.size() - 1);
  }

  void run() {
    constexpr int max_sweeps = 10;
    const int min_sweeps = alike_ ? 0 : 5;
    constexpr double new_way = 0.01;
    const double min_gain = alike_ ? 2e-3 : 1e-4;
    double before = total();
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
      leave_regions();
      if (alike_)
        for (std::size_t stride = 1; stride < points_.size(); stride *= 2) cut_short(first_cut, stride);
      else cut_short(std::min(farthest_cut, first_cut << sweep));
      if (total() < (1 - new_way) * before) probe_ = first_probe;
      std::size_t width = 1;
      while (4 * width < points_.size() && (width < widest_shift || !alike_)) width *= 2;
      for (; width >= 1; width /= 2)
        for (int axis = 0; axis < (field_.grid().flat() ? 2 : 3); ++axis) {
          move_ends(width, axis);
          for (std::size_t centre = 1; centre + 1 < points_.size(); centre += (width + 1) / 2)
            move(centre, width, axis);
        }
      const double now = total();
      if (sweep >= min_sweeps && !(now < (1 - min_gain) * before)) break;
      before = now;
      probe_ = std::max(0.01, 0.5 * probe_);
    }
    leave_regions();
  }

 private:
  /// A point that ways along the path go through.
  struct Node {
    std::size_t point = 0;
    double least = 0;        ///< time of the quickest way from the first point
    std::size_t before = 0;  ///< the node before on that way
    bool straight = false;   ///< whether the way from there is straight, not as the path goes
  };

  /// Finds out what the pieces that end at the points from `first` to `last` cost.
  void measure(std::size_t first, std::size_t last) {
    costs_.resize(points_.size());
    for (std::size_t i = first; i <= last; ++i) costs_[i] = field_.cost(points_[i - 1], points_[i]);
  }

  /// What the pieces that end at the points from `first` to `last` cost together.
  [[nodiscard]] double cost(std::size_t first, std::size_t last) const {
    return std::accumulate(costs_.begin() + static_cast<std::ptrdiff_t>(first),
                           costs_.begin() + static_cast<std::ptrdiff_t>(last) + 1, 0.0);
  }
  [[nodiscard]] double total() const { return cost(1, points_.size() - 1); }

  /// Leaves out points where that is quicker: the quickest of all ways along the path from one to another of every
  /// `stride`-th point, as the path goes or straight past up to `farthest` of them. What is left out is laid on the
  /// straight piece, so that it can move again.
  void cut_short(std::size_t farthest, std::size_t stride = 1) {
    nodes_.clear();
    for (std::size_t i = 0; i + 1 < points_.size(); i += stride) nodes_.push_back({i});
    nodes_.push_back({points_.size() - 1});
    for (std::size_t n = 1; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      node.before = n - 1;
      node.least = nodes_[n - 1].least + cost(nodes_[n - 1].point + 1, node.point);
      for (std::size_t m = n; m-- > (n > farthest ? n - farthest : 0);) {
        const double limit = node.least - nodes_[m].least;
        const double there = nodes_[m].least + field_.cost(points_[nodes_[m].point], points_[node.point], limit);
        if (!(there < node.least)) continue;
        node.least = there;
        node.before = m;
        node.straight = true;
      }
    }
    for (std::size_t n = nodes_.size() - 1; n > 0; n = nodes_[n].before)
      if (nodes_[n].straight) lay_straight(nodes_[nodes_[n].before].point, nodes_[n].point);
  }

  /// Puts the points between two others on the straight piece from one to the other.
  void lay_straight(std::size_t from, std::size_t to) {
    for (std::size_t k = from + 1; k < to; ++k)
      points_[k] = points_[from] +
                   static_cast<double>(k - from) / static_cast<double>(to - from) * (points_[to] - points_[from]);
    measure(from + 1, to);
  }

  /// Of length 1 in voxels, as near to the axis as can be without changing how far along the path a point is: at right
  /// angles to the path in the metric, where strong anisotropy leaves nothing else to gain. Zero along the path.
  [[nodiscard]] Vec3d sideways(std::size_t centre, Vec3d way, int axis) const {
    const auto v = field_.voxel(points_[centre]);
    if (!v) return {};
    const SymTensor3d m = field_.tensor(*v);
    Vec3d side;
    side[axis] = 1;
    side = side - (product(m, way, side) / squared_length(m, way)) * way;
    const double length = norm(side);
    return length > 1e-3 && std::isfinite(length) ? side / length : Vec3d{};
  }

  [[nodiscard]] static int main_axis(const Vec3d& way) {
    int axis = 0;
    for (int k = 1; k < 3; ++k)
      if (std::abs(way[k]) > std::abs(way[axis])) axis = k;
    return axis;
  }

  void move(std::size_t centre, std::size_t width, int axis) {
    const std::size_t first = centre > width ? centre - width + 1 : 1;
    const std::size_t last = std::min(centre + width - 1, points_.size() - 2);
    const Vec3d way = points_[last + 1] - points_[first - 1];
    if (alike_ && axis == main_axis(way)) return;  // the others span all that is sideways
    shift(first, last, centre, width, sideways(centre, way, axis));
  }

  /// The ends move along the axes, within their regions.
  void move_ends(std::size_t width, int axis) {
    Vec3d side;
    side[axis] = 1;
    const std::size_t end = points_.size() - 1;
    if (!start_.empty()) shift(0, std::min(width, end) - 1, 0, width, side);
    if (!finish_.empty()) shift(end - std::min(width, end) + 1, end, end, width, side);
  }

  /// Moves points to the side as far as that is quickest: the centre most, those `width` away not at all.
  void shift(std::size_t first, std::size_t last, std::size_t centre, std::size_t width, const Vec3d& side) {
    if (dot(side, side) == 0) return;
    const std::size_t first_piece = std::max<std::size_t>(first, 1),
                      last_piece = std::min(last + 1, points_.size() - 1);
    kept_.assign(points_.begin() + static_cast<std::ptrdiff_t>(first),
                 points_.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    const auto place = [&](double s) {
      for (std::size_t i = first; i <= last; ++i) {
        const double away = std::abs(static_cast<double>(i) - static_cast<double>(centre));
        points_[i] = kept_[i - first] + s * (1 - away / static_cast<double>(width)) * side;
      }
    };
    double best = 0, least = cost(first_piece, last_piece);
    const double here = least;
    const auto offer = [&](double s) {
      place(s);
      const bool out = (first == 0 && !holds(start_, points_.front())) ||
                       (last + 1 == points_.size() && !holds(finish_, points_.back()));
      if (out) return std::numeric_limits<double>::infinity();
      offered_.clear();
      double sum = 0;
      for (std::size_t i = first_piece; i <= last_piece; ++i)
        sum += offered_.emplace_back(field_.cost(points_[i - 1], points_[i]));
      if (sum < least) {
        least = sum;
        best = s;
        std::swap(offered_, taken_);
      }
      return sum;
    };
    const double back = offer(-probe_), ahead = offer(probe_);
    const double bend = back - 2 * here + ahead;
    if (bend > 0 && std::isfinite(bend))
      offer(std::clamp(0.5 * probe_ * (back - ahead) / bend, -4 * probe_, 4 * probe_));
    place(best);
    if (best != 0) std::copy(taken_.begin(), taken_.end(), costs_.begin() + static_cast<std::ptrdiff_t>(first_piece));
  }

  [[nodiscard]] bool holds(const EndRegion& region, const Vec3d& p) const {
    const auto v = field_.voxel(p);
    return v && region.count(v->value) > 0;
  }

  /// Nothing is to be paid inside a region, so the path begins where it last leaves one and ends where it first enters
  /// the other.
  void leave_regions() {
    if (!start_.empty()) {
      std::size_t last = points_.size() - 2;
      while (last > 0 && !holds(start_, points_[last])) --last;
      points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(last));
      points_[0] = border(start_, points_[0], points_[1]);
    }
    if (!finish_.empty()) {
      std::size_t first = 1;
      while (first + 1 < points_.size() && !holds(finish_, points_[first])) ++first;
      points_.resize(first + 1);
      points_[first] = border(finish_, points_[first], points_[first - 1]);
    }
    if (!start_.empty() || !finish_.empty()) measure(1, points_.size() - 1);
  }

  /// Where the way out of a region leaves it; inside by more than rounding.
  [[nodiscard]] Vec3d border(const EndRegion& region, const Vec3d& inside, const Vec3d& outside) const {
    double in = 0, out = 1;
    constexpr double inset = 1e-6;
    while (out - in > inset) {
      const double middle = 0.5 * (in + out);
      (holds(region, inside + middle * (outside - inside)) ? in : out) = middle;
    }
    return inside + std::max(0.0, in - inset) * (outside - inside);
  }

  static constexpr std::size_t first_cut = 4, farthest_cut = 64, widest_shift = 4;  // points
  static constexpr double first_probe = 0.25;

  const GridField& field_;
  const EndRegion& start_;
  const EndRegion& finish_;
  const bool alike_;
  std::vector<Vec3d>& points_;
  std::vector<double> costs_;  ///< of the piece before each point
  std::vector<Vec3d> kept_;
  std::vector<double> offered_, taken_;  ///< costs of pieces with points moved to the side
  std::vector<Node> nodes_;
  double probe_ =
      first_probe;  // step in voxels from which the best one is guessed; it must not overlook a narrow valley
};

/// Puts points on pieces longer than a voxel and a half, to bend them.
std::vector<Vec3d> divided(const std::vector<Vec3d>& points) {
  constexpr double apart = 1.5;
  std::vector<Vec3d> result{points.front()};
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Vec3d way = points[i] - points[i - 1];
    const double parts = std::ceil(norm(way) / apart);
    for (double part = 1; part < parts; ++part) result.push_back(points[i - 1] + part / parts * way);
    result.push_back(points[i]);
  }
  return result;
}

/// Leaves out points that are closer than a voxel to the one before, where the straight way past them is allowed.
std::vector<Vec3d> thinned(const GridField& field, const std::vector<Vec3d>& points) {
  constexpr double apart = 1;
  std::vector<Vec3d> kept{points.front()};
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const bool near = norm(points[i + 1] - kept.back()) < apart;
    if (!near || !std::isfinite(field.cost(kept.back(), points[i + 1]))) kept.push_back(points[i]);
  }
  if (points.size() > 1) kept.push_back(points.back());
  return kept;
}

}  // namespace

double travel_time(const GridField& field, const std::vector<Vec3d>& points) {
  double sum = 0;
  for (std::size_t i = 1; i < points.size(); ++i) sum += field.cost(points[i - 1], points[i]);
  return sum;
}

void shorten_trail(const GridField& field, const EndRegion& start, const EndRegion& finish, GridTrail& trail) {
  constexpr double touching = 3;  // voxels between the ends: there would be nothing left of the path
  static const EndRegion fixed;
  const bool near = norm(trail.points.back() - trail.points.front()) < touching;
  std::vector<Vec3d> points = divided(thinned(field, trail.points));
  Relaxation(field, near ? fixed : start, near ? fixed : finish, points).run();
  const double total = travel_time(field, points);
  if (!(total < travel_time(field, trail.points))) return;
  const double from = trail.times.front(), to = trail.times.back();
  GridTrail shorter;
  shorter.add(points.front(), from);
  double passed = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double step = field.cost(points[i - 1], points[i]);
    if (!(step > 0)) continue;  // two points in one place
    passed += step;
    shorter.add(points[i], from + passed / total * (to - from));
  }
  shorter.times.back() = to;
  trail = std::move(shorter);
}

}  // namespace isochron
