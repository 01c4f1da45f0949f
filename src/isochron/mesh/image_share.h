// An image that is shared out over several processes by boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "isochron/mesh/exchange.h"
#include "isochron/mesh/image.h"
#include "isochron/mesh/index_box.h"

namespace isochron {

/// One process's box of an image.
struct ImageShare {
  ImageGrid whole;
  std::vector<IndexBox> boxes;  ///< of all processes; they cover the image once, and those of the last may be empty
  Image image;                  ///< this process's box as an image of its own
};

/// Boxes of about the same size. An image that is not flat has none with one slice, which would be taken for flat.
std::vector<IndexBox> share_boxes(const ImageGrid& whole, std::size_t processes);

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

/// All processes together: what process `teller` knows of an image, without the values of its arrays.
Image told_image(Exchange& exchange, std::size_t teller, const Image& own);

struct MovedBoxes {
  DataArrays data;
  std::uint64_t missing = 0;  ///< voxels of the wanted box that were in no box; their values are 0
};
/// All processes together: the values on the box that each of them wants. All boxes have the arrays of `kinds`, in that
/// order. Where boxes overlap, the last one of the last process counts.
MovedBoxes move_boxes(Exchange& exchange, std::vector<BoxData> own, std::span<const IndexBox> wanted,
                      const DataArrays& kinds);

/// All processes together: shares out the image of the first one; the others give none.
ImageShare share_image(Exchange& exchange, Image&& whole);

}  // namespace isochron
