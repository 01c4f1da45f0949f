#include "isochron/diffusion.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "isochron/error.h"
#include "isochron/image.h"
#include "isochron/metric/bad_cells.h"

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
  std::vector<std::uint8_t> mask;
  apply_own_mask(image, mask);
  try {
    check_symmetric(image.data.all().front(), mask, "the tensor");
  } catch (const InputError& error) {
    throw InputError(error.detail(), what);
  }
  leave_out_masked(image, tensors);
  return tensors;
}

// Of eigenvalues MD (1 + 2 a), MD (1 − a) and MD (1 − a) the fractional anisotropy F is √3 a / √(1 + 2 a²).
SymTensor3d axial_tensor(double anisotropy, double diffusivity, const Vec3d& direction) {
  const double length = norm(direction);
  if (!(length > 0 && diffusivity > 0 && std::isfinite(length + diffusivity + anisotropy))) return {};
  const double f = std::clamp(anisotropy, 0.0, 1.0), a = f / std::sqrt(3 - 2 * f * f);
  const Vec3d v = direction / length;
  return SymTensor3d::identity(diffusivity * (1 - a)) + SymTensor3d::outer(v, 3 * a * diffusivity);
}

std::vector<SymTensor3d> axial_tensors(const Image& directions, const Image& anisotropy, const Image& diffusivity,
                                       TensorFrame frame, const std::array<std::string, 3>& names) {
  if (directions.data.empty() || directions.data.all().front().components != 3)
    throw InputError(
        fmt::format("there are no principal directions in it (volumes: {}, a direction has 3); give an image of them",
                    directions.data.empty() ? 0 : directions.data.all().front().components),
        names[0]);
  const DataArray& v = directions.data.all().front();
  const DataArray &fa = values_on(directions.grid, anisotropy, names[1]),
                  &md = values_on(directions.grid, diffusivity, names[2]);
  const FrameAxes axes = frame_axes(directions.grid, frame);
  std::vector<SymTensor3d> tensors(directions.grid.voxel_count());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    tensors[i] = axial_tensor(fa.at(i), md.at(i), rotate_to_world(Vec3d{v.at(i, 0), v.at(i, 1), v.at(i, 2)}, axes));
  return tensors;
}

}  // namespace isochron
