// Objects for paper 002's tables: those in real volumes where the data is, else a smooth one that we make.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/registry.h"
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

  /// All sizes times one factor, so that about this many particles are asked for.
  void ask_for(double count);
};

/// Which volume stands for the paper's.
enum class Organ { heart, lungs, ribcage };

/// The model of an organ: from the folder ISOCHRON_DATA where it has the volume, else blobs that we make (so small for
/// a quick run that it takes no time).
SurfaceModel surface_model(Organ organ, const BenchOptions& options);
/// Balls around a ring that flow into one another, in so many voxels along each side: handles, necks and sizes that
/// vary. Values fall from the middles outward; the surface is at `blobs_isovalue`.
std::vector<float> blob_values(const ImageGrid& grid);
inline constexpr double blobs_isovalue = 0.4;
ImageGrid cube_image(std::uint32_t side);
/// The distances and sizes of an object.
SurfaceModel model_of(std::string name, ImplicitSurface surface, int threads, Backend backend = Backend::automatic);

/// The other real volumes, those that are there: an engine and a head.
std::vector<SurfaceModel> more_models(const BenchOptions& options);

/// A relaxed model, timed; `seconds` is of `relax` alone.
struct Relaxed {
  Particles particles;
  double seconds = 0;
};
Relaxed relaxed(const SurfaceModel& model, const ParticleOptions& options, std::size_t seeds = 0);

/// What is wrong with relaxed particles, as a remark: some are off the surface, or (with full density control) they are
/// not about as many as the sizes ask for. Empty: nothing.
std::string fault_of(const SurfaceModel& model, const Particles& particles, DensityControl density);

}  // namespace isochron::bench
