#include "isochron/surface/field/sizing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/error.h"
#include "isochron/mesh/closest_point.h"

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

/// Values of a row to at most those of another plus the growth to the point beside (`straight`) and to its neighbours.
void limit_by_row(const float* other, int count, float straight, float across, float* here) {
  for (int i = 0; i + 1 < count; ++i) here[i] = std::min(here[i], other[i + 1] + across);
  for (int i = 0; i < count; ++i) here[i] = std::min(here[i], other[i] + straight);
  for (int i = 1; i < count; ++i) here[i] = std::min(here[i], other[i - 1] + across);
}

/// Values of a row to at most the one before, in the direction of `sign`, plus the growth of a step.
void limit_along(int sign, int count, float growth, float* here) {
  if (sign > 0)
    for (int i = 1; i < count; ++i) here[i] = std::min(here[i], here[i - 1] + growth);
  else
    for (int i = count - 1; i-- > 0;) here[i] = std::min(here[i], here[i + 1] + growth);
}

}  // namespace

// To at most the slope times the distance above those of each of the 26 neighbours: a sweep from the first row to the
// last and one back, each row from the four before it (three in a slice behind, one beside it) and then along itself.
void limit_growth(double delta, SizeField& sizes) {
  const Lattice& lattice = sizes.lattice;
  const int n[3] = {lattice.shape[0], lattice.shape[1], lattice.shape[2]};
  const auto growth = [&](int i, int j, int k) {
    return static_cast<float>(per_step * delta * norm(lattice.position(i, j, k)));
  };
  struct Row {
    int j, k;
    float straight, across;
  };
  std::vector<Row> before;
  for (const auto& [j, k] : {std::pair{-1, -1}, {0, -1}, {1, -1}, {-1, 0}})
    before.push_back({j, k, growth(0, j, k), growth(1, j, k)});
  for (const int sign : {1, -1}) {
    for (int kk = 0; kk < n[2]; ++kk) {
      const int k = sign > 0 ? kk : n[2] - 1 - kk;
      for (int jj = 0; jj < n[1]; ++jj) {
        const int j = sign > 0 ? jj : n[1] - 1 - jj;
        float* here = sizes.values.data() + lattice.index(0, j, k);
        for (const Row& row : before) {
          const int other_j = j + sign * row.j, other_k = k + sign * row.k;
          if (other_j < 0 || other_j >= n[1] || other_k < 0 || other_k >= n[2]) continue;
          limit_by_row(sizes.values.data() + lattice.index(0, other_j, other_k), n[0], row.straight, row.across, here);
        }
        limit_along(sign, n[0], growth(1, 0, 0), here);
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

namespace {

/// Multiplies what a brush does into the factors of the lattice points that it reaches.
void paint(const SizeBrush& brush, const Vec3d& center, const Lattice& lattice, std::vector<float>& factors) {
  int from[3], to[3];
  for (int a = 0; a < 3; ++a) {
    const double low = std::ceil((center[a] - brush.radius) / lattice.spacing[a]);
    const double high = std::floor((center[a] + brush.radius) / lattice.spacing[a]);
    from[a] = static_cast<int>(std::clamp(low, 0.0, static_cast<double>(lattice.shape[a])));
    to[a] = static_cast<int>(std::clamp(high, -1.0, static_cast<double>(lattice.shape[a] - 1)));
  }
  for (int k = from[2]; k <= to[2]; ++k)
    for (int j = from[1]; j <= to[1]; ++j)
      for (int i = from[0]; i <= to[0]; ++i) {
        const double part = norm(lattice.position(i, j, k) - center) / brush.radius;
        if (!(part < 1)) continue;
        const double weight = (1 - part * part) * (1 - part * part);
        factors[lattice.index(i, j, k)] *= static_cast<float>(1 + (brush.factor - 1) * weight);
      }
}

}  // namespace

void check_brushes(std::span<const SizeBrush> brushes) {
  for (const SizeBrush& brush : brushes) {
    if (!(brush.radius > 0 && std::isfinite(brush.radius) && is_finite(brush.center)))
      throw UsageError(
          fmt::format("a brush of radius {} cannot be used; give a place and a positive length", brush.radius));
    if (!(brush.factor >= SizeBrush::smallest_factor && brush.factor <= SizeBrush::largest_factor))
      throw UsageError(fmt::format("a brush of factor {} cannot be used; give one from {} (smaller triangles) to {}",
                                   brush.factor, SizeBrush::smallest_factor, SizeBrush::largest_factor));
  }
}

void apply_brushes(std::span<const SizeBrush> brushes, const LatticeFrame& frame, double delta, SizeField& sizes) {
  if (brushes.empty()) return;
  std::vector<float> factors(sizes.values.size(), 1);
  for (const SizeBrush& brush : brushes) paint(brush, frame.to_lattice(brush.center), sizes.lattice, factors);
  constexpr auto low = static_cast<float>(SizeBrush::smallest_factor);
  constexpr auto high = static_cast<float>(SizeBrush::largest_factor);
  for (std::size_t v = 0; v < factors.size(); ++v) sizes.values[v] *= std::clamp(factors[v], low, high);
  limit_growth(delta, sizes);
}

}  // namespace isochron
