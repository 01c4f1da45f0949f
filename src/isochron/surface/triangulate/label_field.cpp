#include "isochron/surface/triangulate/label_field.h"

#include <algorithm>
#include <cmath>

namespace isochron {

Vec3d SplineLabels::project(Vec3d p) const {
  const double spacing =
      1 / std::max({view_.lattice.per_spacing.x, view_.lattice.per_spacing.y, view_.lattice.per_spacing.z});
  for (int step = 0; step < 12; ++step) {
    const Jet<double> at = view_.slope(p);
    const double steepness = dot(at.gradient, at.gradient);
    if (std::abs(at.value) < 1e-7 * spacing || !(steepness > 1e-12)) break;
    Vec3d move = (-at.value / steepness) * at.gradient;
    // Where the field is flat, Newton's step is wild: at most a voxel.
    const double length = norm(move);
    if (length > spacing) move = (spacing / length) * move;
    p += move;
  }
  return p;
}

Vec3d SplineLabels::normal(Vec3d p) const {
  const Vec3d g = view_.slope(p).gradient;
  const double length = norm(g);
  return length > 0 ? g / length : Vec3d{0, 0, 1};
}

namespace {

Vec3d at_most(Vec3d step, double length) {
  const double own = norm(step);
  return own > length ? (length / own) * step : step;
}

}  // namespace

MaterialLabels::MaterialLabels(const MultiLabelField& field) : field_(field) {
  const Lattice& lattice = field.lattice();
  for (int a = 0; a < 3; ++a) extent_[a] = (lattice.shape[a] - 1) * lattice.spacing[a];
  spacing_ = std::min({lattice.spacing.x, lattice.spacing.y, lattice.spacing.z});
}

LabelField::Look MaterialLabels::look(Vec3d p) const {
  const MultiLabelField::Nearest near = field_.nearest(p);
  bool inside = near.index[0] != field_.outside();
  for (int a = 0; a < 3; ++a) inside &= p[a] >= 0 && p[a] <= extent_[a];
  return {inside ? static_cast<int>(near.index[0]) + 1 : 0, near.away[1] * spacing_};
}

Vec3d MaterialLabels::project(Vec3d p) const {
  for (int step = 0; step < 12; ++step) {
    // The two nearest anew each time: the border at hand may be another one after a step.
    const MultiLabelField::Nearest near = field_.nearest(p);
    const Jet<double> between = field_.difference(near.index[0], near.index[1], p);
    const double steepness = dot(between.gradient, between.gradient);
    if (std::abs(between.value) < 1e-7 || !(steepness > 1e-12)) break;
    p += at_most((-between.value / steepness) * between.gradient, spacing_);
  }
  return p;
}

Vec3d MaterialLabels::normal(Vec3d p) const {
  const MultiLabelField::Nearest near = field_.nearest(p);
  const Vec3d g = field_.difference(near.index[0], near.index[1], p).gradient;
  const double length = norm(g);
  return length > 0 ? g / length : Vec3d{0, 0, 1};
}

// What is 0 where the nearest materials and one more meet. One that is not outside is compared with all others: two
// comparisons with outside would be the same.
template <std::size_t Count>
std::array<Jet<double>, Count> MaterialLabels::equations(Vec3d p) const {
  const MultiLabelField::Nearest near = field_.nearest(p);
  const int base = near.index[0] == field_.outside() ? 1 : 0;
  std::array<Jet<double>, Count> result;
  for (int k = 0, n = 0; k <= static_cast<int>(Count); ++k)
    if (k != base) result[static_cast<std::size_t>(n++)] = field_.difference(near.index[base], near.index[k], p);
  return result;
}

// Newton's method for two equations in three unknowns, by the shortest step.
bool MaterialLabels::find_junction(Vec3d& p, double reach) const {
  const Vec3d start = p;
  for (int step = 0; step < 15; ++step) {
    const auto [f, g] = equations<2>(p);
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
    const auto [f, g, h] = equations<3>(p);
    if (std::max({std::abs(f.value), std::abs(g.value), std::abs(h.value)}) < 1e-6) return true;
    const Vec3d gh = cross(g.gradient, h.gradient), hf = cross(h.gradient, f.gradient),
                fg = cross(f.gradient, g.gradient);
    const double determinant = dot(f.gradient, gh);
    if (!(std::abs(determinant) > 1e-2 * norm(f.gradient) * norm(g.gradient) * norm(h.gradient))) return false;
    p -= at_most((f.value * gh + g.value * hf + h.value * fg) / determinant, 0.5 * spacing_);
    if (norm(p - start) > reach) return false;
  }
  return false;
}

std::vector<MultiLabelField::Index> MaterialLabels::meeting(Vec3d p) const {
  constexpr double same = 1e-4;  // voxels
  const MultiLabelField::Nearest near = field_.nearest(p);
  std::vector<MultiLabelField::Index> result;
  for (int k = 0; k < MultiLabelField::Nearest::count; ++k)
    if (near.away[k] < same) result.push_back(near.index[k]);
  std::sort(result.begin(), result.end());
  return result;
}

Vec3d MaterialLabels::along(const std::array<MultiLabelField::Index, 3>& materials, Vec3d p) const {
  auto [a, b, c] = materials;
  if (a == field_.outside()) std::swap(a, b);
  const Vec3d direction = cross(field_.difference(a, b, p).gradient, field_.difference(a, c, p).gradient);
  const double length = norm(direction);
  return length > 1e-12 ? direction / length : Vec3d{};
}

std::pair<MultiLabelField::Index, MultiLabelField::Index> MaterialLabels::nearest_two(Vec3d p) const {
  const MultiLabelField::Nearest near = field_.nearest(p);
  return std::minmax(near.index[0], near.index[1]);
}

}  // namespace isochron
