// An image that is partitioned over ranks by boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/comm/communicator.h"
#include "isochron/dist/block_partition.h"
#include "isochron/mesh/image.h"

namespace isochron {

/// One rank's box of an image.
struct ImagePart {
  ImageGrid whole;
  std::vector<IndexBox> boxes;  ///< of all ranks; they cover the image once, and those of the last may be empty
  Image image;                  ///< this rank's box as an image of its own
};

/// Boxes of about the same size. An image that is not flat has none with one slice, which would be taken for flat.
std::vector<IndexBox> partition_boxes(const ImageGrid& whole, std::size_t ranks);

/// All voxels, and the voxels of a box as an image of their own.
IndexBox whole_box(const ImageGrid& grid);
ImageGrid grid_of_box(const ImageGrid& whole, const IndexBox& box);

/// Copies the tuples of a region, which lies in both boxes.
template <class From, class To>
void copy_region(const From* from, const IndexBox& from_box, To* to, const IndexBox& to_box, const IndexBox& region,
                 std::size_t components = 1) {
  for_each_row(region, [&](const LatticeIndex& first, std::uint64_t length) {
    std::copy_n(from + from_box.offset(first) * components, length * components,
                to + to_box.offset(first) * components);
  });
}

/// Values on a box of an image.
struct BoxData {
  IndexBox box;
  DataArrays data;
};

/// All ranks together: what rank `root` knows of an image, without the values of its arrays.
Image broadcast_header(Communicator& communicator, std::size_t root, const Image& own);

struct MovedBoxes {
  DataArrays data;
  std::uint64_t missing = 0;  ///< voxels of the wanted box that were in no box; their values are 0
};
/// All ranks together: the values on the box that each of them wants. All boxes have the arrays of `kinds`, in that
/// order. Where boxes overlap, the last one of the last rank counts.
MovedBoxes move_boxes(Communicator& communicator, std::vector<BoxData> own, std::span<const IndexBox> wanted,
                      const DataArrays& kinds);

/// All ranks together: sends each rank its box of the image of rank 0; the others give none.
ImagePart scatter_image(Communicator& communicator, Image&& whole);

/// One part of an image, without arrays. Throws UsageError unless the part is one of the parts.
ImagePart empty_image_part(const ImageGrid& whole, const PartChoice& choice);

/// Calls `body(v, i, j, k)` for the part's voxels in their order: the number in its box, and the indices in the whole
/// image. Values that are made from the latter are the same whatever the parts.
template <class Body>
void for_own_voxels(const ImagePart& part, const PartChoice& choice, Body&& body) {
  std::size_t v = 0;
  for_each_index(part.boxes[choice.part], [&](const LatticeIndex& at) {
    body(v++, static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]), static_cast<std::uint32_t>(at[2]));
  });
}

}  // namespace isochron
