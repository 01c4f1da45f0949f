// Boxes with two regions of different speed whose interface the mesh follows, among them two models of paper 003.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isochron/generate/cube.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

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

}  // namespace isochron
