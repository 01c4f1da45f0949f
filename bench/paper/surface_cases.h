// Objects for paper 002's tables: those in real volumes where the data is, else a smooth one that we make.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/registry.h"
#include "bench/paper/report.h"
#include "isochron/mesh.h"
#include "isochron/surface.h"
#include "isochron/surface/particles/relax.h"

namespace isochron::bench {

/// An object with the sizes that its triangles are to have.
struct SurfaceModel {
  std::string name;
  ImplicitSurface surface;
  SplineField field;
  SizeField size;
  TriangleMesh isosurface;
  double particles = 0;  ///< that the sizes ask for
  std::string missing;   ///< the file of the data folder that it should be of and that is not there: blobs stand in

  /// All sizes times one factor, so that about this many particles are asked for; gives the factor.
  double ask_for(double count);
  /// The sizes that these options ask for, times a factor.
  void set_sizes(const SizingOptions& options, double factor);
  /// The paper's number beside a result of this model; none where blobs stand in for its data.
  [[nodiscard]] std::optional<double> beside(std::optional<double> paper) const {
    return missing.empty() ? paper : std::nullopt;
  }

 private:
  void scale(double factor);
};

/// Which volume stands for the paper's.
enum class Organ { heart, lungs, ribcage };

/// The model of an organ: from the folder ISOCHRON_DATA where it has the volume, else blobs that we make (so small for
/// a quick run that it takes no time), which then say what is `missing`.
SurfaceModel surface_model(Organ organ, const BenchOptions& options);
/// Says below a table that a model is not of the data that it should be of.
void note_missing(Report& report, const SurfaceModel& model);
/// Balls around a ring that flow into one another, in so many voxels along each side: handles, necks and sizes that
/// vary. Values fall from the middles outward; the surface is at `blobs_isovalue`.
std::vector<float> blob_values(const ImageGrid& grid);
inline constexpr double blobs_isovalue = 0.4;
ImageGrid cube_image(std::uint32_t side);
/// The distances and sizes of an object.
SurfaceModel model_of(std::string name, ImplicitSurface surface, int threads, Backend backend = Backend::automatic);

/// The other real volumes: an engine and a head. Those that are not there are left out, which a note says.
std::vector<SurfaceModel> more_models(const BenchOptions& options, Report& report);

/// A relaxed model, timed; `seconds` is of `relax` alone.
struct Relaxed {
  Particles particles;
  double seconds = 0;
  std::size_t seeds = 0;  ///< that it started with
};
Relaxed relaxed(const SurfaceModel& model, const ParticleOptions& options, std::size_t seeds = 0);

/// What times of particles on a GPU are, for `note_gpu`.
inline constexpr const char* particle_times = "of one run, with transfer";

/// How many particles there have to be.
struct CountRange {
  double min, max;
};
/// How far the number of particles may be from what the sizes ask for, as a share: of our scheme, and of the published
/// one, whose energy settles below its ideal.
inline constexpr double count_share = 0.1, published_count_share = 0.2;
/// So many, more or less by a share of them.
inline CountRange about(double count, double share) { return {count * (1 - share), count * (1 + share)}; }

/// What is wrong with relaxed particles: some are off the surface, or they are too few or too many. Empty: nothing.
std::string fault_of(const SurfaceModel& model, const Particles& particles, const CountRange& range);

inline double count_share_of(ParticleScheme scheme) {
  return scheme == ParticleScheme::published ? published_count_share : count_share;
}

/// Triangles through relaxed particles, as paper 002's figures and its Table 1 have them.
struct MeshedParticles {
  TriangleMesh mesh;
  std::size_t particles = 0, iterations = 0;
  TriangulateReport repair;
  std::string fault;  ///< of the particles or the mesh; empty: none
};
/// Our particles' mesh is smoothed and repaired; that of the published scheme is only made closed and manifold, since
/// the paper triangulates its particles as they are.
MeshedParticles meshed(const SurfaceModel& model, const ParticleOptions& options, int threads);
/// The same for particles that are placed already.
MeshedParticles meshed(const SurfaceModel& model, const Particles& particles, ParticleScheme scheme, int threads);

/// The name of the file of particles that Table 1 writes of its model of this number, from 1 on, where there is a GPU.
std::string particle_file(int number, const SurfaceModel& model, ParticleScheme scheme);
/// The particles in such a file, to be made a mesh of where there is CGAL; none where the file is not there.
std::optional<Particles> stored_particles(const std::filesystem::path& file);

/// What is wrong with a mesh that has to be closed, manifold, oriented and without self-intersections. Empty: nothing.
std::string fault_of(const TriangleMesh& mesh, int threads);

/// An entry with a number only where nothing is wrong.
Entry checked_entry(Entry entry, const std::string& fault);

}  // namespace isochron::bench
