// Images of which each of several processes makes its own box.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isochron/mesh/block_cut.h"
#include "isochron/mesh/image_share.h"

namespace isochron {

/// A part's share of an image, without arrays. Throws UsageError unless the part is one of the parts.
inline ImageShare share_of(const ImageGrid& whole, const PartChoice& choice) {
  check_choice(choice);
  ImageShare share;
  share.whole = whole;
  share.boxes = share_boxes(whole, choice.parts);
  share.image.grid = grid_of_box(whole, share.boxes[choice.part]);
  return share;
}

/// Calls `body(v, i, j, k)` for the part's voxels in their order: the number in its box, and the indices in the whole
/// image. Values that are made from the latter are the same whatever the parts.
template <class Body>
void for_own_voxels(const ImageShare& share, const PartChoice& choice, Body&& body) {
  std::size_t v = 0;
  for_each_index(share.boxes[choice.part], [&](const LatticeIndex& at) {
    body(v++, static_cast<std::uint32_t>(at[0]), static_cast<std::uint32_t>(at[1]), static_cast<std::uint32_t>(at[2]));
  });
}

}  // namespace isochron
