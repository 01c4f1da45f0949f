// Boxes of tetrahedra, on a lattice or with vertices of many different valences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/core/vec.h"
#include "isochron/dist/block_partition.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

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

}  // namespace isochron
