// Images in pieces, read and written by several processes at once: none of them has the whole image.
#pragma once

#include "isochron/communicator.h"
#include "isochron/io.h"
#include "isochron/io/pieces/piece_index.h"
#include "isochron/parts.h"

namespace isochron {

/// All processes together: each reads its share of the pieces of a .pvti set and gets its box of the image, by
/// `partition_boxes`. What is read is what `read_image` gives. Throws InputError on all of them.
ImagePart read_image_part(Communicator& communicator, const std::filesystem::path& path);

/// The index of a set whose pieces have the arrays of `piece` and these boxes, already shared; without their files.
PieceIndex image_index(const Image& piece, const ImageGrid& whole, std::span<const IndexBox> boxes);

/// Before any work: throws UsageError unless the name is that of a set of an image, and like `check_set_writable`.
void check_image_set(const std::filesystem::path& path, Overwrite overwrite);

/// All processes together: writes a .pvti set, a piece from each process that has voxels, as `write_set` does.
void write_image_part(Communicator& communicator, const std::filesystem::path& path, ImagePart part,
                      Overwrite overwrite);

}  // namespace isochron
