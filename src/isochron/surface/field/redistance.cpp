#include "isochron/surface/field/redistance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/solver.h"
#include "isochron/surface.h"
#include "isochron/surface/field/spline.h"
#include "isochron/types.h"

namespace isochron {
namespace {

/// The lattice points near the zero set, and where on it each of them is nearest, roughly: points with an edge to a
/// neighbour of the other sign, and all others within three voxels of where such edges cross the surface. The same on
/// any number of threads.
class NearBand {
 public:
  /// `level` must stay valid; zero counts as positive.
  NearBand(const Lattice& lattice, std::span<const float> level, int threads);

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Index on the lattice.
  [[nodiscard]] std::uint32_t point(std::size_t m) const { return points_[m]; }
  /// The nearest of the crossings that its neighbours have for nearest.
  [[nodiscard]] Vec3d foot(std::size_t m) const { return {feet_[m].x, feet_[m].y, feet_[m].z}; }
  /// Whether an edge of the lattice at this point crosses the surface.
  [[nodiscard]] bool crossing(std::size_t m) const { return m < crossing_count_; }
  /// A distance for points with crossing edges that needs nothing else: that to the plane through the crossings.
  [[nodiscard]] double axis_distance(std::size_t m) const;

  /// Gives back the memory of the feet.
  void forget_feet() { feet_ = {}; }

 private:
  /// Lattice points, each with its foot.
  struct Places {
    std::vector<std::uint32_t> points;
    std::vector<Vec3f> feet;
  };
  /// What a round brings: points that are new to the band, and the slots of those that now have a nearer foot.
  struct Round {
    Places found;
    std::vector<std::uint32_t> improved;
  };

  /// Calls `visit(axis, way from the point to the surface along it, with its sign)` for the point's crossing edges.
  template <class Visit>
  void for_crossings(int i, int j, int k, Visit&& visit) const;
  Places crossings_in(int from_slice, int to_slice) const;
  Round neighbours_in(int from_slice, int to_slice, const Places& front);
  Places append(const std::vector<Round>& parts);

  Lattice lattice_;
  std::span<const float> level_;
  std::vector<std::uint32_t> points_;  ///< those with crossing edges first
  std::vector<Vec3f> feet_;
  std::vector<std::uint32_t> slot_;  ///< of each lattice point, while the band is made
  std::size_t crossing_count_ = 0;
};

constexpr double width = 3;                // in voxels
constexpr double clearly_less = 1 - 1e-9;  // the same foot is not nearer than itself, however the sums are rounded
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

std::array<int, 3> place_of(const Lattice& lattice, std::size_t index) {
  const auto nx = static_cast<std::size_t>(lattice.shape[0]), ny = static_cast<std::size_t>(lattice.shape[1]);
  return {static_cast<int>(index % nx), static_cast<int>(index / nx % ny), static_cast<int>(index / (nx * ny))};
}

Vec3d as_double(const Vec3f& v) { return {v.x, v.y, v.z}; }
Vec3f as_float(const Vec3d& v) { return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)}; }

template <class Visit>
void NearBand::for_crossings(int i, int j, int k, Visit&& visit) const {
  const int at[3] = {i, j, k};
  const std::ptrdiff_t stride[3] = {1, lattice_.shape[0],
                                    static_cast<std::ptrdiff_t>(lattice_.shape[0]) * lattice_.shape[1]};
  const std::size_t here = lattice_.index(i, j, k);
  const double value = level_[here];
  for (int a = 0; a < 3; ++a) {
    for (const int step : {-1, 1}) {
      if (at[a] + step < 0 || at[a] + step >= lattice_.shape[a]) continue;
      const double other = level_[here + step * stride[a]];
      if ((value < 0) == (other < 0)) continue;
      const double part = std::clamp(value / (value - other), 1e-4, 1 - 1e-4);  // not at the very ends
      visit(a, step * part * lattice_.spacing[a]);
    }
  }
}

double NearBand::axis_distance(std::size_t m) const {
  const auto [i, j, k] = place_of(lattice_, points_[m]);
  Vec3d nearest = Vec3d{1, 1, 1} * std::numeric_limits<double>::infinity();
  for_crossings(i, j, k, [&](int axis, double way) { nearest[axis] = std::min(nearest[axis], std::abs(way)); });
  double sum = 0;
  for (int a = 0; a < 3; ++a) sum += 1 / (nearest[a] * nearest[a]);
  return 1 / std::sqrt(sum);
}

NearBand::Places NearBand::crossings_in(int from_slice, int to_slice) const {
  Places found;
  for (int k = from_slice; k < to_slice; ++k) {
    for (int j = 0; j < lattice_.shape[1]; ++j) {
      for (int i = 0; i < lattice_.shape[0]; ++i) {
        int axis = -1;
        double nearest = std::numeric_limits<double>::infinity();
        for_crossings(i, j, k, [&](int a, double way) {
          if (!(std::abs(way) < std::abs(nearest))) return;
          axis = a;
          nearest = way;
        });
        if (axis < 0) continue;
        Vec3d foot = lattice_.position(i, j, k);
        foot[axis] += nearest;
        found.points.push_back(static_cast<std::uint32_t>(lattice_.index(i, j, k)));
        found.feet.push_back(as_float(foot));
      }
    }
  }
  return found;
}

// The points of the front offer their feet to their neighbours in some slices; a neighbour without one, or with a
// farther one, takes it.
NearBand::Round NearBand::neighbours_in(int from_slice, int to_slice, const Places& front) {
  Round round;
  Places& found = round.found;
  const auto known = static_cast<std::uint32_t>(points_.size());
  const Vec3d per_spacing{1 / lattice_.spacing.x, 1 / lattice_.spacing.y, 1 / lattice_.spacing.z};
  const auto offer = [&](int i, int j, int k, const Vec3f& foot) {
    const Vec3d x = lattice_.position(i, j, k), off = x - as_double(foot);
    double voxels2 = 0;
    for (int a = 0; a < 3; ++a) voxels2 += off[a] * off[a] * per_spacing[a] * per_spacing[a];
    if (voxels2 > width * width) return;
    const std::size_t point = lattice_.index(i, j, k);
    std::uint32_t& slot = slot_[point];
    if (slot == none) {
      slot = known + static_cast<std::uint32_t>(found.points.size());
      found.points.push_back(static_cast<std::uint32_t>(point));
      found.feet.push_back(foot);
      return;
    }
    Vec3f& mine = slot < known ? feet_[slot] : found.feet[slot - known];
    const Vec3d to_mine = x - as_double(mine);
    if (!(dot(off, off) < clearly_less * dot(to_mine, to_mine))) return;
    mine = foot;
    if (slot < known) round.improved.push_back(slot);
  };
  const auto first_in = [&](int slice) {
    const auto limit = lattice_.index(0, 0, std::clamp(slice, 0, lattice_.shape[2]));
    return std::lower_bound(front.points.begin(), front.points.end(), limit) - front.points.begin();
  };
  for (auto m = first_in(from_slice - 1); m < first_in(to_slice + 1); ++m) {
    const auto [i, j, k] = place_of(lattice_, front.points[m]);
    for (int to_k = std::max(from_slice, k - 1); to_k < std::min(to_slice, k + 2); ++to_k)
      for (int to_j = std::max(0, j - 1); to_j < std::min(lattice_.shape[1], j + 2); ++to_j)
        for (int to_i = std::max(0, i - 1); to_i < std::min(lattice_.shape[0], i + 2); ++to_i)
          offer(to_i, to_j, to_k, front.feet[m]);
  }
  return round;
}

// Takes new points into the band, and gives the next front: those, and the ones with a nearer foot than before. All in
// the lattice's order, which does not depend on how many parts there are.
NearBand::Places NearBand::append(const std::vector<Round>& parts) {
  std::vector<std::uint32_t> slots;
  for (const Round& part : parts) {
    slots.insert(slots.end(), part.improved.begin(), part.improved.end());
    for (std::size_t n = 0; n < part.found.points.size(); ++n) {
      slot_[part.found.points[n]] = static_cast<std::uint32_t>(points_.size());
      slots.push_back(static_cast<std::uint32_t>(points_.size()));
      points_.push_back(part.found.points[n]);
      feet_.push_back(part.found.feet[n]);
    }
  }
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) { return points_[a] < points_[b]; });
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  Places front;
  front.points.reserve(slots.size());
  front.feet.reserve(slots.size());
  for (const std::uint32_t slot : slots) {
    front.points.push_back(points_[slot]);
    front.feet.push_back(feet_[slot]);
  }
  return front;
}

NearBand::NearBand(const Lattice& lattice, std::span<const float> level, int threads)
    : lattice_(lattice), level_(level), slot_(lattice.point_count(), none) {
  const auto by_slices = [&](const auto& work) {
    std::vector<Round> parts(static_cast<std::size_t>(std::max(1, threads)));
    parallel_region(threads, [&](int thread, int team) {
      const int slices = lattice_.shape[2];
      parts[static_cast<std::size_t>(thread)] = work(slices * thread / team, slices * (thread + 1) / team);
    });
    return append(parts);
  };
  Places front = by_slices([&](int from, int to) { return Round{crossings_in(from, to), {}}; });
  crossing_count_ = points_.size();
  while (!front.points.empty()) front = by_slices([&](int from, int to) { return neighbours_in(from, to, front); });
  slot_ = {};
}

constexpr std::size_t cells_worth_a_gpu = 100000;

Vec3d position_of(const Lattice& lattice, std::size_t index) {
  const auto nx = static_cast<std::size_t>(lattice.shape[0]), ny = static_cast<std::size_t>(lattice.shape[1]);
  return lattice.position(static_cast<int>(index % nx), static_cast<int>(index / nx % ny),
                          static_cast<int>(index / (nx * ny)));
}

// The distance from x to the spline's zero set near `start`: along the normal onto the surface and along the tangent
// plane towards x, in turn. Negative when that does not settle on a point that x can be the nearest to.
double distance_to_spline(const SplineView<double>& spline, const Vec3d& x, bool inside, const Vec3d& start,
                          const Lattice& lattice) {
  constexpr int max_steps = 12;
  const double voxel = lattice.smallest_spacing(), cell = norm(lattice.spacing);
  double bound = norm(x - start) + 0.05 * voxel;
  Vec3d p = start;
  for (int step = 0; step < max_steps; ++step) {
    const Jet<double> jet = spline.slope(p);
    const double slope = norm(jet.gradient);
    if (!(slope > 0)) return -1;
    const Vec3d normal = jet.gradient / slope, to_x = x - p;
    const double along = dot(to_x, normal), off = -jet.value / slope;
    if (step == 0) bound += 1.5 * std::abs(off);  // the start is where the values along an edge cross zero in a line
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
std::vector<std::uint8_t> dilated(const Lattice& lattice, const NearBand& band, double radius, int threads) {
  std::vector<std::uint8_t> mask(lattice.point_count(), 0);
  for (std::size_t m = 0; m < band.size(); ++m) mask[band.point(m)] = 1;
  const int n[3] = {lattice.shape[0], lattice.shape[1], lattice.shape[2]};
  const std::size_t stride[3] = {1, static_cast<std::size_t>(n[0]), static_cast<std::size_t>(n[0]) * n[1]};
  for (int a = 0; a < 3; ++a) {
    const int b = a == 0 ? 1 : 0, c = 3 - a - b;  // the outer loop runs over the larger strides
    const int reach = static_cast<int>(std::min(1e6, std::ceil(radius / lattice.spacing[a])));
    parallel_region(threads, [&](int thread, int team) {
      std::vector<std::uint8_t> line(static_cast<std::size_t>(n[a]));
      for (int at_c = n[c] * thread / team; at_c < n[c] * (thread + 1) / team; ++at_c) {
        for (int at_b = 0; at_b < n[b]; ++at_b) {
          std::uint8_t* start = mask.data() + at_b * stride[b] + at_c * stride[c];
          for (int i = 0; i < n[a]; ++i) line[static_cast<std::size_t>(i)] = start[i * stride[a]];
          int filled = 0;  // up to here
          for (int i = 0; i < n[a]; ++i) {
            if (line[static_cast<std::size_t>(i)] == 0) continue;
            for (filled = std::max(filled, i - reach); filled < std::min(n[a], i + reach + 1); ++filled)
              start[filled * stride[a]] = 1;
          }
        }
      }
    });
  }
  return mask;
}

bool uses_device(const MarchOptions& options) {
  cuda::NoDevice why;
  return options.backend == Backend::cuda || (options.backend == Backend::automatic && cuda::find_device(why));
}

/// Distances of the points in the band; negative where they are not clear.
std::vector<float> near_distances(const Lattice& lattice, std::span<const float> level, const NearBand& band,
                                  int threads) {
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
  SolveOptions options;
  options.order = order;
  options.precision = Precision::single_;
  options.source_init = SourceInit::plain;
  options.sources = Keep::no;
  options.backend = march.backend;
  options.progress = progress;
  // Several solves follow one another, so a GPU pays sooner than for a single one.
  const auto cells = static_cast<std::size_t>(std::count(mask.begin(), mask.end(), std::uint8_t{1}));
  const bool try_device = march.backend == Backend::automatic && cells >= cells_worth_a_gpu && uses_device(march);
  if (try_device) options.backend = Backend::cuda;
  // On several threads the last bits of times depend on the order of updates, and all that follows on them.
  else if (march.backend != Backend::cuda) options.backend = Backend::serial;
  Sources sources;
  sources.vertices.reserve(start.points.size());
  for (std::size_t i = 0; i < start.points.size(); ++i)
    sources.vertices.push_back({VertexId(start.points[i]), static_cast<double>(start.times[i])});
  Arrival arrival;
  try {
    arrival = Solver(GridDomain{grid, metric, mask}, options).solve(sources);
  } catch (const DeviceError&) {
    if (!try_device) throw;
    options.backend = Backend::serial;
    arrival = Solver(GridDomain{grid, metric, mask}, options).solve(sources);
  }
  std::vector<float> result(arrival.times.size());
  parallel_for(march.threads, result.size(), [&](std::size_t v) { result[v] = static_cast<float>(arrival.times[v]); });
  return result;
}

std::vector<float> signed_distance(const Lattice& lattice, std::span<const float> level, double reach,
                                   const MarchOptions& options, const Progress& progress) {
  const int threads = options.threads;
  NearBand band(lattice, level, threads);
  progress.update(0.1);
  const std::vector<float> near = near_distances(lattice, level, band, threads);
  band.forget_feet();
  progress.update(0.4);

  std::vector<std::uint8_t> close(lattice.point_count(), 1);
  if (std::isfinite(reach)) close = dilated(lattice, band, reach, threads);
  // First the distances that are clear, and -1 elsewhere.
  std::vector<float> result(lattice.point_count(), -1);
  parallel_for(threads, band.size(), [&](std::size_t m) { result[band.point(m)] = near[m]; });
  const auto farthest = static_cast<float>(std::min<double>(reach, std::numeric_limits<float>::max()));
  const auto solve_side = [&](bool inside, const MarchOptions& march) {
    const auto on_side = [&](std::size_t v) { return (level[v] < 0) == inside; };
    StartPoints start;
    for (std::size_t v = 0; v < result.size(); ++v)
      if (on_side(v) && result[v] >= 0) start.add(v, result[v]);
    std::vector<std::uint8_t> mask(lattice.point_count());
    parallel_for(march.threads, mask.size(), [&](std::size_t v) { mask[v] = close[v] != 0 && on_side(v) ? 1 : 0; });
    const std::vector<float> far = arrivals(lattice, start, mask, 1, 2, march, {{}, progress.cancel});
    const float sign = inside ? -1.0F : 1.0F;
    parallel_for(march.threads, mask.size(), [&](std::size_t v) {
      if (on_side(v)) result[v] = sign * (result[v] >= 0 ? result[v] : std::min(far[v], farthest));
    });
  };
  if (uses_device(options)) {
    for (const bool inside : {false, true}) solve_side(inside, options);
  } else {
    parallel_region(std::min(threads, 2), [&](int thread, int team) {
      for (int side = thread; side < 2; side += team) solve_side(side == 1, {1, Backend::serial});
    });
  }
  progress.update(1);
  return result;
}

}  // namespace isochron
