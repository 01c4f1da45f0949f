// Diffusion tensors as image files hold them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "isochron/mesh/image.h"
#include "isochron/mesh/tensor_frame.h"
#include "isochron/mesh/tensor_order.h"

namespace isochron {

/// Whether an image's first array has as many components as a symmetric tensor: 6, 7 with a confidence, or 9.
bool holds_tensors(const Image& image);

/// Zero, as background is, where the image has a mask of its own (NRRD's masked tensors).
void leave_out_masked(const Image& image, std::vector<SymTensor3d>& tensors);

/// The tensors of an image's first array, turned into the world; zero where the image's own mask is. `order` is that of
/// six components, else what the file says. Throws InputError when there are no tensors or their order is not known;
/// `what` names the image.
std::vector<SymTensor3d> image_tensors(Image image, std::optional<TensorOrder> order, TensorFrame frame,
                                       const std::string& what);

}  // namespace isochron
