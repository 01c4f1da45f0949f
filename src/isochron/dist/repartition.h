// Meshes that come to the ranks in pieces, cut in whatever way: numbering them, and partitioning them anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/dist/mesh_part.h"
#include "isochron/mesh/hilbert_curve.h"

namespace isochron {

/// Some elements of a mesh and their vertices. Each element of the mesh is in one piece; vertices may be in several.
template <int Corners>
struct MeshPiece {
  SimplexMesh<Corners> mesh;
  DataArrays point_data, cell_data;
  std::vector<std::uint64_t> global_vertex;   ///< empty: not numbered yet
  std::vector<std::uint64_t> global_element;  ///< likewise
  std::vector<VertexId> border;     ///< where other pieces may meet it, ascending; empty: see `border_vertices`
  std::vector<std::uint8_t> ghost;  ///< by vertex: another piece has it too, and the values that count; empty: none
};

/// Numbers the vertices of pieces that say nothing about ids: piece by piece, those of a lower rank first, vertices
/// at the same place on borders being one (see `match_borders`). These are the numbers that reading all pieces on one
/// process gives. Every rank hands in its own pieces, in order; it may have none.
template <int Corners>
void number_vertices(Communicator& communicator, std::span<MeshPiece<Corners>> pieces);
/// The same for the elements.
template <int Corners>
void number_elements(Communicator& communicator, std::span<MeshPiece<Corners>> pieces);

/// Sends every vertex to the rank that owns it, with all elements that touch it, and their arrays. `owner[i]` names
/// the rank of each vertex of the i-th piece; all pieces must agree on it, and on the arrays. Throws InputError on
/// every rank when pieces disagree, or
/// when the ids are not 0 to one less than there are vertices or elements.
template <int Corners>
PartData<Corners> redistribute(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                               std::span<const std::vector<std::uint32_t>> owner);

/// Partitions numbered pieces by a Hilbert curve through the vertices: it is cut into intervals, of which ranks get
/// `blocks_per_part` each, in turn.
template <int Corners>
PartData<Corners> repartition(Communicator& communicator, std::span<const MeshPiece<Corners>> pieces,
                              std::uint32_t blocks_per_part = 1);

/// The frame over the points of all ranks; the same for each.
CurveFrame common_frame(Communicator& communicator, std::span<const Vec3d> points);

/// Where each point lies on the curve.
std::vector<std::uint64_t> curve_keys(std::span<const Vec3d> points, const CurveFrame& frame);

/// The first key of each interval but the first, ascending, so that `intervals` intervals have about as many of the
/// keys of all processes each: within a two-hundredth of an interval, or as close as equal keys allow. One sum over all
/// ranks for each bit of the keys at most.
std::vector<std::uint64_t> curve_splitters(Communicator& communicator, std::vector<std::uint64_t> keys,
                                           const CurveFrame& frame, std::size_t intervals);

/// The interval of a key.
std::size_t interval_of_key(std::span<const std::uint64_t> splitters, std::uint64_t key);

}  // namespace isochron
