#include "apps/viewer/server/image_scene.h"

#include <fmt/format.h>

#include "apps/viewer/server/surface_scene.h"
#include "apps/viewer/server/tensor_scene.h"
#include "isochron/core/error.h"
#include "isochron/io/file.h"
#include "isochron/io/image_io.h"
#include "isochron/mesh/image_mask.h"
#include "isochron/metric/tensor_image.h"

namespace isochron::viewer {
namespace {

std::string base_of(const std::filesystem::path& path) { return FileName(path).base.filename().string(); }

/// NumPy arrays and VTK's images do not say what their lengths are in; those of the other formats are in mm.
std::string units_of(const std::filesystem::path& path) {
  const std::string extension = FileName(path).extension;
  return extension == ".npy" || extension == ".vti" ? "" : "mm";
}

std::unique_ptr<Scene> open_tensors(Image image, const std::filesystem::path& path, const OpenOptions& options) {
  const std::string name = path.string();
  TensorImage tensors{image.grid, {}, {}, image.warnings, base_of(path), units_of(path)};
  if (!options.mask.empty())
    tensors.mask = mask_of(read_image(options.mask), image.grid, options.mask.string(), options.mask_array);
  tensors.tensors = image_tensors(std::move(image), options.tensor_order, options.tensor_frame, name);
  try {
    return make_tensor_scene(std::move(tensors), options.threads);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", name, error.what()));
  }
}

std::unique_ptr<Scene> open_volume(Image image, const std::filesystem::path& path, const OpenOptions& options) {
  const DataArray& array = image.data.all().front();
  VolumeImage volume{image.grid, std::vector<float>(array.tuple_count()), image.warnings, base_of(path),
                     units_of(path)};
  for (std::size_t v = 0; v < volume.values.size(); ++v) volume.values[v] = static_cast<float>(array.at(v));
  image.data = {};
  return make_surface_scene(std::move(volume), options.threads);
}

}  // namespace

std::unique_ptr<Scene> open_image_scene(const std::filesystem::path& path, const OpenOptions& options) {
  const std::string name = path.string();
  Image image = read_image(path);
  check_grid(image.grid, name);
  if (holds_tensors(image)) return open_tensors(std::move(image), path, options);
  const int components = image.data.empty() ? 0 : image.data.all().front().components;
  if (components == 1) return open_volume(std::move(image), path, options);
  throw InputError(
      fmt::format("{}: has {} values a voxel (the viewer shows 1, or the 6, 7 or 9 of a tensor); {}", name, components,
                  components > 9 ? "fit tensors to diffusion images first with 'isochron tensors'" : "give another"));
}

}  // namespace isochron::viewer
