#include "isochron/solve/grid/grid_seeds.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "isochron/error.h"

namespace isochron {
namespace {

/// A ball ends where the metric differs by more than this, relative and times the distance in voxels. At the edge of a
/// jump that keeps the error of straight times below a quarter of it, in voxels.
constexpr double allowed_change = 0.2;

Vec3d real(const Vec3i& v) { return {static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)}; }

Vec3i index_of(const ImageGrid& grid, VertexId voxel) {
  const auto [i, j, k] = grid.index(voxel);
  return {static_cast<int>(i), static_cast<int>(j), static_cast<int>(k)};
}

Message place(Place::Kind kind, const Vec3d& index) { return Place{kind, {index.x, index.y, index.z}}; }

std::string name_of(const PointSource& source) {
  const Vec3d& p = source.position;
  return fmt::format("source point {},{},{}", p.x, p.y, p.z);
}
std::string name_of(const VertexSource& source) { return fmt::format("source voxel {}", source.vertex.value); }

template <class Source>
void check_onset(const Source& source) {
  if (!std::isfinite(source.time))
    throw InputError(fmt::format("{} has onset time {}; give a finite number", name_of(source), source.time));
}

PlacedSource place_voxel(const ImageGrid& grid, const VertexSource& source) {
  if (source.vertex.index() >= grid.voxel_count())
    throw InputError(
        fmt::format("source voxel {} is out of range (the image has voxels 0 to {}); give an id of the image",
                    source.vertex.value, grid.voxel_count() - 1));
  check_onset(source);
  const VertexId voxel = source.vertex.in_whole();
  return {real(index_of(grid, voxel)), voxel, true, {}, source.time};
}

PlacedSource place_point(const ImageGrid& grid, const PointSource& source) {
  const Vec3d& p = source.position;
  if (!std::isfinite(p.x + p.y + p.z))
    throw InputError(fmt::format("{} is not finite; give three numbers", name_of(source)));
  const std::optional<VertexId> voxel = grid.voxel_at(p);
  if (!voxel)
    throw InputError(name_of(source) + " is outside the image (its index there would be " +
                     place(Place::Kind::index, grid.index_of(p)) + "); give a point in the image, in the world's unit");
  check_onset(source);
  Vec3d index = grid.index_of(p);
  const Vec3d centre = real(index_of(grid, *voxel));
  if (grid.flat()) index.z = centre.z;
  const bool centred = norm(index - centre) < 1e-9 * (1 + norm(centre));
  return {centred ? centre : index, *voxel, centred, {}, source.time};
}

/// The allowed voxels around a place between voxels, each with the weight of its nearness.
template <class Visit>
void for_corners(const GridCells& cells, const Vec3d& at, Visit&& visit) {
  const Vec3i low{static_cast<int>(std::floor(at.x)), static_cast<int>(std::floor(at.y)),
                  static_cast<int>(std::floor(at.z))};
  const Vec3d rest = at - real(low);
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    Vec3i voxel = low;
    for (int d = 0; d < 3; ++d) {
      const bool upper = (corner >> d & 1) != 0;
      weight *= upper ? rest[d] : 1 - rest[d];
      voxel[d] += upper ? 1 : 0;
    }
    if (weight > 1e-12 && cells.may_enter(voxel)) visit(voxel, weight);
  }
}

/// Whether the line between a place and a voxel touches allowed voxels alone.
class LineOfSight {
 public:
  LineOfSight(const GridCells& cells, const Vec3d& from, int radius) : cells_(cells), from_(from) {
    all_clear_ = true;
    const Vec3i low = floor_of(from - Vec3d{1, 1, 1} * static_cast<double>(radius));
    const Vec3i high = floor_of(from + Vec3d{1, 1, 1} * static_cast<double>(radius + 1));
    for_box(low, high, [&](const Vec3i& voxel) {
      if (cells.box.holds(voxel) && !cells.may_enter(voxel)) all_clear_ = false;
    });
  }
  [[nodiscard]] bool reaches(const Vec3i& voxel) const {
    if (all_clear_) return true;
    const Vec3d to = real(voxel);
    bool clear = true;
    for_box({low_of(from_.x, to.x), low_of(from_.y, to.y), low_of(from_.z, to.z)},
            {high_of(from_.x, to.x), high_of(from_.y, to.y), high_of(from_.z, to.z)}, [&](const Vec3i& between) {
              if (clear && touches(between, to) && !cells_.may_enter(between)) clear = false;
            });
    return clear;
  }

 private:
  static constexpr double touch = 0.5 + 1e-9;

  static Vec3i floor_of(const Vec3d& v) {
    return {static_cast<int>(std::floor(v.x)), static_cast<int>(std::floor(v.y)), static_cast<int>(std::floor(v.z))};
  }
  static int low_of(double a, double b) { return static_cast<int>(std::ceil(std::min(a, b) - touch)); }
  static int high_of(double a, double b) { return static_cast<int>(std::floor(std::max(a, b) + touch)); }
  template <class Visit>
  static void for_box(const Vec3i& low, const Vec3i& high, Visit&& visit) {
    for (int k = low.z; k <= high.z; ++k)
      for (int j = low.y; j <= high.y; ++j)
        for (int i = low.x; i <= high.x; ++i) visit(Vec3i{i, j, k});
  }
  /// A slab test of the line from `from_` to `to` against a voxel's cube.
  [[nodiscard]] bool touches(const Vec3i& voxel, const Vec3d& to) const {
    double begin = 0, end = 1;
    for (int d = 0; d < 3; ++d) {
      const double start = from_[d] - voxel[d], way = to[d] - from_[d];
      if (way == 0) {
        if (std::abs(start) > touch) return false;
        continue;
      }
      const double a = (-touch - start) / way, b = (touch - start) / way;
      begin = std::max(begin, std::min(a, b));
      end = std::min(end, std::max(a, b));
    }
    return begin <= end;
  }

  const GridCells& cells_;
  Vec3d from_;
  bool all_clear_;
};

/// How much M differs from the source's, as a share: the size of M₀^(−1/2) M M₀^(−1/2) − 1.
double change(const SymTensor3d& inverse_at_source, const SymTensor3d& m) {
  const SymTensor3d& a = inverse_at_source;
  const Vec3d columns[3] = {{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}};
  Vec3d p[3];
  for (int c = 0; c < 3; ++c) p[c] = a * columns[c];
  double square = 0, trace = 0;
  for (int r = 0; r < 3; ++r) {
    trace += p[r][r];
    for (int c = 0; c < 3; ++c) square += p[c][r] * p[r][c];
  }
  return std::sqrt(std::max(0.0, square - 2 * trace + 3));
}

/// The seeds of one source.
class SourceBall {
 public:
  SourceBall(const VoxelMetric& metric, const GridCells& cells, const PlacedSource& source, SeedRows* rows)
      : metric_(metric), cells_(cells), source_(source), tensor_(metric_at(metric, cells, source)), rows_(rows) {}

  void add_plain(std::vector<Seed>& seeds) const {
    if (source_.centred) {
      seeds.push_back({source_.vertex, source_.time, source_.source});
      if (rows_ != nullptr) rows_->add_onset(source_.source);
      return;
    }
    const std::size_t before = seeds.size();
    const LineOfSight sight(cells_, source_.position, 1);
    for_corners(cells_, source_.position, [&](const Vec3i& voxel, double) {
      if (sight.reaches(voxel)) add(voxel, SeedKind::own, seeds);
    });
    // On the face of a masked-out voxel every line begins by touching that one.
    if (seeds.size() == before) add(index_of(metric_.grid, source_.vertex), SeedKind::own, seeds);
  }

  void add_ball(int most, std::vector<Seed>& seeds) const {
    const double radius = constant_radius(most);
    if (!(radius > 0)) return;
    const LineOfSight sight(cells_, source_.position, most);
    for_ball(radius, [&](const Vec3i& voxel) {
      if (!sight.reaches(voxel)) return;
      const Vec3d way = real(voxel) - source_.position;
      const bool beside = std::max({std::abs(way.x), std::abs(way.y), std::abs(way.z)}) < 1;
      add(voxel, beside ? SeedKind::own : SeedKind::free_ball, seeds);
    });
  }

 private:
  /// Exact where the metric is constant, and to the second order where it changes evenly.
  void add(const Vec3i& voxel, SeedKind kind, std::vector<Seed>& seeds) const {
    const VertexId id = cells_.box.voxel(voxel);
    Vec3d way = real(voxel) - source_.position;
    const double here = std::sqrt(squared_length(tensor_, way)), there = std::sqrt(squared_length(metric_.at(id), way));
    seeds.push_back({id, source_.time + 0.5 * (here + there), source_.source, kind});
    if (rows_ != nullptr) note(id, way, here, there);
  }

  /// The row of the mean of two times along the same way: in the metric at the source, a mean of those around it, and
  /// in that of the voxel.
  void note(VertexId voxel, const Vec3d& way, double here, double there) const {
    const ImageGrid& grid = metric_.grid;
    const Vec3d in_world = way.x * grid.axes[0] + way.y * grid.axes[1] + way.z * grid.axes[2];
    Vec3d by_index{};  // in voxels
    const auto add_part = [&](VertexId at, double share, double time) {
      rows_->rows.add_term(at.value, SymTensor3d::outer(in_world, 0.25 * share / time));
    };
    if (there > 0) {
      add_part(voxel, 1, there);
      by_index = by_index - (0.5 / there) * (metric_.at(voxel) * way);
    }
    if (here > 0 && source_.centred) add_part(source_.vertex, 1, here);
    if (here > 0 && !source_.centred) {
      by_index = by_index - (0.5 / here) * (tensor_ * way);
      double total = 0;
      for_corners(cells_, source_.position, [&](const Vec3i&, double weight) { total += weight; });
      for_corners(cells_, source_.position, [&](const Vec3i& corner, double weight) {
        const VertexId at = cells_.box.voxel(corner);
        add_part(at, weight / total, here);
        const double excess = squared_length(metric_.at(at), way) - here * here;
        by_index += (0.25 * excess / (here * total)) * weight_by_index(corner);
      });
    }
    rows_->rows.add_position(source_.source, to_world(by_index));
    const std::uint32_t row = rows_->rows.current();
    rows_->rows.end_row();
    rows_->add_after(row, source_.source);
  }

  /// How the nearness of a voxel changes with the place of the source, in voxels.
  [[nodiscard]] Vec3d weight_by_index(const Vec3i& voxel) const {
    const Vec3d from = source_.position - real(voxel);
    Vec3d result;
    for (int d = 0; d < 3; ++d) {
      result[d] = from[d] > 0 ? -1 : 1;
      for (int other = 0; other < 3; ++other)
        if (other != d) result[d] *= 1 - std::abs(from[other]);
    }
    return result;
  }

  /// The derivative by a place in the world, from that by its index.
  [[nodiscard]] Vec3d to_world(const Vec3d& by_index) const {
    const auto& [x, y, z] = metric_.grid.axes;
    const double volume = dot(x, cross(y, z));
    return (by_index.x / volume) * cross(y, z) + (by_index.y / volume) * cross(z, x) +
           (metric_.grid.flat() ? 0 : by_index.z / volume) * cross(x, y);
  }

  template <class Visit>
  void for_ball(double radius, Visit&& visit) const {
    const Vec3d& at = source_.position;
    const auto low = [&](int d) { return static_cast<int>(std::ceil(at[d] - radius)); };
    const auto high = [&](int d) { return static_cast<int>(std::floor(at[d] + radius)); };
    for (int k = low(2); k <= high(2); ++k)
      for (int j = low(1); j <= high(1); ++j)
        for (int i = low(0); i <= high(0); ++i)
          if (const Vec3i voxel{i, j, k}; norm(real(voxel) - at) <= radius && cells_.may_enter(voxel)) visit(voxel);
  }

  [[nodiscard]] double constant_radius(int most) const {
    double radius = most;
    if (std::holds_alternative<UniformMetric>(metric_.metric.kind())) return radius;
    const SymTensor3d inverse_at_source = inverse(tensor_);
    for_ball(radius, [&](const Vec3i& voxel) {
      const double distance = norm(real(voxel) - source_.position);
      if (distance > radius) return;
      if (change(inverse_at_source, metric_.at(cells_.box.voxel(voxel))) * distance > allowed_change)
        radius = distance * (1 - 1e-9);
    });
    return radius;
  }

  const VoxelMetric& metric_;
  const GridCells& cells_;
  const PlacedSource& source_;
  SymTensor3d tensor_;
  SeedRows* rows_;
};

/// Which sources have another source voxel beside them.
class Regions {
 public:
  Regions(const ImageGrid& grid, const std::vector<PlacedSource>& placed) : grid_(grid) {
    for (const PlacedSource& source : placed) voxels_.insert(source.vertex.value);
  }
  [[nodiscard]] bool alone(const PlacedSource& source) const {
    if (voxels_.size() == 1) return true;
    const Vec3i at = index_of(grid_, source.vertex);
    for (int k = -1; k <= 1; ++k)
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          if (const Vec3i beside = at + Vec3i{i, j, k}; beside != at && holds_source(beside)) return false;
    return true;
  }

 private:
  [[nodiscard]] bool holds_source(const Vec3i& index) const {
    for (int d = 0; d < 3; ++d)
      if (index[d] < 0 || index[d] >= static_cast<int>(grid_.shape[static_cast<std::size_t>(d)])) return false;
    return voxels_.count(grid_
                             .voxel(static_cast<std::uint32_t>(index.x), static_cast<std::uint32_t>(index.y),
                                    static_cast<std::uint32_t>(index.z))
                             .value) != 0;
  }

  const ImageGrid& grid_;
  std::unordered_set<std::uint32_t> voxels_;
};

}  // namespace

std::vector<PlacedSource> place_in_grid(const ImageGrid& grid, const Sources& sources) {
  if (!sources.level_set.empty())
    throw UsageError("a level set starts fronts on meshes only; on images give voxels with onset times");
  if (sources.empty()) throw InputError("no source is given; name a voxel or a point");
  std::vector<PlacedSource> placed;
  placed.reserve(sources.count());
  for (const VertexSource& source : sources.vertices) placed.push_back(place_voxel(grid, source));
  for (const PointSource& source : sources.points) placed.push_back(place_point(grid, source));
  for (std::size_t k = 0; k < placed.size(); ++k) placed[k].source = static_cast<std::int32_t>(k);
  drop_repeated(placed);
  return placed;
}

void refuse_masked(const ImageGrid& grid, const Sources& sources, const PlacedSource& placed) {
  const auto number = static_cast<std::size_t>(placed.source);
  const std::size_t voxels = sources.vertices.size();
  const std::string name =
      number < voxels ? name_of(sources.vertices[number]) : name_of(sources.points[number - voxels]);
  throw InputError(name + " is in " + place(Place::Kind::voxel, real(index_of(grid, placed.vertex))) +
                   ", which no front can enter (it is outside the mask or does not conduct); choose another one");
}

std::vector<PlacedSource> place_grid_sources(const ImageGrid& grid, const GridCells& cells, const Sources& sources) {
  std::vector<PlacedSource> placed = place_in_grid(grid, sources);
  for (const PlacedSource& source : placed)
    if (!cells.may_enter(index_of(grid, source.vertex))) refuse_masked(grid, sources, source);
  return placed;
}

std::vector<bool> stand_alone(const ImageGrid& grid, const std::vector<PlacedSource>& placed) {
  const Regions regions(grid, placed);
  std::vector<bool> alone;
  alone.reserve(placed.size());
  for (const PlacedSource& source : placed) alone.push_back(regions.alone(source));
  return alone;
}

SplitSources split_regions(const ImageGrid& grid, const std::vector<PlacedSource>& placed) {
  SplitSources result;
  const Regions regions(grid, placed);
  for (const PlacedSource& source : placed) (regions.alone(source) ? result.alone : result.regions).push_back(source);
  return result;
}

SymTensor3d metric_at(const VoxelMetric& metric, const GridCells& cells, const PlacedSource& source) {
  if (source.centred || std::holds_alternative<UniformMetric>(metric.metric.kind())) return metric.at(source.vertex);
  SymTensor3d sum{};
  double total = 0;
  for_corners(cells, source.position, [&](const Vec3i& voxel, double weight) {
    sum = sum + weight * metric.at(cells.box.voxel(voxel));
    total += weight;
  });
  return (1 / total) * sum;
}

int limited_radius(int ball_rings, std::size_t sources, const ImageGrid& grid) {
  return limited_rings(ball_rings, sources, grid.voxel_count(), grid.flat() ? 2 : 3);
}

std::vector<Seed> make_grid_seeds(const VoxelMetric& metric, const GridCells& cells,
                                  const std::vector<PlacedSource>& placed, SourceInit init, int radius,
                                  SeedRows* rows) {
  std::vector<Seed> seeds;
  seeds.reserve(placed.size());
  std::optional<Regions> regions;
  if (init != SourceInit::plain) regions.emplace(metric.grid, placed);
  for (const PlacedSource& source : placed) {
    const SourceBall ball(metric, cells, source, rows);
    ball.add_plain(seeds);
    if (regions && regions->alone(source)) ball.add_ball(radius, seeds);
  }
  return seeds;
}

std::vector<std::uint32_t> voxels_of_seeds(const ImageGrid& grid, const GridCells& cells,
                                           const std::vector<PlacedSource>& placed, SourceInit init, int radius) {
  const Regions regions(grid, placed);
  std::vector<std::uint32_t> voxels;
  for (const PlacedSource& source : placed) {
    const bool ball = init != SourceInit::plain && regions.alone(source);
    const int reach = std::max(source.centred ? 0 : 1, ball ? radius : 0);
    const Vec3i at = index_of(grid, source.vertex);
    for (int k = at.z - reach; k <= at.z + reach; ++k)
      for (int j = at.y - reach; j <= at.y + reach; ++j)
        for (int i = at.x - reach; i <= at.x + reach; ++i)
          if (const Vec3i voxel{i, j, k}; cells.may_enter(voxel)) voxels.push_back(cells.box.voxel(voxel).value);
  }
  std::sort(voxels.begin(), voxels.end());
  voxels.erase(std::unique(voxels.begin(), voxels.end()), voxels.end());
  return voxels;
}

}  // namespace isochron
