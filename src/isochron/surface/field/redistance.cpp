#include "isochron/surface/field/redistance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "isochron/core/cuda/device.h"
#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/solve/solver.h"
#include "isochron/surface/field/near_band.h"
#include "isochron/surface/field/spline.h"

namespace isochron {
namespace {

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
    const int width = static_cast<int>(std::min(1e6, std::ceil(radius / lattice.spacing[a])));
    parallel_region(threads, [&](int thread, int team) {
      std::vector<std::uint8_t> line(static_cast<std::size_t>(n[a]));
      for (int at_c = n[c] * thread / team; at_c < n[c] * (thread + 1) / team; ++at_c) {
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
  // On several threads the last bits of times depend on who came first, and all that follows on them.
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
