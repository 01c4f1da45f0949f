#include "isochron/surface/extract.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/device.h"
#include "isochron/error.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/field/sizing.h"
#include "isochron/surface/field/volume.h"
#include "isochron/surface/particles/relax.h"
#include "isochron/surface/particles/seeds.h"
#include "isochron/surface/triangulate/delaunay.h"
#include "isochron/surface/triangulate/mesh_volume.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron {
namespace {

// Measured: a particle with its lists, then its share of the Delaunay tetrahedra (some 14 a vertex) and their labels.
constexpr double bytes_per_particle = 2500;
constexpr double bytes_per_point = 5 * sizeof(float) + 8;  // distance, spline, sizes, and what the sizes are made from

}  // namespace

void to_world(const LatticeFrame& frame, TriangleMesh& mesh) {
  for (Vec3d& p : mesh.points) p = frame.to_world(p);
  if (frame.mirrors())
    for (auto& [a, b, c] : mesh.elements) std::swap(b, c);
}

void check_particle_count(double expected, const Lattice& lattice, std::size_t max_particles) {
  const double most = static_cast<double>(max_particles);
  if (most > 0 && expected > most)
    throw InputError(fmt::format("the sizes ask for about {:.0f} particles (allowed: {:.0f}); ask for larger "
                                 "triangles, or allow more with ",
                                 expected, most) +
                     Setting{Option::max_particles});
  const double needed = static_cast<double>(extract_bytes(expected, lattice));
  const auto free = static_cast<double>(available_bytes());
  if (free > 0 && needed > free)
    throw InputError(
        fmt::format("the sizes ask for about {:.3g} particles, which need {:.1f} GB (free: {:.1f} GB); ask for larger "
                    "triangles",
                    expected, needed / 1e9, free / 1e9));
}

namespace {

/// From this many on the GPU is quicker than a few cores, its start included.
constexpr double particles_worth_a_gpu = 20000;

/// Relaxes on the back end that is asked for; a GPU that `automatic` took and that fails leaves a note and the CPU.
Particles relaxed(const SplineField& field, const SizeField& size, const std::vector<Vec3d>& seeds,
                  ParticleOptions options, const Progress& progress, ExtractedSurface& result) {
  cuda::NoDevice why;
  const bool chosen_here = options.backend == Backend::automatic;
  if (chosen_here)
    options.backend = options.scheme == ParticleScheme::ours && result.expected_particles >= particles_worth_a_gpu &&
                              cuda::find_device(why)
                          ? Backend::cuda
                      : options.threads > 1 ? Backend::threads
                                            : Backend::serial;
  if (options.backend == Backend::serial) options.threads = 1;
  result.backend = options.backend;
  try {
    return relax(field, size, seeds, options, progress);
  } catch (const DeviceError& error) {
    if (!chosen_here) throw;
    result.notes.push_back("the particles are relaxed on the CPU, because the GPU failed: " +
                           to_text(error.detail().problem()));
  }
  options.backend = result.backend = options.threads > 1 ? Backend::threads : Backend::serial;
  return relax(field, size, seeds, options, progress);
}

}  // namespace

TriangleMesh fine_isosurface(const SplineField& field, int threads) {
  return marching_tetrahedra(field.lattice(), 2, threads, [view = field.view()](Vec3d p) { return view.value(p); });
}

std::size_t extract_bytes(double particles, const Lattice& lattice) {
  return static_cast<std::size_t>(particles * bytes_per_particle +
                                  static_cast<double>(lattice.point_count()) * bytes_per_point);
}

namespace {

void keep_volume(const Lattice& lattice, int threads, ExtractedSurface& result) {
  const double volume = *result.voxel_volume;
  constexpr std::int32_t object = 1;
  const std::vector<RegionSides> sides(result.mesh.elements.size(), RegionSides{object, 0});
  move_to_volumes(sides, {{object, volume}}, max_volume_move(lattice), threads, result.mesh);
  const double share = enclosed_volumes(result.mesh, sides)[object] / volume;
  if (std::abs(share - 1) > max_volume_change && volume > few_voxels * voxel_volume(lattice))
    result.notes.push_back(
        fmt::format("the mesh has {:.0f} % {} volume than the voxels; ask for smaller triangles or smooth less",
                    100 * std::abs(share - 1), share > 1 ? "more" : "less"));
}

}  // namespace

ExtractedSurface extract_surface(const ImplicitSurface& surface, const ExtractOptions& options) {
  const int threads = options.threads > 0 ? options.threads : hardware_threads();
  require_delaunay();
  const auto begin = [&](const char* stage) { return options.begin_stage ? options.begin_stage(stage) : Progress{}; };
  ExtractedSurface result;
  result.notes = surface.notes;
  result.isovalue = surface.isovalue;
  result.voxel_volume = surface.voxel_volume;

  Timer timer;
  const SplineField field(surface.lattice, surface.distance, threads);
  SizingOptions sizing = options.sizing;
  sizing.threads = threads;
  sizing.backend = options.backend;
  SizeField size = sizes(field, surface, sizing, begin("sizes"));
  result.times.sizing = timer.seconds();

  timer.restart();
  result.isosurface = marching_tetrahedra(surface.lattice, surface.distance);
  result.expected_particles = particle_estimate(result.isosurface, size);
  check_particle_count(std::max(result.expected_particles, static_cast<double>(options.seeds)), surface.lattice,
                       options.max_particles);
  std::vector<Vec3d> seeds = surface_seeds(
      result.isosurface, field, size, {.count = options.seeds, .seed = options.particles.seed, .threads = threads});
  result.seeds = seeds.size();
  result.times.seeding = timer.seconds();

  timer.restart();
  ParticleOptions particle_options = options.particles;
  particle_options.threads = threads;
  particle_options.backend = options.backend;
  if (options.seeds > 0) particle_options.density = DensityControl::delete_only;
  Particles particles = relaxed(field, size, seeds, particle_options, begin("particles"), result);
  seeds = {};
  result.particles = particles.positions.size();
  result.iterations = std::move(particles.iterations);
  result.converged = particles.converged;
  result.times.relaxing = timer.seconds();

  timer.restart();
  TriangulateOptions triangle_options = options.triangles;
  triangle_options.threads = threads;
  triangle_options.expected = &result.isosurface;
  result.mesh = triangulate(field, size, std::move(particles.positions), triangle_options, &result.triangulation,
                            begin("triangles"));
  if (result.voxel_volume) keep_volume(surface.lattice, threads, result);
  result.times.triangulating = timer.seconds();

  for (SurfaceDifference& difference : result.triangulation.differences)
    difference.place = surface.frame.to_world(difference.place);
  const SizeView<double> view = size.view();
  for (const Vec3d& p : result.mesh.points) result.sizes.push_back(view.size(p));
  to_world(surface.frame, result.mesh);
  if (options.isosurface == ExtractOptions::Isosurface::fine) result.isosurface = fine_isosurface(field, threads);
  to_world(surface.frame, result.isosurface);
  result.size_field = std::move(size);
  return result;
}

}  // namespace isochron
