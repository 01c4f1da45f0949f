// From an implicit surface to a mesh in the world: sizes, particles, triangles.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "isochron/core/progress.h"
#include "isochron/mesh/simplex_mesh.h"
#include "isochron/surface/field/signed_distance.h"
#include "isochron/surface/field/sizing.h"
#include "isochron/surface/particles/relax.h"
#include "isochron/surface/triangulate/triangulate.h"

namespace isochron {

struct ExtractOptions {
  SizingOptions sizing;
  ParticleOptions particles;
  TriangulateOptions triangles;  ///< what is expected is the isosurface of the field
  /// Which isosurface the result comes with, for comparison: that of the seeds, or `fine_isosurface`.
  enum class Isosurface { coarse, fine } isosurface = Isosurface::coarse;
  std::size_t seeds = 0;                 ///< about so many to begin with; 0: as many as the sizes ask for
  std::size_t max_particles = 0;         ///< more are refused before they are made; 0: what memory allows
  int threads = 0;                       ///< for all stages; 0: all cores
  Backend backend = Backend::automatic;  ///< of sizes and particles; automatic: a GPU where there is one and it pays
  /// Called at the beginning of each stage with its name; gives what that stage reports to.
  std::function<Progress(const std::string& stage)> begin_stage;
};

/// Seconds of each stage.
struct ExtractTimes {
  double sizing = 0, seeding = 0, relaxing = 0, triangulating = 0;
  double comparing = 0;  ///< of materials with the image
};

/// A closed, oriented surface in world coordinates, and how it came about.
struct ExtractedSurface {
  TriangleMesh mesh;
  std::vector<double> sizes;  ///< the edge length wanted at each vertex
  SizeField size_field;       ///< and everywhere around, in the lattice's frame
  TriangleMesh isosurface;    ///< of the field, in world coordinates; see `ExtractOptions::isosurface`
  double expected_particles = 0;
  std::size_t seeds = 0;
  std::size_t particles = 0;  ///< before the triangulation's repair
  std::vector<RelaxIteration> iterations;
  bool converged = false;
  Backend backend = Backend::serial;  ///< that the particles were relaxed on
  TriangulateReport triangulation;
  ExtractTimes times;
  std::vector<std::string> notes;  ///< what the user should know, a line each
};

/// The zero set of a spline by marching tetrahedra at half the lattice's spacing, in the lattice's frame: close enough
/// to measure distances to, where the lattice's own would be off by a good part of a voxel itself.
TriangleMesh fine_isosurface(const SplineField& field, int threads);

/// Bytes that so many particles need at the most, of all stages.
std::size_t extract_bytes(double particles, const Lattice& lattice);

/// Throws InputError when more particles are expected than `most` (0: any number) or than memory holds.
void check_particle_count(double expected, const Lattice& lattice, std::size_t most);

/// Moves a mesh from the lattice's frame to the world; its triangles face the same side as before.
void to_world(const LatticeFrame& frame, TriangleMesh& mesh);

/// Meshes the zero set of a distance field. Throws UsageError for options that make no sense, InputError when more
/// particles are asked for than allowed or than memory holds (the number is said), and like the stages: see
/// sizing.h, relax.h and triangulate.h.
ExtractedSurface extract_surface(const ImplicitSurface& surface, const ExtractOptions& options = {});

}  // namespace isochron
