#include "isochron/image.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "isochron/core/join_text.h"
#include "isochron/error.h"

namespace isochron {
namespace {

bool inside(double value) { return std::isfinite(value) && value != 0; }

}  // namespace

const DataArray& values_on(const ImageGrid& grid, const Image& image, const std::string& what,
                           const std::string& name) {
  if (image.grid.shape != grid.shape)
    throw InputError(
        fmt::format("{} has other voxels than the image it goes with (another shape: {}, not {}); resample it to "
                    "these voxels",
                    what, join_text(image.grid.shape, " x "), join_text(grid.shape, " x ")));
  if (!same_voxels(image.grid, grid))
    throw InputError(
        fmt::format("{} has other voxels than the image it goes with (the same shape, but another affine); resample it "
                    "to these voxels, or set its affine right",
                    what));
  if (image.data.empty()) throw InputError(fmt::format("{} has no values; give another image", what));
  const DataArray* array = name.empty() ? &image.data.all().front() : image.data.find(name);
  if (array == nullptr)
    throw InputError(fmt::format("{} has no array '{}'; it has: {}", what, name, join_text(image.data.names(), ", ")));
  if (array->components != 1)
    throw InputError(
        fmt::format("{} has {} values a voxel (one is needed); give a single volume", what, array->components));
  return *array;
}

const DataArray& mask_array(const ImageGrid& grid, const Image& image, const std::string& what,
                            const std::string& name) {
  if (name.empty() && image.data.all().size() > 1)
    throw InputError(fmt::format("{} has several arrays ({}), and a mask is one; name it with ", what,
                                 join_text(image.data.names(), ", ")) +
                     Setting{Option::mask_array} + ", or give an image with one");
  return values_on(grid, image, what, name);
}

std::vector<std::uint8_t> mask_values(const DataArray& array) {
  std::vector<std::uint8_t> mask(array.tuple_count());
  for (std::size_t v = 0; v < mask.size(); ++v) mask[v] = inside(array.at(v)) ? 1 : 0;
  return mask;
}

std::vector<std::uint8_t> mask_of(const Image& image, const ImageGrid& grid, const std::string& what,
                                  const std::string& name) {
  std::vector<std::uint8_t> mask = mask_values(mask_array(grid, image, what, name));
  if (std::find(mask.begin(), mask.end(), 1) == mask.end())
    throw InputError(fmt::format("{} is empty (0 in every voxel); give a mask with voxels in it", what));
  return mask;
}

DataArray split_confidence(DataArray& array) {
  const auto components = static_cast<std::size_t>(array.components);
  const std::size_t tuples = array.tuple_count();
  std::vector<std::uint8_t> mask(tuples);
  std::visit(
      [&](auto& values) {
        for (std::size_t t = 0; t < tuples; ++t) {
          const auto* tuple = values.data() + t * components;
          mask[t] = static_cast<double>(tuple[0]) >= min_confidence ? 1 : 0;
          std::copy(tuple + 1, tuple + components, values.data() + t * (components - 1));
        }
        values.resize(tuples * (components - 1));
      },
      array.values);
  --array.components;
  return {"mask", 1, std::move(mask)};
}

void split_confidence(Image& image, std::size_t index) {
  DataArray& array = image.data.all()[index];
  if (array.components != 7) return;
  if (index == 0) image.tensor_order = TensorOrder::row;
  DataArray mask = split_confidence(array);
  if (array.name == mask.name) array.name = "tensor";
  image.data.set(std::move(mask));
}

const DataArray* own_mask(const Image& image) {
  const DataArray* mask = image.data.find("mask");
  return mask != nullptr && mask->components == 1 && mask->tuple_count() == image.grid.voxel_count() ? mask : nullptr;
}

void apply_own_mask(const Image& image, std::vector<std::uint8_t>& mask) {
  const DataArray* own = own_mask(image);
  if (own == nullptr) return;
  if (mask.empty()) mask.assign(image.grid.voxel_count(), 1);
  for (std::size_t v = 0; v < mask.size(); ++v)
    if (!inside(own->at(v))) mask[v] = 0;
}

}  // namespace isochron
