// Flat square meshes of triangles, on a lattice or with vertices of many different valences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/dist/block_partition.h"
#include "isochron/dist/mesh_part.h"
#include "isochron/mesh/simplex_mesh.h"

namespace isochron {

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

}  // namespace isochron
