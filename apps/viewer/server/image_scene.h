// Images in the viewer: those of tensors and those of values.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/viewer/server/data_set.h"
#include "apps/viewer/server/scene.h"

namespace isochron::viewer {

/// Reads an image file: diffusion tensors when a voxel has 6, 7 or 9 values, a volume when it has one. Throws
/// InputError that begins with the path.
std::unique_ptr<Scene> open_image_scene(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace isochron::viewer
