// One element of a patch, turned so that the corner to be updated comes last. For host and device.
#pragma once

#include "isochron/local/simplex_update.h"
#include "isochron/types.h"

namespace isochron {

/// One element as a thread holds it: it is turned until the corner to be updated comes last. `node` is what a corner
/// carries (its time, or its number); `length` the squared metric lengths in the order of `edge_corners`. Every index
/// is a constant, so that all of it stays in registers.
template <class Node, class T, int Corners>
struct PatchSimplex {
  static constexpr int edges = Corners * (Corners - 1) / 2;

  Node node[Corners];
  T length[edges];

  /// Corner 1 becomes corner 0, and so on; corner 0 comes last.
  ISOCHRON_HD void turn() {
    const Node first = node[0];
    for (int k = 0; k + 1 < Corners; ++k) node[k] = node[k + 1];
    node[Corners - 1] = first;
    if constexpr (Corners == 4) {
      const T l01 = length[0], l02 = length[1], l12 = length[2], l03 = length[3], l13 = length[4], l23 = length[5];
      length[0] = l12;
      length[1] = l13;
      length[2] = l23;
      length[3] = l01;
      length[4] = l02;
      length[5] = l03;
    } else {
      const T l01 = length[0], l02 = length[1], l12 = length[2];
      length[0] = l12;
      length[1] = l01;
      length[2] = l02;
    }
  }
};

/// The earliest time on the face opposite the last corner: no arrival there is earlier.
template <class T, int Corners>
ISOCHRON_HD inline T earliest_of_face(const PatchSimplex<T, T, Corners>& s) {
  const T first = detail::smaller(s.node[0], s.node[1]);
  if constexpr (Corners == 4) return detail::smaller(first, s.node[2]);
  else return first;
}

/// The earliest arrival at the last corner. At least one time on the face is finite.
template <class T, int Corners>
ISOCHRON_HD inline T arrival_at_last(const PatchSimplex<T, T, Corners>& s) {
  const T(&l)[PatchSimplex<T, T, Corners>::edges] = s.length;
  if constexpr (Corners == 4)
    return detail::tet_update_scaled(s.node[0], s.node[1], s.node[2], TetLengths<T>{l[0], l[1], l[2], l[3], l[4], l[5]})
        .time;
  else return detail::triangle_update_scaled(s.node[0], s.node[1], TriangleLengths<T>{l[0], l[1], l[2]}).time;
}

}  // namespace isochron
