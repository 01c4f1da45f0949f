// A tetrahedron as one of its corners sees it.
#pragma once

#include "isochron/mesh.h"

namespace isochron {

/// The other corners of a tetrahedron seen from corner x, and where its six lengths are.
struct TetView {
  int a, b, c;
  int xa, xb, xc, ab, ac, bc;
};
constexpr TetView tet_view(int x) {
  const int a = (x + 1) & 3, b = (x + 2) & 3, c = (x + 3) & 3;
  return {a,
          b,
          c,
          edge_index(x, a),
          edge_index(x, b),
          edge_index(x, c),
          edge_index(a, b),
          edge_index(a, c),
          edge_index(b, c)};
}
inline constexpr TetView tet_views[4] = {tet_view(0), tet_view(1), tet_view(2), tet_view(3)};

}  // namespace isochron
