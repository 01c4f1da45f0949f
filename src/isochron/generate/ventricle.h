// A left ventricle: a truncated thick-walled ellipsoid of tetrahedra with fibres.
#pragma once

#include <cstddef>
#include <vector>

#include "isochron/core/vec.h"
#include "isochron/dist/block_partition.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

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

}  // namespace isochron
