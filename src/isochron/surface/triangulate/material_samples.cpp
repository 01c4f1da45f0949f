#include "isochron/surface/triangulate/material_samples.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/surface/field/spline.h"
#include "isochron/surface/particles/relaxation.h"
#include "isochron/types.h"

namespace isochron {
namespace {

/// Takes points that are far enough from all that it took before. Positions are in the lattice of the sizes.
class Thinning {
 public:
  explicit Thinning(const SizeField& sizes)
      : sizes_(sizes.view()), width_(3 * *std::min_element(sizes.values.begin(), sizes.values.end())) {}

  /// Takes p if all others are at least `apart` sizes away; says whether it did.
  bool offer(Vec3d p, double apart) {
    const double distance = apart * sizes_.size(p);
    bool free = true;
    visit_near(p, distance, [&](std::uint32_t i) { free &= norm(points_[i] - p) >= distance; });
    if (!free) return false;
    bins_[key(p, 0, 0, 0)].push_back(static_cast<std::uint32_t>(points_.size()));
    points_.push_back(p);
    return true;
  }

  /// Calls `visit` with the numbers of all points that are less than `distance` away, and of others.
  template <class Visit>
  void visit_near(Vec3d p, double distance, Visit&& visit) const {
    const int far = static_cast<int>(std::ceil(distance / width_));
    for (int z = -far; z <= far; ++z)
      for (int y = -far; y <= far; ++y)
        for (int x = -far; x <= far; ++x) {
          const auto bin = bins_.find(key(p, x, y, z));
          if (bin == bins_.end()) continue;
          for (const std::uint32_t i : bin->second) visit(i);
        }
  }

  [[nodiscard]] const std::vector<Vec3d>& points() const { return points_; }
  [[nodiscard]] double size(Vec3d p) const { return sizes_.size(p); }

 private:
  [[nodiscard]] std::uint64_t key(Vec3d p, int x, int y, int z) const {
    const int step[3] = {x, y, z};
    std::uint64_t result = 0;
    for (int a = 0; a < 3; ++a) {
      const auto cell = static_cast<std::int64_t>(std::floor(p[a] / width_)) + step[a];
      result = result << 21 | (static_cast<std::uint64_t>(cell) & 0x1fffff);
    }
    return result;
  }

  SizeView<double> sizes_;
  double width_;
  std::vector<Vec3d> points_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> bins_;
};

/// A point where three or more materials meet.
struct JunctionPoint {
  Vec3d position;
  std::vector<MultiLabelField::Index> materials;  ///< places in `labels()`, ascending
};

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

// Takes points, and goes on from them along their curves as long as there is room.
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
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t before = none, behind = none;
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
      if (sides[i].before == Beside::none || sides[i].behind == Beside::none) return;
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

/// Points of the corners where four materials meet, and evenly along the curves between them, which are followed from
/// these and from `starts` on.
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

// In sizes. Junction points of different curves may have slid towards each other.
constexpr double apart_on_borders = 0.8, apart_on_junctions = 0.5;

// The lowest corners of the lattice's cells that have several materials at their corners.
std::vector<Vec3d> border_cells(const MultiLabelField& field, int threads, const Progress& progress) {
  const Lattice& lattice = field.lattice();
  std::vector<MultiLabelField::Index> label(lattice.point_count());
  parallel_region(threads, [&](int thread, int team) {
    for (int k = thread; k < lattice.shape[2] && !progress.cancelled(); k += team)
      for (int j = 0; j < lattice.shape[1]; ++j)
        for (int i = 0; i < lattice.shape[0]; ++i)
          label[lattice.index(i, j, k)] = field.index_at(lattice.position(i, j, k));
  });
  progress.update(0);
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

// Places near borders, junctions and corners.
struct Candidates {
  std::vector<Vec3d> borders, junctions, corners;
};

// Those of a cell, which is cut into parts no wider than the points will be apart.
Candidates candidates(const MultiLabelField& field, const SizeField& sizes, Vec3d corner) {
  const Vec3d width = field.lattice().spacing;
  const double size = sizes.view().size(corner + 0.5 * width);
  Lattice parts;
  for (int a = 0; a < 3; ++a) {
    const double count = std::max(1.0, std::ceil(width[a] / size));
    parts.shape[a] = static_cast<int>(count) + 1;
    parts.spacing[a] = width[a] / count;
  }
  std::vector<MultiLabelField::Index> label(parts.point_count());
  for (int k = 0; k < parts.shape[2]; ++k)
    for (int j = 0; j < parts.shape[1]; ++j)
      for (int i = 0; i < parts.shape[0]; ++i)
        label[parts.index(i, j, k)] = field.index_at(corner + parts.position(i, j, k));
  Candidates result;
  for (int k = 0; k + 1 < parts.shape[2]; ++k)
    for (int j = 0; j + 1 < parts.shape[1]; ++j)
      for (int i = 0; i + 1 < parts.shape[0]; ++i) {
        std::array<MultiLabelField::Index, 8> at{};
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
        const auto materials = std::unique(at.begin(), at.end()) - at.begin();
        if (materials > 2) result.junctions.push_back(lowest + 0.5 * parts.spacing);
        if (materials > 3) result.corners.push_back(lowest + 0.5 * parts.spacing);
      }
  return result;
}

// Those of all cells, on the borders, curves and corners themselves.
Candidates all_candidates(const MaterialLabels& field, const SizeField& sizes, int threads, const Progress& progress) {
  constexpr std::size_t at_once = 1 << 16;
  const std::vector<Vec3d> cells = border_cells(field.field(), threads, progress);
  const double reach = norm(field.lattice().spacing);
  Candidates result;
  for (std::size_t first = 0; first < cells.size(); first += at_once) {
    progress.update(static_cast<double>(first) / static_cast<double>(cells.size()));
    std::vector<Candidates> of_cell(std::min(at_once, cells.size() - first));
    parallel_for(threads, of_cell.size(), [&](std::size_t n) {
      Candidates& here = of_cell[n];
      here = candidates(field.field(), sizes, cells[first + n]);
      std::erase_if(here.junctions, [&](Vec3d& p) { return !field.find_junction(p, reach); });
      std::erase_if(here.corners, [&](Vec3d& p) { return !field.find_corner(p, reach); });
      for (Vec3d& p : here.borders) p = field.project(p);
    });
    for (const Candidates& here : of_cell) {
      result.borders.insert(result.borders.end(), here.borders.begin(), here.borders.end());
      result.junctions.insert(result.junctions.end(), here.junctions.begin(), here.junctions.end());
      result.corners.insert(result.corners.end(), here.corners.begin(), here.corners.end());
    }
  }
  return result;
}

// (level of a − level of b)/2, as something that particles can be projected to.
struct PairDistance {
  const MultiLabelField* field;
  MultiLabelField::Index a, b;
  [[nodiscard]] Jet<double> slope(Vec3d p) const { return field->difference(a, b, p); }
};

// The border between two materials, for `Relaxation`.
struct BorderFields {
  PairDistance distance;
  SizeView<double> sizes;

  [[nodiscard]] bool holds(Vec3d p) const {
    const MultiLabelField::Index here = distance.field->index_at(p);
    return here == distance.a || here == distance.b;
  }
  // A place beyond the border's rim is not reached.
  [[nodiscard]] Projection<double> put(Vec3d p, double size, double tolerance, int most) const {
    Projection<double> landed = project(distance, p, size, tolerance, most);
    landed.reached = landed.reached && holds(landed.position);
    return landed;
  }
};

using Pair = std::pair<MultiLabelField::Index, MultiLabelField::Index>;

// A border's own points, and those on the junctions around it.
struct Border {
  std::vector<Vec3d> points, rim;
};

std::map<Pair, Border> borders_of(const MaterialLabels& field, const MaterialSamples& samples) {
  std::map<Pair, Border> result;
  for (std::size_t i = samples.fixed; i < samples.points.size(); ++i)
    result[field.nearest_two(samples.points[i])].points.push_back(samples.points[i]);
  for (std::size_t i = 0; i < samples.fixed; ++i) {
    const auto materials = field.meeting(samples.points[i]);
    for (std::size_t a = 0; a < materials.size(); ++a)
      for (std::size_t b = a + 1; b < materials.size(); ++b) {
        const auto border = result.find({materials[a], materials[b]});
        if (border != result.end()) border->second.rim.push_back(samples.points[i]);
      }
  }
  return result;
}

}  // namespace

MaterialSamples sample_materials(const MaterialLabels& field, const SizeField& sizes, int threads,
                                 const Progress& progress) {
  const Candidates places = all_candidates(field, sizes, threads, progress);
  Thinning thinning(sizes);
  for (const JunctionPoint& at : follow_junctions(field, sizes, places.corners, places.junctions, threads))
    thinning.offer(at.position, apart_on_junctions);
  MaterialSamples result;
  result.fixed = thinning.points().size();
  for (const Vec3d& p : places.borders) thinning.offer(p, apart_on_borders);
  result.points = thinning.points();
  return result;
}

MaterialSamples relax_materials(const MaterialLabels& field, const SizeField& sizes, const MaterialSamples& samples,
                                const ParticleOptions& options, const Progress& progress) {
  constexpr std::size_t large = 2000;  // points: worth all threads, while of smaller ones each has one
  const std::map<Pair, Border> borders = borders_of(field, samples);
  std::vector<std::vector<Vec3d>> relaxed(borders.size());
  const Progress cancel{{}, progress.cancel};
  const auto relax_one = [&](std::size_t n, const Pair& pair, const Border& border, int threads) {
    ParticleOptions own = options;
    own.threads = threads;
    Relaxation relaxation(BorderFields{{&field.field(), pair.first, pair.second}, sizes.view()}, own);
    relaxation.place(border.points);
    if (relaxation.particle_count() == 0) return;
    relaxation.fix(border.rim);
    relaxed[n] = run_relaxation(relaxation, own, cancel).positions;
  };
  std::vector<std::pair<std::size_t, std::map<Pair, Border>::const_iterator>> small;
  std::size_t n = 0, all_points = 0;
  std::atomic<std::size_t> done = 0;  // points
  for (const auto& [pair, border] : borders) all_points += border.points.size();
  const auto report = [&] { progress.update(static_cast<double>(done) / static_cast<double>(all_points)); };
  for (auto one = borders.begin(); one != borders.end(); ++one, ++n) {
    if (one->second.points.size() < large) {
      small.emplace_back(n, one);
      continue;
    }
    relax_one(n, one->first, one->second, options.threads);
    done += one->second.points.size();
    report();
  }
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  std::atomic<std::size_t> next = 0;
  parallel_region(threads, [&](int thread, int) {
    for (std::size_t i = next++; i < small.size(); i = next++) {
      const auto& [pair, border] = *small[i].second;
      relax_one(small[i].first, pair, border, 1);
      done += border.points.size();
      if (thread == 0) report();
    }
  });
  MaterialSamples result{{samples.points.begin(), samples.points.begin() + static_cast<std::ptrdiff_t>(samples.fixed)},
                         samples.fixed};
  for (const std::vector<Vec3d>& points : relaxed)
    result.points.insert(result.points.end(), points.begin(), points.end());
  return result;
}

}  // namespace isochron
