// Meshes in pieces, read by several processes at once: each reads its own pieces and none has the whole mesh.
#pragma once

#include "isochron/communicator.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/parts.h"

namespace isochron {

/// The pieces that one process reads, as their files have them.
struct OwnPieces {
  PieceIndex index;
  std::vector<std::size_t> numbers;  ///< in the index
  std::vector<Dataset> pieces;
  /// The pieces are parts as processes wrote them, in that order: owners in them are numbers of pieces.
  bool parts_in_order = false;
  /// Each process has one such piece, as it was written. Other pieces come without ghosts.
  bool ready_parts = false;
  std::uint64_t triangles = 0, tets = 0, lines = 0;  ///< of all processes
  /// As in `Dataset`, of all processes; only the first one knows.
  std::vector<CutCells> cut_cells;
  std::vector<std::pair<std::string, std::size_t>> ignored_cells;
  std::vector<std::string> warnings;
};

/// All processes together: each reads its share of the pieces, which may be none. Throws InputError on all of them when
/// one cannot read its files.
OwnPieces read_own_pieces(Communicator& communicator, const std::filesystem::path& path);

/// One process's share of a mesh on its way to the parts. `others` are the cells of the other kind, triangles beside
/// tetrahedra, in the vertices of their piece.
template <int Corners>
struct NumberedPieces {
  std::vector<MeshPiece<Corners>> pieces;
  std::vector<CellBlock<7 - Corners>> others;
  std::vector<std::vector<std::uint32_t>> owner;  ///< by vertex: the process whose it is when pieces stay as they are
  std::optional<std::uint64_t> announced_vertices, announced_elements;  ///< of the whole mesh, by the index
};

/// All processes together: numbers the vertices and elements as reading all pieces on one process does. Throws
/// InputError on all of them when ids contradict one another.
template <int Corners>
NumberedPieces<Corners> number_pieces(Communicator& communicator, OwnPieces&& own);

/// All processes together: this process's part of the mesh. Pieces stay where they are when each process has about as
/// much as the others; else, or with a number of blocks, the mesh is cut anew, into so many blocks for each process (0:
/// as many as pay). Throws InputError on all processes when pieces contradict one another.
template <int Corners>
PartData<Corners> part_of_pieces(Communicator& communicator, const NumberedPieces<Corners>& own, std::uint32_t blocks);

/// All processes together: the part of `ready_parts`. Throws InputError on all processes unless they fit together.
template <int Corners>
PartData<Corners> take_ready_part(Communicator& communicator, OwnPieces&& own);

}  // namespace isochron
