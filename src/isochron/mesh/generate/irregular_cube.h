// A cube of tetrahedra whose vertices have many different valences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

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

}  // namespace isochron
