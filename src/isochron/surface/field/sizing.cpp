#include "isochron/surface/field/sizing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "isochron/core/error.h"
#include "isochron/core/parallel.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/surface/field/curvature.h"

namespace isochron {
namespace {

/// Steps to 26 neighbours are together up to 1.128 times as long as the straight line, on cubic voxels: a slope this
/// much smaller from neighbour to neighbour holds between any two points.
constexpr double per_step = 1 / 1.128;

/// In voxels. With whole voxels the thin parts of noisy images have fewer good triangles (mean radius ratio of a CT's
/// bones 0.937 instead of 0.965), with half of them twice as many triangles for little more.
constexpr double default_smallest = 0.75;

void check(const SizingOptions& options) {
  const auto positive = [](double value, const char* what) {
    if (!(value > 0 && std::isfinite(value)))
      throw UsageError(fmt::format("{} is {}; it has to be positive", what, value));
  };
  positive(options.epsilon, "epsilon");
  positive(options.delta, "delta");
  if (!(options.accuracy >= 0))
    throw UsageError(fmt::format("an accuracy of {} makes no sense; give a positive length", options.accuracy));
  for (const double length : {options.smallest, options.largest, options.uniform})
    if (!(length >= 0 && std::isfinite(length)))
      throw UsageError(fmt::format("a size of {} makes no sense; give a positive length", length));
  if (options.largest > 0 && options.largest < options.smallest)
    throw UsageError(
        fmt::format("the largest size ({}) is below the smallest ({}); swap them", options.largest, options.smallest));
  check_brushes(options.brushes);
}

/// Fills in what the options leave to the field.
SizingOptions completed(SizingOptions options, const ImplicitSurface& surface) {
  const double voxel = surface.lattice.smallest_spacing();
  options.threads = field_threads(options.threads);
  const double least = default_smallest * voxel;
  if (options.smallest == 0) options.smallest = options.largest > 0 ? std::min(least, options.largest) : least;
  if (options.accuracy == 0) options.accuracy = 0.12 * voxel;
  if (options.largest == 0) options.largest = std::max(options.smallest, options.epsilon * surface.reach);
  return options;
}

/// Calls `visit(point, i, j, k)` for the points inside the lattice's border, by slices on several threads.
template <class Visit>
void for_inner_points(const Lattice& lattice, int threads, Visit&& visit) {
  parallel_region(threads, [&](int thread, int team) {
    const int slices = lattice.shape[2] - 2;
    for (int k = 1 + slices * thread / team; k < 1 + slices * (thread + 1) / team; ++k)
      for (int j = 1; j + 1 < lattice.shape[1]; ++j)
        for (int i = 1; i + 1 < lattice.shape[0]; ++i) visit(lattice.index(i, j, k), i, j, k);
  });
}

/// Steps along the gradient onto the zero set; whether that worked.
bool project(const SplineView<double>& field, double longest, Vec3d& p) {
  const Vec3d start = p;
  for (int step = 0; step < 4; ++step) {
    const Jet<double> jet = field.slope(p);
    const double slope2 = dot(jet.gradient, jet.gradient);
    if (!(slope2 > 0.01)) return false;
    p -= (jet.value / slope2) * jet.gradient;
  }
  return norm(p - start) <= longest;
}

}  // namespace

// To at most the slope times the distance above those of each of the 26 neighbours.
void limit_growth(double delta, SizeField& sizes) {
  const Lattice& lattice = sizes.lattice;
  const int n[3] = {lattice.shape[0], lattice.shape[1], lattice.shape[2]};
  struct Step {
    int i, j, k;
    std::ptrdiff_t offset;
    float growth;
  };
  std::vector<Step> steps;  // to the neighbours that come first
  for (int dk = -1; dk <= 0; ++dk)
    for (int dj = -1; dj <= (dk < 0 ? 1 : 0); ++dj)
      for (int di = -1; di <= (dk < 0 || dj < 0 ? 1 : -1); ++di)
        steps.push_back({di, dj, dk, di + n[0] * (dj + static_cast<std::ptrdiff_t>(n[1]) * dk),
                         static_cast<float>(per_step * delta * norm(lattice.position(di, dj, dk)))});
  for (const int sign : {1, -1}) {
    for (int kk = 0; kk < n[2]; ++kk) {
      const int k = sign > 0 ? kk : n[2] - 1 - kk;
      for (int jj = 0; jj < n[1]; ++jj) {
        const int j = sign > 0 ? jj : n[1] - 1 - jj;
        for (int ii = 0; ii < n[0]; ++ii) {
          const int i = sign > 0 ? ii : n[0] - 1 - ii;
          float* here = sizes.values.data() + lattice.index(i, j, k);
          const bool inner = i > 0 && j > 0 && k > 0 && i + 1 < n[0] && j + 1 < n[1] && k + 1 < n[2];
          for (const Step& step : steps) {
            const int to[3] = {i + sign * step.i, j + sign * step.j, k + sign * step.k};
            if (!inner && (to[0] < 0 || to[1] < 0 || to[2] < 0 || to[0] >= n[0] || to[1] >= n[1] || to[2] >= n[2]))
              continue;
            *here = std::min(*here, here[sign * step.offset] + step.growth);
          }
        }
      }
    }
  }
}

std::vector<float> medial_distance(const ImplicitSurface& surface, double farthest, const MarchOptions& options,
                                   const Progress& progress) {
  constexpr double clear_slope = 0.75;    // of the gradient: directions to the surface that differ by 80° and more
  constexpr double clear_distance = 0.3;  // in voxels: nearer to the surface the differences are noise
  const Lattice& lattice = surface.lattice;
  const std::vector<float>& f = surface.distance;
  const double voxel = lattice.smallest_spacing(), beyond = norm(lattice.spacing);
  // Where values stop growing the gradient says nothing, and what is deeper than asked for is too far from the surface.
  const double deepest = std::min(surface.reach - 2 * beyond, farthest + beyond);
  const std::size_t row = static_cast<std::size_t>(lattice.shape[0]);
  const std::size_t stride[3] = {1, row, row * static_cast<std::size_t>(lattice.shape[1])};
  // Across the axis the slope goes from −1 to 1 within two voxels, so it tells how far away the axis is.
  std::vector<float> offset(f.size(), -1);
  for_inner_points(lattice, options.threads, [&](std::size_t v, int, int, int) {
    const double depth = std::abs(static_cast<double>(f[v]));
    if (depth < clear_distance * voxel || depth > deepest) return;
    double slope2 = 0;
    for (int a = 0; a < 3; ++a) {
      const double difference = (f[v + stride[a]] - f[v - stride[a]]) / (2 * lattice.spacing[a]);
      slope2 += difference * difference;
    }
    if (slope2 < clear_slope * clear_slope) offset[v] = static_cast<float>(std::sqrt(slope2) * voxel);
  });
  StartPoints start;
  std::vector<std::uint8_t> mask(f.size());
  for (std::size_t v = 0; v < f.size(); ++v) {
    mask[v] = std::abs(f[v]) < std::min(surface.reach, farthest + 2 * beyond) ? 1 : 0;
    if (offset[v] >= 0) start.add(v, offset[v]);
  }
  const auto far = static_cast<float>(std::min(surface.reach, farthest));
  if (start.points.empty()) return std::vector<float>(f.size(), far);
  std::vector<float> result = arrivals(lattice, start, mask, 1, 2, options, progress);
  for (float& value : result) value = std::min(value, far);
  return result;
}

namespace {

/// What the shape asks for, without brushes.
SizeField sizes_of_shape(const SplineField& field, const ImplicitSurface& surface, const SizingOptions& options,
                         const Progress& progress) {
  const Lattice& lattice = surface.lattice;
  if (options.uniform > 0)
    return {lattice, std::vector<float>(lattice.point_count(), static_cast<float>(options.uniform))};

  const MarchOptions march{options.threads, options.backend};
  const SizeField medial{lattice,
                         medial_distance(surface, options.largest / options.epsilon, march, {{}, progress.cancel})};
  progress.update(0.4);
  // All corners of the cells that the surface passes get the size of their nearest place on it.
  const double near = norm(lattice.spacing);
  std::vector<float> first(lattice.point_count(), std::numeric_limits<float>::infinity());
  for_inner_points(lattice, options.threads, [&](std::size_t v, int i, int j, int k) {
    if (std::abs(surface.distance[v]) > near) return;
    Vec3d p = lattice.position(i, j, k);
    if (!project(field.view(), 2 * near, p)) return;
    const double curvature = largest_curvature(field.view().jet(p));
    const double feature = medial.view().size(p);
    double size = options.epsilon * (curvature * feature > 1 ? 1 / curvature : feature);
    if (size * size * curvature > 6 * options.accuracy) size = std::sqrt(6 * options.accuracy / curvature);
    first[v] = static_cast<float>(std::clamp(size, options.smallest, options.largest));
  });
  progress.update(0.7);

  StartPoints start;
  for (std::size_t v = 0; v < first.size(); ++v)
    if (first[v] < std::numeric_limits<float>::infinity()) start.add(v, first[v]);
  if (start.points.empty())
    return {lattice, std::vector<float>(lattice.point_count(), static_cast<float>(options.largest))};
  // The equation is solved around the surface, where sizes matter most; steps from there do for the rest.
  std::vector<std::uint8_t> mask(first.size());
  for (std::size_t v = 0; v < first.size(); ++v) mask[v] = std::abs(surface.distance[v]) <= 3 * near ? 1 : 0;
  SizeField result{lattice,
                   arrivals(lattice, start, mask, 1 / (per_step * options.delta), 1, march, {{}, progress.cancel})};
  for (float& value : result.values) value = std::min(value, static_cast<float>(options.largest));
  // The upwind solution, of first order, keeps that along the axes; near its minima it is up to a third steeper across.
  limit_growth(options.delta, result);
  return result;
}

}  // namespace

SizeField sizes(const SplineField& field, const ImplicitSurface& surface, const SizingOptions& wanted,
                const Progress& progress) {
  check(wanted);
  const SizingOptions options = completed(wanted, surface);
  SizeField result = sizes_of_shape(field, surface, options, progress);
  apply_brushes(options.brushes, surface.frame, options.delta, result);
  progress.update(1);
  return result;
}

double particle_estimate(const TriangleMesh& surface, const SizeField& sizes) {
  double sum = 0;
  for (std::size_t e = 0; e < surface.element_count(); ++e) {
    const auto x = corner_points(surface, ElementId(e));
    const double area = 0.5 * norm(cross(x[1] - x[0], x[2] - x[0]));
    const double h = sizes.view().size((x[0] + x[1] + x[2]) / 3.0);
    sum += area / (h * h);
  }
  return sum * 2 / std::numbers::sqrt3;
}

}  // namespace isochron
