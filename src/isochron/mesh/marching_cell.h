// What marching tetrahedra make of one cell of a lattice.
#pragma once

#include <array>

#include "isochron/types.h"

namespace isochron {

/// Corners of a cell are numbered by their offset, bit a for axis a. A tetrahedron goes from corner 0 to corner 7 along
/// one axis after the other, so each of its edges leads from a corner to one whose bits contain it: an edge is its
/// lower corner and its direction, one of seven.
struct CellEdge {
  int corner = 0;     ///< lower end
  int direction = 0;  ///< bits of the axes it runs along, 1 to 7
};

using CellTriangle = std::array<CellEdge, 3>;

struct CellCase {
  int count = 0;
  std::array<CellTriangle, 12> triangles;
};

/// The triangles in a cell, by which of its corners are inside (bit c for corner c). They face outward.
const std::array<CellCase, 256>& cell_cases();

/// Where between ends with the values a and b, of different signs, the zero is: a share of the edge, a thousandth or
/// more from both ends; the middle when one of them is not finite.
double crossing(double a, double b);

}  // namespace isochron
