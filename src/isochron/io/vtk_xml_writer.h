// Writes VTU and VTP files: raw appended data with 64-bit block headers, straight from the data set.
#pragma once

#include <span>

#include "isochron/io/piece_index.h"
#include "isochron/io/text_sink.h"
#include "isochron/mesh/dataset.h"

namespace isochron {

/// Writes every block and array without holding a second copy in memory. Points and ids take the smallest type that
/// keeps them exactly. Cell arrays that some kinds of cells do not have are filled up with NaN (0 for whole numbers).
/// Infinities and NaN are kept. Throws RuntimeError.
void write_vtu(std::span<const OutputFile> files, const Dataset& dataset);
/// The same for triangles and lines.
void write_vtp(std::span<const OutputFile> files, const Dataset& dataset);

/// Writes a piece of a mesh. Points are always double, because VTK wants one type in all pieces.
void write_vtk_piece(const OutputFile& file, const Dataset& dataset, PieceKind kind);
/// The index of a set whose pieces have the arrays of this one; without the pieces.
PieceIndex mesh_index(const Dataset& dataset, PieceKind kind);

}  // namespace isochron
