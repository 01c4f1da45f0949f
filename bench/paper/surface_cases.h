// Objects for paper 002's tables: those in real volumes where the data is, else a smooth one that we make.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/paper/registry.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/signed_distance.h"
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
/// The other real volumes, those that are there: an engine and a head.
std::vector<SurfaceModel> more_models(const BenchOptions& options);

/// A relaxed model, timed; `seconds` is of `relax` alone.
struct Relaxed {
  Particles particles;
  double seconds = 0;
};
Relaxed relaxed(const SurfaceModel& model, const ParticleOptions& options, std::size_t seeds = 0);

}  // namespace isochron::bench
