// Meshes that come to the processes in pieces, cut in whatever way: numbering them, and sharing them out anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/exchange.h"
#include "isochron/mesh/part_data.h"

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

/// Numbers the vertices of pieces that say nothing about ids: piece by piece, those of a lower process first, vertices
/// at the same place on borders being one (see `match_borders`). These are the numbers that reading all pieces on one
/// process gives. Every process hands in its own pieces, in order; it may have none.
template <int Corners>
void number_vertices(Exchange& exchange, std::span<MeshPiece<Corners>> pieces);
/// The same for the elements.
template <int Corners>
void number_elements(Exchange& exchange, std::span<MeshPiece<Corners>> pieces);

/// Sends every vertex to the process that owns it, with all elements that touch it, and their arrays. `owner[i]` names
/// the process of each vertex of the i-th piece; all pieces must agree on it, and on the arrays. Throws InputError on
/// every process when pieces disagree, or
/// when the ids are not 0 to one less than there are vertices or elements.
template <int Corners>
PartData<Corners> share_out(Exchange& exchange, std::span<const MeshPiece<Corners>> pieces,
                            std::span<const std::vector<std::uint32_t>> owner);

/// Shares out numbered pieces by a Hilbert curve through the vertices: `blocks_per_part` stretches of it to every
/// process, dealt out in turn.
template <int Corners>
PartData<Corners> recut(Exchange& exchange, std::span<const MeshPiece<Corners>> pieces,
                        std::uint32_t blocks_per_part = 1);

}  // namespace isochron
