// Meshes, images and fields to try things on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "isochron/dataset.h"
#include "isochron/image.h"
#include "isochron/mesh.h"
#include "isochron/partition.h"
#include "isochron/parts.h"
#include "isochron/types.h"

namespace isochron {

// ---- Flat square meshes of triangles, on a lattice or with vertices of many different valences.

enum class SquarePattern {
  diagonal,    ///< all cells are cut along (1,1): Mesh 1 of paper 000
  alternating  ///< the cut alternates like a chess board, so that no direction is preferred
};

struct SquareOptions {
  std::size_t n = 1024;  ///< vertices a side, at least 2
  double extent = 1;     ///< length of a side
  double jitter = 0;     ///< interior vertices move by up to this share of a cell along each axis; below 0.5
  std::uint64_t seed = 1;
  SquarePattern pattern = SquarePattern::diagonal;
};

/// The square [0, extent]² in z = 0 with n × n vertices (x fastest) and 2(n−1)² counter-clockwise triangles. Throws
/// UsageError when an option is out of range.
TriangleMesh generate_square(const SquareOptions& options);

/// One part of that square, the same vertices and elements, without ever holding the whole. Throws UsageError.
MeshPart<3> generate_square_part(const SquareOptions& options, const PartChoice& choice);

struct IrregularSquareOptions {
  std::size_t n = 1025;          ///< vertices a side before vertices are added, at least 2
  double extent = 1;             ///< length of a side
  double jitter = 0.25;          ///< interior vertices move by up to this share of a cell along each axis; below 0.5
  double extra = 0.125;          ///< share of the cells that get a vertex in their middle, 0 to 1
  double flips = 1;              ///< random edge flips tried, as a multiple of the number of triangles
  std::size_t max_valence = 11;  ///< no flip makes more triangles meet than this
  std::uint64_t seed = 1;
};

/// A square like Mesh 2 of paper 000: a lattice with added vertices, moved vertices and flipped edges. With the default
/// options it has that mesh's 1,181,697 vertices, 2,359,296 triangles and highest valence, 11. No triangle is inverted.
/// Throws UsageError when an option is out of range.
TriangleMesh generate_irregular_square(const IrregularSquareOptions& options);

// ---- Spheres of nearly equal triangles.

struct SphereOptions {
  std::size_t frequency = 320;  ///< parts each edge of the icosahedron is cut into, at least 1
  double radius = 1;
};

/// A geodesic sphere around the origin: 10 f² + 2 vertices, 20 f² triangles seen counter-clockwise from outside.
/// Valence is six except at the twelve corners of the icosahedron. f = 320 has about the size of Mesh 3 of paper 000.
/// Throws UsageError when an option is out of range.
TriangleMesh generate_sphere(const SphereOptions& options);

// ---- Boxes of tetrahedra, on a lattice or with vertices of many different valences.

/// Which main diagonal of its cell the six tetrahedra of a cell share. From a source in one corner of the box the error
/// depends on it: waves along the diagonal are exact, waves across it are not.
enum class KuhnDiagonal {
  ppp,  ///< along (1, 1, 1)
  npp,  ///< along (−1, 1, 1)
  pnp,  ///< along (1, −1, 1)
  ppn   ///< along (1, 1, −1)
};

struct CubeOptions {
  std::size_t nx = 64, ny = 64, nz = 64;  ///< vertices along each axis, at least 2
  Vec3d extent{1, 1, 1};                  ///< size of the box
  double jitter = 0;                      ///< interior vertices move by up to this share of a cell along each axis
  std::uint64_t seed = 1;
  KuhnDiagonal diagonal = KuhnDiagonal::ppp;
};

/// The box from 0 to `extent`, vertices with x fastest, six positively oriented tetrahedra (Kuhn) per cell. Mesh 1 of
/// paper 003 is nx = ny = nz = 64. With jitter, moves that would flatten a tetrahedron are shortened. Throws UsageError
/// when an option is out of range.
TetMesh generate_cube(const CubeOptions& options);

/// One part of that box, the same vertices and elements, without ever holding the whole; so the box may be larger than
/// one process can number. Throws UsageError.
MeshPart<4> generate_cube_part(const CubeOptions& options, const PartChoice& choice);

struct IrregularCubeOptions {
  std::size_t n = 54;          ///< lattice vertices a side, 2 to 400
  double extent = 1;           ///< length of a side
  double jitter = 0.2;         ///< interior vertices move by up to this share of a cell along each axis; below 0.5
  double random_faces = 0.58;  ///< share of the cell faces whose diagonal is tossed up, 0 to 1
  std::uint64_t seed = 1;
};

/// A cube like Mesh 2 of paper 003. Each lattice vertex draws a rank; a cell face is cut along the diagonal at its
/// highest-ranking corner, or, for a share of the faces, along any. A cell with a corner that has a diagonal in its
/// three faces becomes a fan of six tetrahedra around it; any other gets a vertex inside and twelve. So between 4 and
/// 48 tetrahedra meet at an interior vertex. All are positively oriented. The default has about that mesh's size
/// (197,561 vertices, 1,122,304 tetrahedra, highest valence 54). Throws UsageError when an option is out of range.
TetMesh generate_irregular_cube(const IrregularCubeOptions& options);

// ---- Boxes with two regions of different speed whose interface the mesh follows, among them two models of paper 003.

struct RegionModel {
  TetMesh mesh;
  std::vector<std::int32_t> region;  ///< per element: 0 outside, 1 inside
  std::vector<double> speed;         ///< per element
};

/// Speeds of the two regions.
struct RegionSpeeds {
  double outside = 1;
  double inside = 1;
};

/// The box with the surface `level(x) = 0` fitted in: vertices near it are moved onto it, the elements it still crosses
/// are cut, and elements on the negative side are labelled 1. So no element reaches across, up to a tenth of an edge
/// where a move had to be shortened to keep an element from flattening. `level` must be continuous and grow about like
/// a distance near the surface. The box keeps its shape and no element is inverted.
RegionModel generate_region_model(const CubeOptions& box, const RegionSpeeds& speeds,
                                  const std::function<double(Vec3d)>& level);

/// The lens model of paper 003 (Mesh 4, Speed 4).
struct LensOptions {
  std::size_t n = 64;               ///< lattice vertices a side; 64 gives 265,000 vertices and 1,516,000 tetrahedra
  double extent = 1;                ///< length of a side
  double radius = 0.55;             ///< of the two spheres whose common part is the lens, as a share of the extent
  double thickness = 0.25;          ///< of the lens along x, as a share of the extent
  double refractive_index = 2.419;  ///< inside; the speed there is one over it
  double jitter = 0.1;
  std::uint64_t seed = 1;
};

/// A biconvex lens in the middle of a cube of air: its axis is x, region 1 is the lens. Paper 003 has 260,908 vertices
/// and 1,561,642 tetrahedra. Throws UsageError when an option is out of range.
RegionModel generate_lens(const LensOptions& options);

/// The blobs ("lava lamp") model of paper 003 (Mesh 5, Speed 5).
struct BlobsOptions {
  std::size_t n = 74;        ///< lattice vertices a side; 74 gives 416,000 vertices and 2,388,000 tetrahedra
  double extent = 1;         ///< length of a side
  std::size_t blobs = 12;    ///< balls that melt together where they are close
  double speed_outside = 1;  ///< region 0
  double speed_inside = 10;  ///< region 1, the blobs
  double jitter = 0.1;
  std::uint64_t seed = 1;
};

/// Irregular smooth regions in a cube: the set where a sum of bell functions around random centres exceeds a threshold.
/// Paper 003 has 437,355 vertices and 2,306,717 tetrahedra. Throws UsageError when an option is out of range.
RegionModel generate_blobs(const BlobsOptions& options);

// ---- A left ventricle: a truncated thick-walled ellipsoid of tetrahedra with fibres.

/// Lengths in mm, angles in degrees. The long axis is z with the apex at negative z; the wall is cut off at z = base.
struct VentricleOptions {
  double endo_short = 17, endo_long = 47;  ///< half-axes of the inner surface
  double epi_short = 27, epi_long = 54;    ///< half-axes of the outer surface: a wall of 10 mm, 7 mm at the apex
  double base = 15;                        ///< height of the base plane, between −endo_long and endo_long
  double edge = 1;           ///< size of a cell before it is cut into six; unused when `elements` is given
  std::size_t elements = 0;  ///< wanted number of tetrahedra (met within a few per cent), 0: by `edge`
  double helix_endo = 60, helix_epi = -60;  ///< fibre angle against the circumference, linear through the wall
  int threads = 1;
};

struct Ventricle {
  TetMesh mesh;
  std::vector<Vec3f> fiber;       ///< per element, unit length, tangent to the ellipsoidal layers of the wall
  std::vector<Vec3f> sheet;       ///< per element, unit length, outward through the wall, orthogonal to the fibre
  std::vector<float> transmural;  ///< per vertex, 0 on the endocardium, 1 on the epicardium
  std::vector<float> apicobasal;  ///< per vertex, 0 at the apex, 1 on the base, by length along the wall
};

/// Builds the ventricle. Its layers are covered by a disc without a pole (a square patch over the apex inside a ring),
/// so that no element degenerates there; all tetrahedra are positively oriented. Seen from outside with the base up, a
/// positive helix angle rises to the right. On the axis itself the circumference has no direction, and the fibres of
/// the elements around it turn quickly. 25 million tetrahedra need about 1.3 GB. Throws UsageError when an option is
/// out of range.
Ventricle generate_ventricle(const VentricleOptions& options);

/// One part of a ventricle; the arrays are those of its elements and vertices.
struct VentriclePart {
  MeshPart<4> part;
  std::vector<Vec3f> fiber, sheet;
  std::vector<float> transmural, apicobasal;
};

/// One part of that ventricle, the same vertices and elements, without ever holding the whole; so it may be larger than
/// one process can number. Throws UsageError.
VentriclePart generate_ventricle_part(const VentricleOptions& options, const PartChoice& choice);

// ---- Generated meshes as data sets, with their arrays.

inline DataArray vector_array(std::string name, const std::vector<Vec3f>& vectors) {
  std::vector<float> values;
  values.reserve(3 * vectors.size());
  for (const Vec3f& v : vectors) values.insert(values.end(), {v.x, v.y, v.z});
  return {std::move(name), 3, std::move(values)};
}

template <int Corners>
Dataset to_dataset(SimplexMesh<Corners>&& mesh) {
  Dataset dataset;
  restore_mesh<Corners>(dataset, std::move(mesh));
  return dataset;
}

inline Dataset to_dataset(RegionModel&& model) {
  Dataset dataset = to_dataset(std::move(model.mesh));
  dataset.tets.data.set({"region", 1, std::move(model.region)});
  dataset.tets.data.set({"speed", 1, std::move(model.speed)});
  return dataset;
}

/// Of a whole ventricle or a part of one.
template <class AnyVentricle>
void add_arrays(AnyVentricle& ventricle, DataArrays& points, DataArrays& cells) {
  cells.set(vector_array("fiber", ventricle.fiber));
  cells.set(vector_array("sheet", ventricle.sheet));
  points.set({"transmural", 1, std::move(ventricle.transmural)});
  points.set({"apicobasal", 1, std::move(ventricle.apicobasal)});
}

inline Dataset to_dataset(Ventricle&& ventricle) {
  Dataset dataset = to_dataset(std::move(ventricle.mesh));
  add_arrays(ventricle, dataset.point_data, dataset.tets.data);
  return dataset;
}

// ---- Random speeds, tensors and directions, correlated over a mesh.

struct RandomFieldOptions {
  int smoothing = 10;  ///< steps of Laplacian smoothing; 0: white noise
  std::uint64_t seed = 1;
};

/// The interval of eigenvalues or speeds, 0 < low ≤ high.
struct ValueRange {
  double low = 0.1;
  double high = 1;
};

/// Gaussian white noise at the vertices, smoothed and then brought to mean 0 and deviation 1; one value per vertex.
/// Each step is u ← (u + m)/2 with m the mean over the other corners of the vertex's elements, an umbrella Laplacian
/// (paper 000 section 3.3.1).
template <int Corners>
std::vector<double> smoothed_noise(const SimplexMesh<Corners>& mesh, const RandomFieldOptions& options);

/// Speed 2 of paper 000: smoothed noise mapped into the range so that at a vertex every value is about equally likely,
/// averaged to one speed per element. Throws UsageError for an empty range.
template <int Corners>
std::vector<double> random_speed(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                 const RandomFieldOptions& options);

/// Speed 3 of paper 003: one symmetric positive-definite tensor per element, eigenvalues in the range and axes in any
/// direction, both from smoothed noise. Throws UsageError for an empty range.
template <int Corners>
std::vector<SymTensor3f> random_tensors(const SimplexMesh<Corners>& mesh, const ValueRange& range,
                                        const RandomFieldOptions& options);

/// One independent, uniformly distributed unit vector per element, in the plane of the element for triangles.
template <int Corners>
std::vector<Vec3f> random_fibers(const SimplexMesh<Corners>& mesh, std::uint64_t seed);

/// Unit vectors (cos θ, sin θ, 0) with θ growing by `turns` revolutions along one axis (0, 1, 2) over the bounding box,
/// projected into the element for triangles.
template <int Corners>
std::vector<Vec3f> rotating_fibers(const SimplexMesh<Corners>& mesh, double turns, int axis);

// ---- Images: tensors with known answers (the two examples of paper 004, crossing fibres), flat seismic models, and
// three materials to take surfaces from.

/// A box of voxels along the axes, the first one at the origin.
struct ImageSize {
  std::array<std::uint32_t, 3> n{64, 64, 64};
  double spacing = 1;
};

/// The grid of that size. Throws UsageError when there are too few or too many voxels or no spacing.
ImageGrid image_grid(const ImageSize& size);

struct DiagonalTensorsOptions {
  ImageSize size{};
  double coupling = 0.9;  ///< the off-diagonal components; the diagonal ones are 1
};

/// One velocity tensor D everywhere (array `velocity_tensor`), fast along (1, 1, 1): paper 004, Example 1. Its
/// eigenvalues are 1 + 2c along the diagonal and 1 − c across. Throws UsageError unless D is positive definite.
Image generate_diagonal_tensors(const DiagonalTensorsOptions& options);
/// One part's box of it with the same values, made without the rest; so for all images here.
ImagePart generate_diagonal_tensors_part(const DiagonalTensorsOptions& options, const PartChoice& choice);

struct HelixTensorsOptions {
  ImageSize size{};
  double radius = 0.3;   ///< of the helix, as a share of the box's smaller side across z
  double tube = 0.08;    ///< radius of the tube around the helix, as the same share
  double turns = 2;      ///< from the first slice to the last
  double along = 1;      ///< eigenvalue of D along the helix
  double across = 1e-4;  ///< the other two, and all three outside the tube
};

/// Velocity tensors D (array `velocity_tensor`) along the tangent of a helix around the z axis through the box's
/// middle, inside a tube; outside they are isotropic. After paper 004, Example 2. Throws UsageError.
Image generate_helix_tensors(const HelixTensorsOptions& options);
ImagePart generate_helix_tensors_part(const HelixTensorsOptions& options, const PartChoice& choice);
/// The helix's centre line in the world: t = 0 in the first slice, 1 in the last.
Vec3d helix_point(const HelixTensorsOptions& options, double t);
/// The unit tangent there, upwards.
Vec3d helix_tangent(const HelixTensorsOptions& options, double t);
/// Radius of the tube in the world.
double helix_tube_radius(const HelixTensorsOptions& options);

struct CrossingFibersOptions {
  ImageSize size{{64, 64, 24}, 2};
  double angle = 60;           ///< between the bundles, degrees
  double radius = 0.12;        ///< of a bundle, as a share of the box's smallest side in the plane
  double along = 1.7e-3;       ///< diffusivity along a bundle, mm²/s
  double across = 0.2e-3;      ///< across it
  double background = 0.8e-3;  ///< isotropic, outside
  double noise = 0;            ///< standard deviation added to every component, as a share of `along`
  std::uint64_t seed = 1;
};

/// Diffusion tensors T (array `tensor`) of two straight round bundles in the plane z = middle that cross in the box's
/// middle, at ± angle/2 from the x axis; where they cross, T is their mean. Beside them the arrays `mask` (uint8: 1 in
/// the bundles) and `fa`. Throws UsageError.
Image generate_crossing_fibers(const CrossingFibersOptions& options);
ImagePart generate_crossing_fibers_part(const CrossingFibersOptions& options, const PartChoice& choice);

// ---- Flat seismic models: a speed per pixel; the second axis is the depth.

struct LayersOptions {
  std::array<std::uint32_t, 2> n{301, 101};  ///< pixels along x and down
  double spacing = 10;                       ///< m
  std::uint32_t layers = 8;
  double speed_top = 1500;     ///< m/s, of the first layer
  double speed_bottom = 4500;  ///< of the last; between them in equal steps
  double relief = 0.6;         ///< how far interfaces wave, as a share of half a layer: 0 is flat, below 1
  std::uint64_t seed = 1;
};

/// Layers with waving interfaces that do not cross; arrays `speed` (float) and `layer` (uint8, 0 on top). Throws
/// UsageError.
Image generate_layers(const LayersOptions& options);
/// One part's box of it with the same values, made without the rest; so for both models.
ImagePart generate_layers_part(const LayersOptions& options, const PartChoice& choice);

struct SaltOptions {
  std::array<std::uint32_t, 2> n{301, 101};
  double spacing = 10;         ///< m
  double speed_top = 1500;     ///< m/s at the surface
  double speed_bottom = 3500;  ///< at the bottom, linear between
  double speed_salt = 4500;
  double radius = 0.25;     ///< mean radius of the salt, as a share of the depth
  double roughness = 0.25;  ///< how far its outline leaves the circle, as a share of the radius: 0 to below 1
  std::uint64_t seed = 1;
};

/// A body of fast salt in the middle of a medium that gets faster with the depth; arrays `speed` (float) and `salt`
/// (uint8, 1 inside). Throws UsageError.
Image generate_salt(const SaltOptions& options);
ImagePart generate_salt_part(const SaltOptions& options, const PartChoice& choice);

// ---- Three materials.

/// Lengths are shares of the box's smallest side.
struct PhantomOptions {
  ImageSize size{};
  double radius = 0.28;  ///< of the chamber across z, outside; along z it is 1.4 times as long
  double wall = 0.08;    ///< how thick its wall is
  double tube = 0.06;    ///< radius of the ring around its equator, which is sunk into the wall by half of that
};

/// A closed chamber in a ring. Arrays: `label` (uint8: 1 the wall, 2 what it encloses, 3 the ring, 0 outside) and
/// `density` (float: 0 outside, 100, 200 and 300 in labels 1 to 3, with a ramp of a voxel where two of them meet, as a
/// scanner's partial volumes have it). Throws UsageError for lengths that do not fit into each other or the box.
Image generate_phantom(const PhantomOptions& options);
/// One part's box of it with the same values, made without the rest.
ImagePart generate_phantom_part(const PhantomOptions& options, const PartChoice& choice);

}  // namespace isochron
