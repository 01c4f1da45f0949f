#include "isochron/mesh/surface_distance.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "isochron/core/parallel.h"
#include "isochron/mesh.h"
#include "isochron/mesh/closest_point.h"
#include "isochron/mesh/locator.h"

namespace isochron {

namespace {

std::vector<Vec3d> samples_of(const TriangleMesh& mesh) {
  std::vector<bool> used(mesh.vertex_count(), false);
  std::vector<Vec3d> samples;
  samples.reserve(mesh.vertex_count() + mesh.element_count());
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    const auto x = corner_points(mesh, ElementId(e));
    samples.push_back((x[0] + x[1] + x[2]) / 3.0);
    for (const VertexId v : mesh.elements[e]) {
      if (!used[v.index()]) samples.push_back(mesh.point(v));
      used[v.index()] = true;
    }
  }
  return samples;
}

/// Fills in the distances of samples that mostly lie near the one before: the nearest point of the surface is no
/// further than that one's and the way between them, so the search need not start in the dark.
void measure(const PointLocator<3>& locator, std::span<const Vec3d> samples, std::span<double> distances) {
  constexpr double rounding = 1 + 1e-9;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) {
      const auto found = locator.locate(samples[i], rounding * (distances[i - 1] + norm(samples[i] - samples[i - 1])));
      if (found) {
        distances[i] = found->distance;
        continue;
      }
    }
    distances[i] = locator.nearest(samples[i]).distance;
  }
}

}  // namespace

DistanceStatistics distance_to_surface(const TriangleMesh& from, const TriangleMesh& to, int threads,
                                       const Progress& progress) {
  check_mesh(from);
  check_mesh(to);
  const PointLocator<3> locator(to, threads);
  const std::vector<Vec3d> samples = samples_of(from);
  std::vector<double> distances(samples.size());
  // In rounds, so that a cancellation is seen.
  constexpr std::size_t a_round = 1 << 18;
  for (std::size_t begin = 0; begin < samples.size(); begin += a_round) {
    progress.update(static_cast<double>(begin) / static_cast<double>(samples.size()));
    const std::size_t count = std::min(a_round, samples.size() - begin);
    parallel_chunks(threads, count, [&](std::size_t chunk, std::size_t chunk_end) {
      const std::size_t first = begin + chunk, size = chunk_end - chunk;
      measure(locator, std::span(samples).subspan(first, size), std::span(distances).subspan(first, size));
    });
  }
  DistanceStatistics result;
  result.samples = samples.size();
  for (const double distance : distances) result.mean += distance / static_cast<double>(samples.size());
  result.max = *std::max_element(distances.begin(), distances.end());
  const auto place = distances.begin() + static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(samples.size() - 1));
  std::nth_element(distances.begin(), place, distances.end());
  result.percentile_95 = *place;
  return result;
}

SurfaceDistance surface_distance(const TriangleMesh& a, const TriangleMesh& b, int threads, const Progress& progress) {
  return {distance_to_surface(a, b, threads, progress), distance_to_surface(b, a, threads, progress)};
}

}  // namespace isochron
