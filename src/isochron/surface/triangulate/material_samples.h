// Points on the borders between materials, for `triangulate_materials`.
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/progress.h"
#include "isochron/surface.h"
#include "isochron/surface/particles/relax.h"
#include "isochron/surface/triangulate/label_field.h"

namespace isochron {

struct MaterialSamples {
  std::vector<Vec3d> points;
  std::size_t fixed = 0;  ///< so many of them, the first ones, lie on junctions
};

/// Corners where four materials meet come first, then the curves where three do, evenly along each one. Points of the
/// borders are no closer to these and to each other than about the sizes ask for. Throws Cancelled.
MaterialSamples sample_materials(const MaterialLabels& field, const SizeField& sizes, int threads = 1,
                                 const Progress& progress = {});

/// Lets the points of each border spread over it until they lie in hexagons, as `relax` does with one surface; those on
/// junctions are the rims and stay. Points are added and removed. The same for any number of threads. Throws Cancelled.
MaterialSamples relax_materials(const MaterialLabels& field, const SizeField& sizes, const MaterialSamples& samples,
                                const ParticleOptions& options = {}, const Progress& progress = {});

}  // namespace isochron
