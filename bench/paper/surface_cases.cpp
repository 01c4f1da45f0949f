#include "bench/paper/surface_cases.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "bench/paper/cases.h"
#include "isochron/core/parallel.h"
#include "isochron/core/timer.h"
#include "isochron/io.h"
#include "isochron/io/tables.h"
#include "isochron/mesh/self_intersections.h"
#include "isochron/mesh_quality.h"
#include "isochron/surface/field/isosurface.h"
#include "isochron/surface/field/sizing.h"
#include "isochron/surface/particles/seeds.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron::bench {
namespace {

int threads_of(const BenchOptions& options) { return options.threads > 0 ? options.threads : hardware_threads(); }

SurfaceModel blobs(const BenchOptions& options) {
  const int threads = threads_of(options);
  const ImageGrid grid = cube_image(options.size == BenchSize::quick ? 32 : 160);
  return model_of("blobs", from_isovalue(grid, blob_values(grid), blobs_isovalue, {.threads = threads}), threads);
}

/// A volume of the data folder, and what of it is inside.
struct RealVolume {
  const char* name;
  const char* file;
  double isovalue;  ///< 0.5 for masks: label 1
  InsideIs inside = InsideIs::above;
  bool mask = false;
};

/// Nothing where the file is not there.
std::optional<SurfaceModel> real_model(const RealVolume& volume, const BenchOptions& options) {
  const std::filesystem::path file = data_folder() / "vol" / volume.file;
  if (!std::filesystem::exists(file)) return std::nullopt;
  const Image image = read_image(file);
  const DataArray& array = image.data.all().front();
  const int threads = threads_of(options);
  const FieldOptions field{.inside = volume.inside, .threads = threads};
  if (volume.mask) {
    std::vector<std::int32_t> labels(array.tuple_count());
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(array.at(i));
    return model_of(volume.name, from_labels(image.grid, labels, {1}, field), threads);
  }
  std::vector<float> values(array.tuple_count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(array.at(i));
  return model_of(volume.name, from_isovalue(image.grid, values, volume.isovalue, field), threads);
}

}  // namespace

ImageGrid cube_image(std::uint32_t side) {
  ImageGrid grid;
  grid.shape = {side, side, side};
  return grid;
}

std::vector<float> blob_values(const ImageGrid& grid) {
  constexpr int balls = 9;
  const double n = grid.shape[0];
  std::vector<float> values(grid.voxel_count());
  parallel_for(hardware_threads(), values.size(), [&](std::size_t v) {
    const Vec3d p = (1 / n) * grid.position(VertexId(v)) - Vec3d{0.5, 0.5, 0.5};
    double sum = 0;
    for (int b = 0; b < balls; ++b) {
      const double angle = 2 * std::numbers::pi * b / balls, radius = 0.07 + 0.008 * b;
      const Vec3d d = p - Vec3d{0.28 * std::cos(angle), 0.28 * std::sin(angle), 0.05 * std::sin(2 * angle)};
      sum += std::exp(-dot(d, d) / (radius * radius));
    }
    values[v] = static_cast<float>(sum);
  });
  return values;
}

SurfaceModel model_of(std::string name, ImplicitSurface surface, int threads, Backend backend) {
  SurfaceModel model;
  model.name = std::move(name);
  model.surface = std::move(surface);
  model.field = SplineField(model.surface.lattice, model.surface.distance, threads);
  model.size = sizes(model.field, model.surface, {.threads = threads, .backend = backend});
  model.isosurface = marching_tetrahedra(model.surface.lattice, model.surface.distance);
  model.particles = particle_estimate(model.isosurface, model.size);
  return model;
}

double SurfaceModel::ask_for(double count) {
  const double factor = std::sqrt(particles / count);
  scale(factor);
  return factor;
}

void SurfaceModel::set_sizes(const SizingOptions& options, double factor) {
  size = sizes(field, surface, options);
  scale(factor);
}

void SurfaceModel::scale(double factor) {
  for (float& h : size.values) h = static_cast<float>(factor * h);
  particles = particle_estimate(isosurface, size);
}

SurfaceModel surface_model(Organ organ, const BenchOptions& options) {
  static constexpr RealVolume heart{"heart", "heart_mask_233x167x191.nii.gz", 0.5, InsideIs::above, true};
  static constexpr RealVolume lungs{"air of a body CT", "ct_122x101x112.nii.gz", -500, InsideIs::below};
  static constexpr RealVolume bones{"bones of a body CT", "ct_122x101x112.nii.gz", 200};
  const RealVolume& volume = organ == Organ::heart ? heart : organ == Organ::lungs ? lungs : bones;
  if (options.size == BenchSize::quick) return blobs(options);
  if (auto model = real_model(volume, options)) return std::move(*model);
  SurfaceModel stand_in = blobs(options);
  stand_in.name = fmt::format("blobs for {}", volume.name);
  stand_in.missing = volume.file;
  return stand_in;
}

void note_missing(Report& report, const SurfaceModel& model) {
  if (model.missing.empty()) return;
  report.note(fmt::format("{}: vol/{} is not in the data folder (ISOCHRON_DATA), so the paper's numbers are left out.",
                          model.name, model.missing));
}

std::vector<SurfaceModel> more_models(const BenchOptions& options, Report& report) {
  std::vector<SurfaceModel> models;
  if (options.size == BenchSize::quick) return models;
  for (const RealVolume& volume :
       {RealVolume{"engine", "engine_256x256x128.nii.gz", 100}, RealVolume{"head", "mr_head_160x232x160.nii.gz", 60}})
    if (auto model = real_model(volume, options)) models.push_back(std::move(*model));
    else
      report.note(
          fmt::format("{}: left out, vol/{} is not in the data folder (ISOCHRON_DATA).", volume.name, volume.file));
  return models;
}

Relaxed relaxed(const SurfaceModel& model, const ParticleOptions& options, std::size_t seeds) {
  const std::vector<Vec3d> start =
      surface_seeds(model.isosurface, model.field, model.size, {.count = seeds, .threads = options.threads});
  const Timer timer;
  Relaxed result{relax(model.field, model.size, start, options), 0, start.size()};
  result.seconds = timer.seconds();
  return result;
}

std::string fault_of(const SurfaceModel& model, const Particles& particles, const CountRange& range) {
  constexpr double flat = 0.02;  // voxels
  const SplineView<double> field = model.field.view();
  const double voxel = model.surface.lattice.smallest_spacing();
  const std::size_t off = static_cast<std::size_t>(
      std::count_if(particles.positions.begin(), particles.positions.end(),
                    [&](const Vec3d& p) { return !(std::abs(field.value(p)) < flat * voxel); }));
  if (off > 0) return fmt::format("{} particles off the surface", off);
  const auto count = static_cast<double>(particles.positions.size());
  if (count >= range.min && count <= range.max) return {};
  return fmt::format("{:.0f} particles, not {:.0f} to {:.0f}", count, range.min, range.max);
}

std::string fault_of(const TriangleMesh& mesh, int threads) {
  const SurfaceTopology topology = surface_topology(mesh);
  if (mesh.elements.empty() || !topology.closed()) return "not a closed surface";
  if (!topology.manifold()) return "not a manifold surface";
  if (!topology.oriented()) return "triangles face different sides";
  return self_intersections(mesh, threads).empty() ? "" : "the surface crosses itself";
}

MeshedParticles meshed(const SurfaceModel& model, const Particles& particles, ParticleScheme scheme, int threads) {
  MeshedParticles result;
  result.particles = particles.positions.size();
  result.iterations = particles.iterations.size();
  TriangulateOptions triangles{.threads = threads, .expected = &model.isosurface};
  if (scheme == ParticleScheme::published) {
    triangles.min_ratio = triangles.min_angle = 0;
    triangles.evenings = 0;
  }
  result.fault = fault_of(model, particles, about(model.particles, count_share_of(scheme)));
  result.mesh = triangulate(model.field, model.size, particles.positions, triangles, &result.repair);
  if (result.fault.empty()) result.fault = fault_of(result.mesh, threads);
  return result;
}

MeshedParticles meshed(const SurfaceModel& model, const ParticleOptions& options, int threads) {
  return meshed(model, relaxed(model, options).particles, options.scheme, threads);
}

std::string particle_file(int number, const SurfaceModel& model, ParticleScheme scheme) {
  std::string name = fmt::format("002-table-1-{}-{}-{}.csv", number, model.name,
                                 scheme == ParticleScheme::ours ? "ours" : "published");
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::optional<Particles> stored_particles(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  Particles particles;
  particles.positions = read_points(file).points;
  return particles;
}

Entry checked_entry(Entry entry, const std::string& fault) {
  if (fault.empty()) return entry;
  entry.remark = failed_run(fault);
  return entry;
}

}  // namespace isochron::bench
