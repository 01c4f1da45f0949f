// A box with two regions of different speed whose interface the mesh follows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isochron/mesh/generate/cube.h"
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

}  // namespace isochron
