#include "isochron/trace/grid_field.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "isochron/local/selling.h"

namespace isochron {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Index = std::array<std::int64_t, 3>;

Index rounded(const Vec3d& p) {
  return {static_cast<std::int64_t>(std::floor(p.x + 0.5)), static_cast<std::int64_t>(std::floor(p.y + 0.5)),
          static_cast<std::int64_t>(std::floor(p.z + 0.5))};
}

/// The eight voxels around a position with their weights.
struct Cell {
  Index low;
  Vec3d share;

  explicit Cell(const Vec3d& p) {
    for (int k = 0; k < 3; ++k) {
      low[k] = static_cast<std::int64_t>(std::floor(p[k]));
      share[k] = p[k] - static_cast<double>(low[k]);
    }
  }
  [[nodiscard]] Index corner(int c) const { return {low[0] + (c & 1), low[1] + (c >> 1 & 1), low[2] + (c >> 2)}; }
  [[nodiscard]] double weight(int c) const {
    double w = 1;
    for (int k = 0; k < 3; ++k) w *= (c >> k & 1) != 0 ? share[k] : 1 - share[k];
    return w;
  }
};

/// What it says about steps along the plane of a flat image.
SymTensor3d in_plane(const ImageGrid& grid, const SymTensor3d& m) {
  return grid.flat() ? SymTensor3d{m.xx, m.xy, 0, m.yy, 0, 1} : m;
}

}  // namespace

GridField::GridField(const ImageGrid& grid, const Metric& metric, std::span<const std::uint8_t> mask,
                     std::span<const double> times)
    : grid_(grid),
      metric_(metric),
      speeds_(std::get_if<SpeedMetric>(&metric.kind())),
      from_world_(inverse(in_plane(grid, metric_per_voxel(grid, SymTensor3d::identity())))),
      mask_(mask),
      times_(times) {}

std::optional<VertexId> GridField::voxel(const Vec3d& p) const { return voxel(rounded(p)); }

SymTensor3d GridField::tensor(VertexId v) const {
  return in_plane(grid_, metric_per_voxel(grid_, metric_.tensor(ElementId(v.index()))));
}

double GridField::slope(VertexId v, int order) const {
  const auto at = grid_.index(v);
  const double now = times_[v.index()];
  const auto time_at = [&](const Vec3i& e, int steps) {
    const auto to = voxel(Index{at[0] + steps * e.x, at[1] + steps * e.y, at[2] + steps * e.z});
    return to ? times_[to->index()] : infinity;
  };
  const auto later_by = [&](const Vec3i& e) {  // than the earlier of the two neighbours along e
    const int side = time_at(e, -1) <= time_at(e, 1) ? -1 : 1;
    const double near = time_at(e, side), far = order == 2 ? time_at(e, 2 * side) : infinity;
    if (far <= near && 4 * near - far < 3 * now) return 0.5 * (3 * now - 4 * near + far);
    return std::max(0.0, now - near);
  };
  double sum = 0;
  const auto add = [&](const auto& terms) {
    for (std::size_t t = 0; t < std::size(terms.weight); ++t)
      if (terms.weight[t] > 0) sum += terms.weight[t] * later_by(terms.offset[t]) * later_by(terms.offset[t]);
  };
  const SymTensor3d d = inverse(tensor(v));
  if (grid_.flat()) add(selling_terms_flat(d.xx, d.xy, d.yy));
  else add(selling_terms(d));
  return std::sqrt(sum);
}

double GridField::time(const Vec3d& p) const {
  if (!voxel(p)) return infinity;
  const Cell cell(p);
  double sum = 0, weights = 0;
  for (int c = 0; c < 8; ++c) {
    const double w = cell.weight(c);
    if (!(w > 0)) continue;
    if (const auto v = voxel(cell.corner(c))) {
      sum += w * times_[v->index()];
      weights += w;
    }
  }
  return sum / weights;
}

/// The derivative along an axis. Both sides count where they agree; where they do not, at a border of the mask or of
/// two media or where fronts meet, only the side that the front came from does.
double GridField::difference(const Index& index, VertexId v, int axis) const {
  const auto size = std::int64_t{grid_.shape[axis]};
  const std::size_t stride = axis == 0 ? 1 : axis == 1 ? grid_.shape[0] : std::size_t{grid_.shape[0]} * grid_.shape[1];
  const auto rise = [&](bool inside, std::size_t to) {
    return inside && open(to) ? times_[to] - times_[v.index()] : infinity;
  };
  const double ahead = rise(index[axis] + 1 < size, v.index() + stride);
  const double behind = rise(index[axis] > 0, v.index() - stride);
  const double forward = ahead, backward = -behind;
  const bool agree = std::isfinite(ahead) && std::isfinite(behind) && forward * backward > 0 &&
                     std::abs(forward) < 2 * std::abs(backward) && std::abs(backward) < 2 * std::abs(forward);
  if (agree) return 0.5 * (forward + backward);
  if (std::min(ahead, behind) >= 0) return 0;
  return ahead < behind ? forward : backward;
}

// Fast voxels have more to say than slow ones beside them.
Vec3d GridField::velocity(const Index& index) const {
  const auto v = voxel(index);
  if (!v) return {};
  const Vec3d gradient{difference(index, *v, 0), difference(index, *v, 1), grid_.flat() ? 0 : difference(index, *v, 2)};
  const SymTensor3d d =
      speeds_ != nullptr ? speeds_->speed[v->index()] * speeds_->speed[v->index()] * from_world_ : inverse(tensor(*v));
  const double slope2 = squared_length(d, gradient);
  return slope2 > 0 && std::isfinite(slope2) ? (-1 / std::sqrt(slope2)) * (d * gradient) : Vec3d{};
}

Vec3d CellVelocities::direction(const Vec3d& p) {
  const Cell cell(p);
  const int corners = field_.grid().flat() ? 4 : 8;
  if (low_ != cell.low) {
    for (int c = 0; c < corners; ++c) velocities_[c] = field_.velocity(cell.corner(c));
    low_ = cell.low;
  }
  std::array<double, 8> weights{};
  int leader = -1;  // the nearest voxel; others count as far as they agree with it
  for (int c = 0; c < corners; ++c) {
    if (dot(velocities_[c], velocities_[c]) > 0) weights[c] = cell.weight(c);
    if (weights[c] > 0 && (leader < 0 || weights[c] > weights[leader])) leader = c;
  }
  if (leader < 0) return {};
  Vec3d sum;
  for (int c = 0; c < corners; ++c)
    if (dot(velocities_[c], velocities_[leader]) > 0) sum += weights[c] * velocities_[c];
  return sum / norm(sum);
}

double GridField::cost(const Vec3d& a, const Vec3d& b, double limit) const {
  const Vec3d d = b - a;
  const Vec3d way = d.x * grid_.axes[0] + d.y * grid_.axes[1] + d.z * grid_.axes[2];
  const auto integral = [&](const auto& cost_through) {
    return grid_.flat() ? integrate<2>(a, d, limit, cost_through) : integrate<3>(a, d, limit, cost_through);
  };
  if (speeds_ == nullptr)
    return integral([&](std::size_t v) { return std::sqrt(squared_length(metric_.tensor(ElementId(v)), way)); });
  const double length = norm(way);
  return integral([&, speed = speeds_->speed.data()](std::size_t v) { return length / speed[v]; });
}

/// Whether a line that crosses borders along several axes at once would go between two voxels that are in its way.
template <std::size_t Axes>
bool GridField::slips_between(const Index& here, const Index& step, const std::array<bool, Axes>& crosses) const {
  unsigned at_once = 0;
  for (std::size_t k = 0; k < Axes; ++k) at_once |= crosses[k] ? 1U << k : 0U;
  for (unsigned some = 1; some < at_once; ++some) {
    if ((some & at_once) != some) continue;
    Index beside = here;
    for (int k = 0; k < 3; ++k)
      if ((some >> k & 1U) != 0) beside[k] += step[k];
    if (!voxel(beside)) return true;
  }
  return false;
}

/// The integral along a + t·d for t from 0 to 1 of `cost_through(voxel)`, what the line would cost if all of it were in
/// that voxel.
template <int Axes, class CostThrough>
double GridField::integrate(const Vec3d& a, const Vec3d& d, double limit, const CostThrough& cost_through) const {
  constexpr double together = 1e-9;  // of the line's length: crossings of two borders at one place
  // The line's shares at which it next crosses a border between voxels, per axis, and those from one to the next.
  std::array<double, Axes> crossing, apart{};
  Index step{};
  double t = 0, end = 1, sum = 0;
  for (int k = 0; k < Axes; ++k) {
    crossing[k] = infinity;
    if (d[k] == 0) continue;
    const double x = a[k] + together * d[k];
    const double border = d[k] > 0 ? std::floor(x + 0.5) + 0.5 : std::ceil(x - 0.5) - 0.5;
    const double inverse = 1 / d[k];
    crossing[k] = (border - a[k]) * inverse;
    apart[k] = std::abs(inverse);
    step[k] = d[k] > 0 ? 1 : -1;
    end = std::min(end, crossing[k]);
  }
  Index here = rounded(a + 0.5 * end * d);
  const std::array<std::int64_t, 3> stride{1, grid_.shape[0], std::int64_t{grid_.shape[0]} * grid_.shape[1]};
  std::int64_t v = 0;
  for (int k = 0; k < Axes; ++k) v += here[k] * stride[k];
  while (true) {
    for (int k = 0; k < Axes; ++k)
      if (static_cast<std::uint64_t>(here[k]) >= grid_.shape[k]) return infinity;
    if (!open(static_cast<std::size_t>(v))) return infinity;
    if (end > t) sum += (end - t) * cost_through(static_cast<std::size_t>(v));
    if (sum > limit) return infinity;
    if (end >= 1) return sum;
    // Without branches: which axis comes next cannot be foreseen.
    std::array<bool, Axes> crosses;
    for (int k = 0; k < Axes; ++k) crosses[k] = crossing[k] <= end + together;
    if (std::count(crosses.begin(), crosses.end(), true) > 1 && slips_between(here, step, crosses)) return infinity;
    t = end;
    end = 1;
    for (int k = 0; k < Axes; ++k) {
      const std::int64_t by = crosses[k] ? step[k] : 0;
      here[k] += by;
      v += by * stride[k];
      crossing[k] += crosses[k] ? apart[k] : 0;
      end = std::min(end, crossing[k]);
    }
  }
}

}  // namespace isochron
