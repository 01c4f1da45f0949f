// From images to meshes of surfaces: a distance field, sizes, particles, triangles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/options.h"
#include "isochron/progress.h"
#include "isochron/tetrahedra.h"
#include "isochron/types.h"

namespace isochron {

// ---- Where values lie in an image.

/// Point (i, j, k) lies at (i·spacing.x, j·spacing.y, k·spacing.z): the image's own frame, with lengths of the world.
/// The first index runs fastest. All of `surface/` works in this frame; results are moved to the world at the end.
struct Lattice {
  int shape[3]{0, 0, 0};
  Vec3d spacing{1, 1, 1};

  [[nodiscard]] std::size_t point_count() const {
    return static_cast<std::size_t>(shape[0]) * static_cast<std::size_t>(shape[1]) * static_cast<std::size_t>(shape[2]);
  }
  [[nodiscard]] std::size_t index(int i, int j, int k) const {
    return static_cast<std::size_t>(i) +
           static_cast<std::size_t>(shape[0]) *
               (static_cast<std::size_t>(j) + static_cast<std::size_t>(shape[1]) * static_cast<std::size_t>(k));
  }
  [[nodiscard]] Vec3d position(int i, int j, int k) const { return {i * spacing.x, j * spacing.y, k * spacing.z}; }
  [[nodiscard]] double smallest_spacing() const { return std::min({spacing.x, spacing.y, spacing.z}); }
};

/// A rotation (or mirroring) and a shift: lattice positions, which are in world lengths already, to the world and back.
struct LatticeFrame {
  Vec3d origin{};
  std::array<Vec3d, 3> axis{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};  ///< unit vectors, orthogonal

  [[nodiscard]] Vec3d to_world(const Vec3d& p) const { return origin + to_world_direction(p); }
  [[nodiscard]] Vec3d to_world_direction(const Vec3d& v) const { return v.x * axis[0] + v.y * axis[1] + v.z * axis[2]; }
  [[nodiscard]] Vec3d to_lattice(const Vec3d& world) const {
    const Vec3d v = world - origin;
    return {dot(v, axis[0]), dot(v, axis[1]), dot(v, axis[2])};
  }
  /// True when the axes are left-handed: triangles have to be turned round on their way to the world.
  [[nodiscard]] bool mirrors() const { return dot(axis[0], cross(axis[1], axis[2])) < 0; }
};

// ---- The object in an image as a signed distance field.

/// An object's surface as the zero set of a distance field: negative inside, in world lengths. The lattice is the part
/// of the image around the object, with some layers of outside on every side (also beyond the image).
struct ImplicitSurface {
  Lattice lattice;
  LatticeFrame frame;
  std::vector<float> distance;  ///< at the lattice points
  double reach = 0;             ///< values stop growing at ±reach
  std::size_t inside_count = 0;
  std::optional<double> isovalue;      ///< that the surface is at, where the object is one of values
  std::optional<double> voxel_volume;  ///< of the voxels inside, where the object is one of labels
  std::vector<std::string> notes;      ///< what the user should know, a line each
};

enum class InsideIs { above, below };   ///< values at or above the isovalue, or below it
enum class AtBorder { close, refuse };  ///< an object that leaves the image ends at its border; or is an error

/// Label maps are often enlarged from coarser ones, each old voxel a block of new ones. Found, the blocks are the
/// voxels; taken as they are, their steps of several voxels stay in the surface.
enum class Blocks { find, keep };

struct FieldOptions {
  InsideIs inside = InsideIs::above;
  AtBorder border = AtBorder::close;
  /// Width of the smoothing in voxels. Of label maps, whose surface is a staircase: 0 keeps it. Of other images: beyond
  /// what the values say.
  double smoothing = -1;  ///< negative: the default, 1 for labels and 0 for values
  Blocks blocks = Blocks::find;
  /// How far from the surface distances are needed, in voxels of the smallest spacing. Sizes up to
  /// `SizingOptions::largest` need largest/epsilon.
  double reach = 16;
  int threads = 0;  ///< 0: all cores
  Backend backend = Backend::automatic;
};

/// The object where values are above (below) the isovalue; values between voxels are those of the cubic spline. One
/// value per voxel; those that are not finite count as outside, with a note. Where all values are whole numbers and
/// voxels have the isovalue, the surface is half a step below it, with a note. Throws InputError for an image that is
/// flat, sheared or constant, an isovalue that leaves nothing inside or nothing outside (the range is said), and an
/// object that leaves the image when that is to be refused; and Cancelled.
ImplicitSurface from_isovalue(const ImageGrid& grid, std::span<const float> values, double isovalue,
                              const FieldOptions& options = {}, const Progress& progress = {});

/// Of voxels that belong to nothing, such as those that are no number.
inline constexpr std::int32_t no_label = std::numeric_limits<std::int32_t>::min();

/// The object made of all voxels with one of these labels. Its surface is smoothed to less than a voxel but stays
/// between the centres of the voxels on both sides, at most half a voxel away from their common face. An object
/// that fills the image is closed on the image's faces. Throws InputError for an image that is flat or sheared, labels
/// that it does not have (those that it has are listed), and an object that leaves it when that is to be refused; and
/// Cancelled.
ImplicitSurface from_labels(const ImageGrid& grid, std::span<const std::int32_t> labels,
                            const std::set<std::int32_t>& wanted, const FieldOptions& options = {},
                            const Progress& progress = {});

// ---- How large triangles may be: from curvature and the distance to the medial axis, and by hand.

template <class T>
struct SizeView;

/// Edge lengths wanted, one per lattice point.
struct SizeField {
  Lattice lattice;
  std::vector<float> values;

  /// What the stages look sizes up with; private.
  [[nodiscard]] SizeView<double> view() const;
};

/// A place where smaller or larger triangles are asked for by hand. Multiplies sizes by `factor` at `center`, less and
/// less so up to `radius`: by 1 + (factor − 1)(1 − (d/radius)²)².
struct SizeBrush {
  Vec3d center;       ///< in the world
  double radius = 0;  ///< a length of the world
  double factor = 1;  ///< 0.5: edges half as long, four times as many triangles

  static constexpr double smallest_factor = 0.05, largest_factor = 20;
};

/// Lengths are those of the world.
struct SizingOptions {
  double epsilon = 0.5;  ///< edge length per radius of curvature, or per distance to the medial axis
  double delta = 0.3;    ///< most that sizes may change per length
  /// Most that the middle of a triangle may be off the curved surface; 0: 0.12 of the smallest voxel spacing; infinity:
  /// left to epsilon.
  double accuracy = 0;
  double smallest = 0;               ///< 0: three quarters of the smallest voxel spacing
  double largest = 0;                ///< 0: epsilon times the field's reach
  double uniform = 0;                ///< this size everywhere, whatever the shape; 0: adapted
  std::vector<SizeBrush> brushes{};  ///< applied to what comes out of all that
  int threads = 0;                   ///< 0: all cores
  Backend backend = Backend::automatic;
};

// ---- Particles that spread over the surface until they lie in hexagons of the wanted size (paper 002, section 3).

template <class T>
struct Particle {
  Vec3<T> position;
  T size;          ///< the edge length wanted here
  Vec3<T> normal;  ///< of length 1, outward; 0: it stays where it is, and every sheet sees it
  T lambda;        ///< its own Levenberg–Marquardt damping
};

enum class BinKind {
  uniform,  ///< as wide as the largest size's reach
  adaptive  ///< a level for each doubling of the size, as wide as the reach of the sizes in it
};

/// How particles are moved, and when some are added or removed.
enum class ParticleScheme {
  ours,      ///< over-relaxed steps of an energy weighted with sizes, on lists of neighbours that are kept for a while
  published  ///< as in paper 002: bins of 27 colours, whose neighbourhoods are copied together
};

/// Whether particles are added and removed where there are too few or too many.
enum class DensityControl {
  full,
  delete_only  ///< none is added: as many as there were seeds, or fewer (paper 002, Table 3)
};

/// What an iteration did.
struct RelaxIteration {
  double energy = 0;  ///< mean of the particles' energies, as they were when visited (published: after all moved)
  std::size_t particles = 0;  ///< that were visited
  std::size_t moved = 0;
  std::size_t resting = 0;  ///< not looked at, since they and their neighbours had stopped
  std::size_t added = 0, deleted = 0;
  std::size_t energy_evaluations = 0;  ///< sums over a list of neighbours
  std::size_t spline_evaluations = 0;
  bool new_lists = false;  ///< the neighbours were looked up again
};

struct ParticleOptions {
  ParticleScheme scheme = ParticleScheme::ours;
  double split_below = 0.75;   ///< of the ideal energy: a particle is added beside one with less
  double delete_above = 1.35;  ///< one with more is removed
  int iterations = 50;         ///< at most
  double min_change = 0.0015;  ///< of the energy; it ends when an iteration (ours: without density control) has less
  double lambda_step = 10;     ///< factor of the Levenberg–Marquardt damping
  std::uint64_t seed = 1;      ///< of the random numbers that bias the density control
  BinKind bins = BinKind::adaptive;  ///< of our scheme
  DensityControl density = DensityControl::full;
  Backend backend = Backend::automatic;  ///< cuda: in single precision on the GPU; all else: on `threads` threads
  int threads = 1;                       ///< 0: all cores
  /// Called after each iteration, from the thread that relaxes; may be empty.
  std::function<void(const RelaxIteration&)> watch{};
  /// Likewise, with where the particles are now (in the lattice's frame); on a GPU this copies them.
  std::function<void(const RelaxIteration&, std::span<const Particle<double>>)> show{};
};

// ---- From particles to triangles.

/// How a component of the expected surface came out.
struct SurfaceDifference {
  enum class Kind {
    lost,     ///< nothing of it is there
    merged,   ///< it is part of a component that belongs to another one
    divided,  ///< it fell into several
    handles   ///< its Euler characteristic is another
  };
  Kind kind = Kind::lost;
  std::size_t component = 0;  ///< in the order of `surface_topology`
  double area = 0;            ///< of the expected component
  Vec3d place;                ///< one of its corners
  long expected_euler = 0;
  long found_euler = 0;  ///< of what came of it, or of what it is part of; 0 when lost
};

struct TriangulateOptions {
  double min_ratio = 0.45;  ///< radius ratio below which a triangle is improved (equilateral: 1)
  double min_angle = 20;    ///< degrees, likewise
  int evenings = 1;         ///< times that all particles are smoothed and triangulated anew, before the repair
  int rounds = 40;          ///< of repair; the last third of them only adds points
  int threads = 0;          ///< 0: all cores
  /// A surface of the same object, as marching tetrahedra give it: what the particles miss of it is sampled again with
  /// sizes halved, at most `refinements` times, and specks that it lacks are left out. Where they still differ the
  /// field itself is looked at more closely, and only what differs from that is reported. Without it nothing is
  /// compared.
  const TriangleMesh* expected = nullptr;
  int refinements = 2;
};

/// What the triangulation had to do, and what it could not.
struct TriangulateReport {
  std::size_t added = 0, removed = 0, moved = 0;  ///< points, by the repair
  std::size_t relabelled = 0;                     ///< points where the surface touched itself and labels were changed
  int rounds = 0;
  std::size_t bad_shapes = 0;       ///< triangles still below `min_ratio` or `min_angle`
  std::size_t bad_crossings = 0;    ///< triangles whose dual edge still crosses the field's surface more than once
  std::size_t singular_points = 0;  ///< points where the surface still touches itself; 0 unless the rounds ran out
  std::size_t unused = 0;           ///< particles that are no corner of any triangle
  std::size_t specks = 0;           ///< components below a voxel's volume that the expected surface lacks, left out
  std::vector<SurfaceDifference> differences;  ///< from the expected surface, where the field agrees with that
  double seconds_delaunay = 0, seconds_repair = 0;
};

// ---- All stages: sizes, particles, triangles.

struct ExtractOptions {
  SizingOptions sizing;
  ParticleOptions particles;
  TriangulateOptions triangles;  ///< what is expected is the isosurface of the field
  /// Which isosurface the result comes with, for comparison: that of the seeds, or `fine_isosurface`.
  enum class Isosurface { coarse, fine } isosurface = Isosurface::coarse;
  std::size_t seeds = 0;                 ///< about so many, and none is added; 0: as many as the sizes ask for
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
  std::optional<double> isovalue, voxel_volume;  ///< as in `ImplicitSurface`
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

/// Moves a mesh from the lattice's frame to the world; its triangles face the same side as before.
void to_world(const LatticeFrame& frame, TriangleMesh& mesh);

/// Meshes the zero set of a distance field. Throws UsageError for options that make no sense, InputError when more
/// particles are asked for than allowed or than memory holds (the number is said), NoAnswerError when no
/// triangle is left, RuntimeError without CGAL, and Cancelled.
ExtractedSurface extract_surface(const ImplicitSurface& surface, const ExtractOptions& options = {});

// ---- From a label map to one mesh of the surfaces between all its materials.

/// How a component of a material's border came out.
struct MaterialDifference {
  std::int32_t material = 0;  ///< label
  SurfaceDifference border;
};

/// Triangles between materials, each once, in world coordinates, and how they came about. 0 is outside.
struct ExtractedMaterials {
  TriangleMesh mesh;
  std::vector<RegionSides> sides;       ///< of each triangle: the labels behind and before it
  std::vector<std::int32_t> materials;  ///< those that have triangles, ascending, without 0
  std::vector<double> voxel_volumes;    ///< of the voxels of each of these
  std::vector<double> sizes;            ///< the edge length wanted at each vertex
  SizeField size_field;                 ///< and everywhere around, in the lattice's frame
  LatticeFrame frame;                   ///< of the lattice
  std::size_t samples = 0;              ///< points before the triangulation's repair
  std::size_t junction_samples = 0;     ///< those of them where three or more materials meet
  TriangulateReport triangulation;
  std::vector<MaterialDifference> differences;  ///< from what the image has; places are in the world
  TriangleMesh isosurface;                      ///< with `ExtractOptions::Isosurface::fine`: of all borders, else empty
  double expected_particles = 0;
  double field_seconds = 0;
  ExtractTimes times;              ///< `seeding` is that of the samples
  std::vector<std::string> notes;  ///< what the user should know, a line each
};

/// Meshes the borders of some materials of a label map; all other labels count as outside, as does everything beyond
/// the image. No materials: all but 0. Of the options, `seeds`, `triangles.expected`, and `backend` and `watch` of the
/// particles are not used; sizes are the smallest that any of the materials asks for. Each material's border is closed
/// and manifold (unless a note says otherwise), and neighbours share their triangles. Throws InputError for labels that
/// the image does not have or that all voxels have, and like `extract_surface`; UsageError for material 0.
ExtractedMaterials extract_materials(const ImageGrid& grid, std::span<const std::int32_t> labels,
                                     const std::set<std::int32_t>& materials, const FieldOptions& field = {},
                                     const ExtractOptions& options = {});

/// The closed border of one material, its triangles seen counter-clockwise from outside of it. Has all the points.
TriangleMesh border_of(const TriangleMesh& mesh, std::span<const RegionSides> sides, std::int32_t material);

}  // namespace isochron
