#include "isochron/surface/triangulate/materials.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isochron {
namespace {

Vec3d at_most(Vec3d step, double length) {
  const double own = norm(step);
  return own > length ? (length / own) * step : step;
}

}  // namespace

MaterialLabels::MaterialLabels(const MultiLabelField& field, std::int32_t outside) : field_(field) {
  const auto labels = field.labels();
  outside_ = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), outside) - labels.begin());
  const Lattice& lattice = field.lattice();
  for (int a = 0; a < 3; ++a) extent_[a] = (lattice.shape[a] - 1) * lattice.spacing[a];
  spacing_ = std::min({lattice.spacing.x, lattice.spacing.y, lattice.spacing.z});
}

MaterialLabels::Lowest MaterialLabels::lowest(Vec3d p) const {
  Lowest result;
  for (double& level : result.level) level = std::numeric_limits<double>::infinity();
  for (MultiLabelField::Index i = 0; i < field_.labels().size(); ++i) {
    double level = field_.level(i, p);
    MultiLabelField::Index index = i;
    for (int place = 0; place < 4; ++place) {
      if (!(level < result.level[place])) continue;
      std::swap(level, result.level[place]);
      std::swap(index, result.index[place]);
    }
  }
  return result;
}

LabelField::Look MaterialLabels::look(Vec3d p) const {
  const Lowest low = lowest(p);
  bool inside = low.index[0] != outside_;
  for (int a = 0; a < 3; ++a) inside &= p[a] >= 0 && p[a] <= extent_[a];
  return {inside ? static_cast<int>(low.index[0]) + 1 : 0, 0.5 * (low.level[1] - low.level[0]) * spacing_};
}

Vec3d MaterialLabels::project(Vec3d p) const {
  for (int step = 0; step < 12; ++step) {
    // The two lowest anew each time: the border at hand may be another one after a step.
    const Lowest low = lowest(p);
    const Jet<double> between = field_.difference(low.index[0], low.index[1], p);
    const double steepness = dot(between.gradient, between.gradient);
    if (std::abs(between.value) < 1e-7 || !(steepness > 1e-12)) break;
    p += at_most((-between.value / steepness) * between.gradient, spacing_);
  }
  return p;
}

Vec3d MaterialLabels::normal(Vec3d p) const {
  const Lowest low = lowest(p);
  const Vec3d g = field_.difference(low.index[0], low.index[1], p).gradient;
  const double length = norm(g);
  return length > 0 ? g / length : Vec3d{0, 0, 1};
}

// Newton's method for two equations in three unknowns, by the shortest step.
bool MaterialLabels::find_junction(Vec3d& p, double reach) const {
  const Vec3d start = p;
  for (int step = 0; step < 15; ++step) {
    const Lowest low = lowest(p);
    const Jet<double> f = field_.difference(low.index[0], low.index[1], p);
    const Jet<double> g = field_.difference(low.index[0], low.index[2], p);
    if (std::abs(f.value) < 1e-6 && std::abs(g.value) < 1e-6) return true;
    const double ff = dot(f.gradient, f.gradient), fg = dot(f.gradient, g.gradient), gg = dot(g.gradient, g.gradient);
    const double determinant = ff * gg - fg * fg;
    if (!(determinant > 1e-4 * ff * gg)) return false;
    const double s = (gg * f.value - fg * g.value) / determinant, t = (ff * g.value - fg * f.value) / determinant;
    p -= at_most(s * f.gradient + t * g.gradient, 0.5 * spacing_);
    if (norm(p - start) > reach) return false;
  }
  return false;
}

// Newton's method for three equations in three unknowns.
bool MaterialLabels::find_corner(Vec3d& p, double reach) const {
  const Vec3d start = p;
  for (int step = 0; step < 15; ++step) {
    const Lowest low = lowest(p);
    Jet<double> f[3];
    double largest = 0, scale = 1;
    for (int k = 0; k < 3; ++k) {
      f[k] = field_.difference(low.index[0], low.index[k + 1], p);
      largest = std::max(largest, std::abs(f[k].value));
      scale *= norm(f[k].gradient);
    }
    if (largest < 1e-6) return true;
    const Vec3d across[3] = {cross(f[1].gradient, f[2].gradient), cross(f[2].gradient, f[0].gradient),
                             cross(f[0].gradient, f[1].gradient)};
    const double determinant = dot(f[0].gradient, across[0]);
    if (!(std::abs(determinant) > 1e-2 * scale)) return false;
    Vec3d move;
    for (int k = 0; k < 3; ++k) move += (f[k].value / determinant) * across[k];
    p -= at_most(move, 0.5 * spacing_);
    if (norm(p - start) > reach) return false;
  }
  return false;
}

std::vector<MultiLabelField::Index> MaterialLabels::meeting(Vec3d p) const {
  constexpr double same = 1e-4;  // voxels
  const Lowest low = lowest(p);
  std::vector<MultiLabelField::Index> result;
  for (int k = 0; k < 4; ++k)
    if (low.level[k] < low.level[0] + same) result.push_back(low.index[k]);
  std::sort(result.begin(), result.end());
  return result;
}

Vec3d MaterialLabels::along(const std::array<MultiLabelField::Index, 3>& materials, Vec3d p) const {
  const Vec3d direction = cross(field_.difference(materials[0], materials[1], p).gradient,
                                field_.difference(materials[0], materials[2], p).gradient);
  const double length = norm(direction);
  return length > 1e-12 ? direction / length : Vec3d{};
}

std::pair<MultiLabelField::Index, MultiLabelField::Index> MaterialLabels::nearest_two(Vec3d p) const {
  const Lowest low = lowest(p);
  return std::minmax(low.index[0], low.index[1]);
}

}  // namespace isochron
