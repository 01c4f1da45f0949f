#include "isochron/diffusion.h"

#include <cstdint>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/image.h"

namespace isochron {
namespace {

void check_tensors(const Image& image, const std::string& what) {
  if (image.data.empty()) throw InputError("there are no values in it; give a tensor image", what);
  if (holds_tensors(image)) return;
  const int n = image.data.all().front().components;
  throw InputError(
      fmt::format("this is no tensor image (volumes: {}, a symmetric tensor has 6, or 7 with a confidence, or 9); ",
                  n) +
          (n == 1 ? Message("give the fitted tensors") : Message(Task::fit_tensors)),
      what);
}

TensorOrder order_of(const Image& image, std::optional<TensorOrder> wanted, const std::string& what) {
  if (image.data.all().front().components != 6) return TensorOrder::row;  // nine are the whole matrix
  if (wanted) return *wanted;
  if (image.tensor_order) return *image.tensor_order;
  throw InputError("the order of the six tensor components is not known (the header does not say); give " +
                       Setting{Option::tensor_order, "fsl"} +
                       " (xx,xy,xz,yy,yz,zz along FSL's axes), row (along world axes), mrtrix (xx,yy,zz,xy,xz,yz), vtk "
                       "(xx,yy,zz,xy,yz,xz) or lower (xx,xy,yy,xz,yz,zz)",
                   what);
}

}  // namespace

bool holds_tensors(const Image& image) {
  if (image.data.empty()) return false;
  const int n = image.data.all().front().components;
  return n == 6 || n == 7 || n == 9;
}

void leave_out_masked(const Image& image, std::vector<SymTensor3d>& tensors) {
  std::vector<std::uint8_t> mask;
  apply_own_mask(image, mask);
  for (std::size_t v = 0; v < mask.size(); ++v)
    if (mask[v] == 0) tensors[v] = {};
}

std::vector<SymTensor3d> image_tensors(Image image, std::optional<TensorOrder> order, TensorFrame frame,
                                       const std::string& what) {
  check_tensors(image, what);
  split_confidence(image, 0);
  const TensorOrder used = order_of(image, order, what);
  std::vector<SymTensor3d> tensors = world_tensors(image.data.all().front(), used, image.grid, frame, what);
  leave_out_masked(image, tensors);
  return tensors;
}

}  // namespace isochron
