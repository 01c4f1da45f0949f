// Arrival times of a coarse solve, as lattices that can be read at any finer resolution.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/paper/scale_model.h"
#include "isochron/core/vec.h"

namespace isochron::bench {

/// A box of the generator's index space with a lattice of times and places.
struct FieldPatch {
  std::array<std::size_t, 3> cells;  ///< of the coarse lattice, which has one node more along each axis
  std::vector<float> time;           ///< by node, first axis fastest, in mean edge travel times of the coarse mesh
  std::vector<Vec3f> place;

  /// Linear in each axis between the nodes; 0 to 1 along each axis.
  [[nodiscard]] double time_at(double x, double y, double z) const;
  [[nodiscard]] Vec3d place_at(double x, double y, double z) const;
};

enum class FieldShape {
  box,       ///< one patch
  ventricle  ///< a square patch over the apex and four sectors of the ring around it, one after the other
};

struct ScaleField {
  std::string name;
  FieldShape shape = FieldShape::box;
  std::vector<FieldPatch> patches;
  std::uint64_t elements = 0;  ///< of the coarse mesh
  Rework rework;
};

/// The cube, constant speed, from its middle. `n` vertices a side.
ScaleField cube_field(std::size_t n, int threads);

enum class Stimulus {
  one,   ///< a vertex in the middle of the wall
  sites  ///< a hundred places of the inner surface at once, as a conduction system would
};
/// The ventricle with velocities of 3 : 1 along and across its fibres.
ScaleField ventricle_field(std::size_t elements, Stimulus stimulus, int threads);

}  // namespace isochron::bench
