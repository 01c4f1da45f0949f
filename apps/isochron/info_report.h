// How `isochron info` shows what it found.
#pragma once

#include <variant>

#include "apps/isochron/console.h"
#include "apps/isochron/info.h"
#include "apps/isochron/info_image.h"
#include "isochron/io/image_io.h"

namespace isochron::cli {

/// As text for people or as one JSON object, as asked for.
void print_infos(const std::vector<std::variant<FileInfo, ImageInfo>>& infos, const Console& console);
void print_formats(const std::vector<Format>& meshes, const std::vector<ImageFormat>& images, const Console& console);

}  // namespace isochron::cli
