#include "isochron/surface/field/redistance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/grid_solver.h"
#include "isochron/surface/field/spline.h"

namespace isochron {
namespace {

constexpr double band_voxels = 3;  // how far from the surface closest points are searched
constexpr std::size_t cells_worth_a_gpu = 100000;

std::array<int, 3> place_of(const Lattice& lattice, std::size_t index) {
  const auto nx = static_cast<std::size_t>(lattice.shape[0]), ny = static_cast<std::size_t>(lattice.shape[1]);
  return {static_cast<int>(index % nx), static_cast<int>(index / nx % ny), static_cast<int>(index / (nx * ny))};
}

Vec3d position_of(const Lattice& lattice, std::size_t index) {
  const auto [i, j, k] = place_of(lattice, index);
  return lattice.position(i, j, k);
}

// The lattice points near the surface and, for each, the closest point of the surface known so far.
class Band {
 public:
  Band(const Lattice& lattice, std::span<const float> level) : lattice_(lattice), level_(level) {
    for (int a = 0; a < 3; ++a) per_spacing2_[a] = 1 / (lattice.spacing[a] * lattice.spacing[a]);
    slot_.assign(lattice.point_count(), none);
    cross_edges();
    crossing_count_ = points_.size();
    for (std::size_t begin = 0, end = points_.size(); begin < end; begin = end, end = points_.size())
      for (std::size_t m = begin; m < end; ++m) spread(m);
  }

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] std::uint32_t point(std::size_t m) const { return points_[m]; }
  [[nodiscard]] Vec3d foot(std::size_t m) const { return {feet_[m].x, feet_[m].y, feet_[m].z}; }
  /// Whether an edge of the lattice at this point crosses the surface.
  [[nodiscard]] bool crossing(std::size_t m) const { return m < crossing_count_; }

  /// Gives back memory that only building needs.
  void settle() {
    slot_ = {};
    feet_ = {};
  }

  /// A distance for points with crossing edges that needs nothing else: that to the plane through the crossings.
  [[nodiscard]] double axis_distance(std::size_t m) const {
    const auto at = place_of(lattice_, points_[m]);
    double sum = 0;
    for (int a = 0; a < 3; ++a) {
      double nearest = std::numeric_limits<double>::infinity();
      for (const int step : {-1, 1}) {
        const int to = at[a] + step;
        if (to < 0 || to >= lattice_.shape[a]) continue;
        const std::size_t other = points_[m] + step * stride(a);
        if (same_side(points_[m], other)) continue;
        nearest = std::min(nearest, part_to(points_[m], other) * lattice_.spacing[a]);
      }
      sum += 1 / (nearest * nearest);
    }
    return 1 / std::sqrt(sum);
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  [[nodiscard]] std::ptrdiff_t stride(int axis) const {
    return axis == 0   ? 1
           : axis == 1 ? lattice_.shape[0]
                       : static_cast<std::ptrdiff_t>(lattice_.shape[0]) * lattice_.shape[1];
  }
  [[nodiscard]] bool same_side(std::size_t a, std::size_t b) const { return (level_[a] < 0) == (level_[b] < 0); }
  /// Where along the edge from a to b the surface is, not at its very ends.
  [[nodiscard]] double part_to(std::size_t a, std::size_t b) const {
    const double at_a = level_[a];
    return std::clamp(at_a / (at_a - level_[b]), 1e-4, 1 - 1e-4);
  }

  void cross_edges() {
    for (int a = 0; a < 3; ++a) {
      const std::ptrdiff_t step = stride(a);
      const int last[3] = {lattice_.shape[0] - (a == 0), lattice_.shape[1] - (a == 1), lattice_.shape[2] - (a == 2)};
      for (int k = 0; k < last[2]; ++k) {
        for (int j = 0; j < last[1]; ++j) {
          const std::size_t row = lattice_.index(0, j, k);
          for (int i = 0; i < last[0]; ++i) {
            const std::size_t from = row + static_cast<std::size_t>(i), to = from + step;
            if (same_side(from, to)) continue;
            Vec3d p = lattice_.position(i, j, k);
            p[a] += part_to(from, to) * lattice_.spacing[a];
            const Vec3d here = lattice_.position(i, j, k);
            Vec3d there = here;
            there[a] += lattice_.spacing[a];
            offer(from, here, p);
            offer(to, there, p);
          }
        }
      }
    }
  }

  /// `x` is where the point lies.
  void offer(std::size_t point, const Vec3d& x, const Vec3d& foot) {
    const Vec3f as_float{static_cast<float>(foot.x), static_cast<float>(foot.y), static_cast<float>(foot.z)};
    std::uint32_t& slot = slot_[point];
    if (slot == none) {
      slot = static_cast<std::uint32_t>(points_.size());
      points_.push_back(static_cast<std::uint32_t>(point));
      feet_.push_back(as_float);
      return;
    }
    const Vec3d fresh = foot - x, known = this->foot(slot) - x;
    if (dot(fresh, fresh) < dot(known, known)) feet_[slot] = as_float;
  }

  /// Neighbours of a point in the band try its foot.
  void spread(std::size_t m) {
    const auto [i, j, k] = place_of(lattice_, points_[m]);
    const Vec3d foot = this->foot(m);
    for (int dk = -1; dk <= 1; ++dk) {
      for (int dj = -1; dj <= 1; ++dj) {
        for (int di = -1; di <= 1; ++di) {
          const int to[3] = {i + di, j + dj, k + dk};
          bool inside = true;
          for (int a = 0; a < 3; ++a) inside = inside && to[a] >= 0 && to[a] < lattice_.shape[a];
          if (!inside) continue;
          const Vec3d x = lattice_.position(to[0], to[1], to[2]), off = x - foot;
          double voxels2 = 0;
          for (int a = 0; a < 3; ++a) voxels2 += off[a] * off[a] * per_spacing2_[a];
          if (voxels2 <= band_voxels * band_voxels) offer(lattice_.index(to[0], to[1], to[2]), x, foot);
        }
      }
    }
  }

  Lattice lattice_;
  Vec3d per_spacing2_;
  std::span<const float> level_;
  std::vector<std::uint32_t> slot_;    // of each lattice point
  std::vector<std::uint32_t> points_;  // those with crossing edges first
  std::vector<Vec3f> feet_;
  std::size_t crossing_count_ = 0;
};

// The distance from x to the spline's zero set near `start`: along the normal onto the surface and along the tangent
// plane towards x, in turn. Negative when that does not settle on a point that x can be the nearest to.
double distance_to_spline(const SplineView<double>& spline, const Vec3d& x, bool inside, const Vec3d& start,
                          const Lattice& lattice) {
  constexpr int most_steps = 12;
  const double voxel = lattice.smallest_spacing(), cell = norm(lattice.spacing);
  const double bound = norm(x - start) + 0.05 * voxel;
  Vec3d p = start;
  for (int step = 0; step < most_steps; ++step) {
    const Jet<double> jet = spline.slope(p);
    const double slope = norm(jet.gradient);
    if (!(slope > 0)) return -1;
    const Vec3d normal = jet.gradient / slope, to_x = x - p;
    const double along = dot(to_x, normal), off = -jet.value / slope;
    const Vec3d aside = to_x - along * normal;
    const double gap = norm(aside);
    if (std::abs(off) < 2e-3 * voxel && gap < 0.02 * voxel) {
      const double distance = inside ? -(along - off) : along - off;
      return distance > 0 && distance < bound ? distance : -1;
    }
    if (std::abs(off) > cell) return -1;
    p += off * normal + std::min(1.0, 0.5 * voxel / std::max(gap, 1e-30)) * aside;
  }
  return -1;
}

// 1 where a point of the set lies within `radius` along each axis in turn: a box around each.
std::vector<std::uint8_t> dilated(const Lattice& lattice, const Band& band, double radius) {
  std::vector<std::uint8_t> mask(lattice.point_count(), 0);
  for (std::size_t m = 0; m < band.size(); ++m) mask[band.point(m)] = 1;
  const int n[3] = {lattice.shape[0], lattice.shape[1], lattice.shape[2]};
  const std::size_t stride[3] = {1, static_cast<std::size_t>(n[0]), static_cast<std::size_t>(n[0]) * n[1]};
  std::vector<std::uint8_t> line;
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const int width = static_cast<int>(std::min(1e6, std::ceil(radius / lattice.spacing[a])));
    line.resize(static_cast<std::size_t>(n[a]));
    for (int at_c = 0; at_c < n[c]; ++at_c) {
      for (int at_b = 0; at_b < n[b]; ++at_b) {
        std::uint8_t* start = mask.data() + at_b * stride[b] + at_c * stride[c];
        for (int i = 0; i < n[a]; ++i) line[static_cast<std::size_t>(i)] = start[i * stride[a]];
        int filled = 0;  // up to here
        for (int i = 0; i < n[a]; ++i) {
          if (line[static_cast<std::size_t>(i)] == 0) continue;
          for (filled = std::max(filled, i - width); filled < std::min(n[a], i + width + 1); ++filled)
            start[filled * stride[a]] = 1;
        }
      }
    }
  }
  return mask;
}

bool uses_device(const MarchOptions& options) {
  cuda::NoDevice why;
  return options.backend == Backend::cuda || (options.backend == Backend::automatic && cuda::find_device(why));
}

/// Distances of the points in the band; negative where they are not clear.
std::vector<float> near_distances(const Lattice& lattice, std::span<const float> level, const Band& band, int threads) {
  const SplineField spline(lattice, level, threads);
  const double least = 1e-4 * lattice.smallest_spacing();  // keeps signs
  std::vector<float> near(band.size());
  parallel_for(threads, band.size(), [&](std::size_t m) {
    const std::uint32_t point = band.point(m);
    double distance =
        distance_to_spline(spline.view(), position_of(lattice, point), level[point] < 0, band.foot(m), lattice);
    if (distance < 0 && band.crossing(m)) distance = band.axis_distance(m);
    near[m] = static_cast<float>(distance < 0 ? -1 : std::max(distance, least));
  });
  return near;
}

}  // namespace

std::vector<float> arrivals(const Lattice& lattice, const StartPoints& start, std::span<const std::uint8_t> mask,
                            double speed, int order, const MarchOptions& march, const Progress& progress) {
  ImageGrid grid;
  for (int a = 0; a < 3; ++a) {
    grid.shape[a] = static_cast<std::uint32_t>(lattice.shape[a]);
    grid.axes[a] = {};
    grid.axes[a][a] = lattice.spacing[a];
  }
  const Metric metric = Metric::isotropic(speed);
  GridOptions options;
  options.order = order;
  options.common.precision = Precision::single_;
  options.common.source_init = SourceInit::plain;
  options.common.sources = Keep::no;
  options.common.backend = march.backend;
  options.common.progress = progress;
  // Several solves follow one another, so a GPU pays sooner than for a single one.
  const auto cells = static_cast<std::size_t>(std::count(mask.begin(), mask.end(), std::uint8_t{1}));
  const bool try_device = march.backend == Backend::automatic && cells >= cells_worth_a_gpu && uses_device(march);
  if (try_device) options.common.backend = Backend::cuda;
  // On several threads the last bits of times depend on who came first, and all that follows on them.
  else if (march.backend != Backend::cuda) options.common.backend = Backend::serial;
  Sources sources;
  sources.vertices.reserve(start.points.size());
  for (std::size_t i = 0; i < start.points.size(); ++i)
    sources.vertices.push_back({VertexId(start.points[i]), static_cast<double>(start.times[i])});
  Arrival arrival;
  try {
    arrival = GridSolver(GridDomain{grid, metric, mask}, options).solve(sources);
  } catch (const DeviceError&) {
    if (!try_device) throw;
    options.common.backend = Backend::serial;
    arrival = GridSolver(GridDomain{grid, metric, mask}, options).solve(sources);
  }
  return {arrival.times.begin(), arrival.times.end()};
}

std::vector<float> signed_distance(const Lattice& lattice, std::span<const float> level, double reach,
                                   const MarchOptions& options, const Progress& progress) {
  const int threads = options.threads;
  Band band(lattice, level);
  progress.update(0.1);
  const std::vector<float> near = near_distances(lattice, level, band, threads);
  band.settle();
  progress.update(0.4);

  std::vector<std::uint8_t> close(lattice.point_count(), 1);
  if (std::isfinite(reach)) close = dilated(lattice, band, reach);
  std::vector<float> result(lattice.point_count());
  const auto farthest = static_cast<float>(std::min<double>(reach, std::numeric_limits<float>::max()));
  const auto solve_side = [&](bool inside, const MarchOptions& march) {
    StartPoints start;
    for (std::size_t m = 0; m < band.size(); ++m)
      if ((level[band.point(m)] < 0) == inside && near[m] >= 0) start.add(band.point(m), near[m]);
    std::vector<std::uint8_t> mask(lattice.point_count());
    for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = close[v] != 0 && (level[v] < 0) == inside;
    const std::vector<float> far = arrivals(lattice, start, mask, 1, 2, march, {{}, progress.cancel});
    for (std::size_t v = 0; v < mask.size(); ++v)
      if ((level[v] < 0) == inside) result[v] = (inside ? -1 : 1) * std::min(far[v], farthest);
  };
  if (uses_device(options)) {
    for (const bool inside : {true, false}) solve_side(inside, options);
  } else {
    parallel_region(std::min(threads, 2), [&](int thread, int team) {
      for (int side = thread; side < 2; side += team) solve_side(side == 0, {1, Backend::serial});
    });
  }
  progress.update(1);
  for (std::size_t m = 0; m < band.size(); ++m)
    if (near[m] >= 0) result[band.point(m)] = level[band.point(m)] < 0 ? -near[m] : near[m];
  return result;
}

}  // namespace isochron
