// Makes a traced path a shortest one: the way of least travel time among those near it.
#pragma once

#include <optional>
#include <vector>

#include "isochron/trace/descent.h"

namespace isochron {

/// A straight piece between two points of one element.
struct Piece {
  ElementId element;
  double cost = 0;  ///< travel time
};

/// The piece between two points, in the fastest of the elements that hold both; none when there is no such element.
template <int Corners>
std::optional<Piece> piece_between(const TimedMesh<Corners>& on, const MeshPoint<Corners>& a,
                                   const MeshPoint<Corners>& b);

/// Replaces the chain (two points or more, neighbours in one element) by one of the same ends that takes less time, if
/// it finds one: first the best way over a lattice of points on the elements around the chain, then the crossings slide
/// along their faces until it is straight. Only mesh and metric count, not the times.
template <int Corners>
void shorten(const TimedMesh<Corners>& on, std::vector<MeshPoint<Corners>>& chain);

extern template std::optional<Piece> piece_between(const TimedMesh<3>&, const MeshPoint<3>&, const MeshPoint<3>&);
extern template std::optional<Piece> piece_between(const TimedMesh<4>&, const MeshPoint<4>&, const MeshPoint<4>&);
extern template void shorten(const TimedMesh<3>&, std::vector<MeshPoint<3>>&);
extern template void shorten(const TimedMesh<4>&, std::vector<MeshPoint<4>>&);

}  // namespace isochron
