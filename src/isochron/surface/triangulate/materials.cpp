#include "isochron/surface/triangulate/materials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "isochron/core/parallel.h"

namespace isochron {
namespace {

constexpr double apart_on_junctions = 0.7, apart_on_borders = 0.8;  // in sizes

// Takes points that are far enough from all that it took before.
class Thinning {
 public:
  explicit Thinning(const SizeField& sizes)
      : sizes_(sizes.view()), width_(*std::max_element(sizes.values.begin(), sizes.values.end())) {}

  void offer(Vec3d p, double apart) {
    const double distance = apart * sizes_.size(p);
    for (int c = 0; c < 27; ++c) {
      const auto bin = bins_.find(key(p, {c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1}));
      if (bin == bins_.end()) continue;
      for (const std::uint32_t i : bin->second)
        if (norm(points_[i] - p) < distance) return;
    }
    bins_[key(p, {})].push_back(static_cast<std::uint32_t>(points_.size()));
    points_.push_back(p);
  }
  [[nodiscard]] std::size_t count() const { return points_.size(); }
  std::vector<Vec3d> take() { return std::move(points_); }

 private:
  [[nodiscard]] std::uint64_t key(Vec3d p, std::array<int, 3> step) const {
    std::uint64_t result = 0;
    for (int a = 0; a < 3; ++a)
      result = result << 21 | static_cast<std::uint64_t>(static_cast<std::int64_t>(p[a] / width_) + step[a] + 1);
    return result;
  }

  SizeView<double> sizes_;
  double width_;
  std::vector<Vec3d> points_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> bins_;
};

Vec3d at_most(Vec3d step, double length) {
  const double own = norm(step);
  return own > length ? (length / own) * step : step;
}

// The lowest corners of the lattice's cells that have several materials at their corners.
std::vector<Vec3d> border_cells(const MaterialLabels& field, int threads) {
  const Lattice& lattice = field.lattice();
  std::vector<int> label(lattice.point_count());
  const auto plane = static_cast<std::size_t>(lattice.shape[0]) * static_cast<std::size_t>(lattice.shape[1]);
  parallel_for(threads, label.size(), [&](std::size_t n) {
    const auto in_plane = static_cast<int>(n % plane);
    const Vec3d p =
        lattice.position(in_plane % lattice.shape[0], in_plane / lattice.shape[0], static_cast<int>(n / plane));
    label[n] = field.look(p).label;
  });
  std::vector<Vec3d> cells;
  for (int k = 0; k + 1 < lattice.shape[2]; ++k)
    for (int j = 0; j + 1 < lattice.shape[1]; ++j)
      for (int i = 0; i + 1 < lattice.shape[0]; ++i) {
        bool several = false;
        for (int c = 1; c < 8; ++c)
          several |= label[lattice.index(i, j, k)] != label[lattice.index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
        if (several) cells.push_back(lattice.position(i, j, k));
      }
  return cells;
}

// Places near borders and junctions.
struct Candidates {
  std::vector<Vec3d> borders, junctions;
};

// Those of a cell, which is cut into parts no wider than the points will be apart.
Candidates candidates(const MaterialLabels& field, const SizeField& sizes, Vec3d corner) {
  const Vec3d width = field.lattice().spacing;
  const double size = sizes.view().size(corner + 0.5 * width);
  Lattice parts;
  for (int a = 0; a < 3; ++a) {
    const double count = std::max(1.0, std::ceil(width[a] / size));
    parts.shape[a] = static_cast<int>(count) + 1;
    parts.spacing[a] = width[a] / count;
  }
  std::vector<int> label(parts.point_count());
  for (int k = 0; k < parts.shape[2]; ++k)
    for (int j = 0; j < parts.shape[1]; ++j)
      for (int i = 0; i < parts.shape[0]; ++i)
        label[parts.index(i, j, k)] = field.look(corner + parts.position(i, j, k)).label;
  Candidates result;
  for (int k = 0; k + 1 < parts.shape[2]; ++k)
    for (int j = 0; j + 1 < parts.shape[1]; ++j)
      for (int i = 0; i + 1 < parts.shape[0]; ++i) {
        std::array<int, 8> at{};
        for (int c = 0; c < 8; ++c)
          at[static_cast<std::size_t>(c)] = label[parts.index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))];
        const Vec3d lowest = corner + parts.position(i, j, k);
        for (int a = 0; a < 3; ++a) {
          if (at[0] == at[std::size_t{1} << a]) continue;
          Vec3d middle = lowest;
          middle[a] += 0.5 * parts.spacing[a];
          result.borders.push_back(middle);
        }
        std::sort(at.begin(), at.end());
        if (std::unique(at.begin(), at.end()) - at.begin() > 2)
          result.junctions.push_back(lowest + 0.5 * parts.spacing);
      }
  return result;
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
    for (int place = 0; place < 3; ++place) {
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

MaterialSamples sample_materials(const MaterialLabels& field, const SizeField& sizes, int threads) {
  const std::vector<Vec3d> cells = border_cells(field, threads);
  std::vector<Candidates> of_cell(cells.size());
  const double reach = norm(field.lattice().spacing);
  parallel_for(threads, cells.size(), [&](std::size_t n) {
    Candidates& here = of_cell[n];
    here = candidates(field, sizes, cells[n]);
    std::erase_if(here.junctions, [&](Vec3d& p) { return !field.find_junction(p, reach); });
    for (Vec3d& p : here.borders) p = field.project(p);
  });

  MaterialSamples result;
  Thinning thinning(sizes);
  for (const Candidates& cell : of_cell)
    for (const Vec3d p : cell.junctions) thinning.offer(p, apart_on_junctions);
  result.fixed = thinning.count();
  for (const Candidates& cell : of_cell)
    for (const Vec3d p : cell.borders) thinning.offer(p, apart_on_borders);
  result.points = thinning.take();
  return result;
}

}  // namespace isochron
