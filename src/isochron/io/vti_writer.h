// Writes VTK image files.
#pragma once

#include <span>

#include "isochron/dist/index_box.h"
#include "isochron/io/piece_index.h"
#include "isochron/io/text_sink.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// Writes all arrays as point data, with the direction matrix. Tensors of known order are put into VTK's and marked as
/// such. Throws RuntimeError.
void write_vti(const OutputFile& file, const Image& image);

/// Writes the voxels of `box`, a part of an image with the grid `whole`; `piece` has their values, and its grid is not
/// looked at. Pieces of one image share a layer of voxels, see `shared_box`. Throws RuntimeError.
void write_vti_piece(const OutputFile& file, const Image& piece, const ImageGrid& whole, const IndexBox& box);

/// The box of voxels with those behind its far sides, so that cells between boxes are in one of them.
IndexBox shared_box(const IndexBox& box, const ImageGrid& whole);

/// The index of a set whose pieces have the arrays of `piece` and these boxes, already shared; without their files.
PieceIndex image_index(const Image& piece, const ImageGrid& whole, std::span<const IndexBox> boxes);

}  // namespace isochron
