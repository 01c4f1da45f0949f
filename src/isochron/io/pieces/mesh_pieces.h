// Reads all pieces of a mesh or an image and joins them.
#pragma once

#include "isochron/io/pieces/piece_index.h"

namespace isochron {

/// The whole mesh. Ghost cells are dropped. Where all pieces tell ids of the whole mesh, vertices and cells come in
/// their order; otherwise piece by piece, and vertices at the same place on borders of pieces are one, see
/// `match_borders`. Throws InputError about the list: a piece is missing, pieces disagree on their arrays,
/// ids contradict one another.
Dataset read_mesh_pieces(const std::filesystem::path& path);

/// The whole image. Throws InputError likewise.
Image read_image_pieces(const std::filesystem::path& path);

/// One piece of a mesh as its file has it, with the arrays that the index announces and those that tell ids and ghosts.
/// Throws InputError.
Dataset read_mesh_piece(const PieceIndex& index, std::size_t piece);

/// Takes out the cells that other pieces have too, and the ghost points that no cell needs then.
void drop_ghosts(Dataset& piece);

/// By point: 1 where another piece has it too, and owns it.
std::vector<std::uint8_t> ghost_points(const Dataset& piece);

/// The points where another piece may meet this one, ascending. The piece is as before.
std::vector<VertexId> border_of(Dataset& piece);

/// Takes out the arrays that only tell how pieces fit together.
void drop_bookkeeping(DataArrays& data);

}  // namespace isochron
